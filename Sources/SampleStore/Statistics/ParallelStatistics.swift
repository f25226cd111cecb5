import Dispatch
import Glibc
import HealthModel
import Synchronization

/// Computes the statistics of a long window in parallel parts. Each thread has its own connection, and all see the same state of the store.
///
/// Parts end at interval borders, so each interval is computed by one thread. The result is the same except for the rounding of sums of
/// samples that extend over borders, because these are added in another order.
struct ParallelStatistics {
    /// The limits for parallel work.
    struct Limits {
        /// The minimum number of rows of a series in the window. Fewer rows are read faster than a connection is opened.
        var rows = 50_000
        /// The maximum number of connections, not more than the number of processors.
        var connections = min(4, ParallelStatistics.processors)
    }

    private let gatherings: [StatisticsGathering]
    private let parts: [StatisticsWindow]
    private let snapshots: [Snapshot]

    /// The number of parts for each connection, because data is not evenly distributed over time.
    private static let partsEach = 4

    /// Prepares the parallel work. Returns `nil` if it is not worth it or another connection would not see the same state.
    init?(_ gathering: StatisticsGathering, _ window: StatisticsWindow) throws(StoreError) {
        let store = gathering.store
        let limits = store.parallelStatistics
        guard limits.connections > 1, gathering.query.type.kind == .quantity, !store.connection.isWritable,
            !store.connection.isRestricted, let parts = try Self.parts(of: window, gathering, limits),
            let last = try? store.lastChange()
        else { return nil }
        var gatherings = [gathering]
        var snapshots: [Snapshot] = []
        while gatherings.count < min(limits.connections, parts.count) {
            // If another connection cannot be opened, the first one does all the work.
            guard let other = try? SampleStore(path: store.path, access: .read), !store.connection.hasMoved,
                let snapshot = try? Snapshot(other.connection), (try? other.lastChange()) == last,
                let next = try? StatisticsGathering(
                    store: other, query: gathering.query, plan: gathering.plan, series: gathering.series)
            else { break }
            snapshots.append(snapshot)
            gatherings.append(next)
        }
        guard gatherings.count > 1 else { return nil }
        (self.gatherings, self.parts, self.snapshots) = (gatherings, parts, snapshots)
    }

    /// Returns the accumulated samples of all parts.
    ///
    /// - Parameter read: Incremented by the number of rows that were read.
    func cells(read: inout Int) throws(StoreError) -> [StatisticsKey: Accumulator] {
        struct State {
            var next = 0
            var cells: [StatisticsKey: Accumulator] = [:]
            var read = 0
            var failure: StoreError?
        }
        let state = Mutex(State())
        // Each is used by one thread.
        nonisolated(unsafe) let gatherings = gatherings
        let parts = parts
        DispatchQueue.concurrentPerform(iterations: gatherings.count) { index in
            while true {
                let part = state.withLock { state -> Int? in
                    guard state.next < parts.count, state.failure == nil else { return nil }
                    defer { state.next += 1 }
                    return state.next
                }
                guard let part else { return }
                do throws(StoreError) {
                    var read = 0
                    let cells = try gatherings[index].cells(inPart: parts[part], read: &read)
                    state.withLock { state in
                        state.read += read
                        // Each interval lies in one part.
                        state.cells.merge(cells) { one, _ in one }
                    }
                } catch {
                    state.withLock { $0.failure = error }
                }
            }
        }
        for snapshot in snapshots { snapshot.end() }
        let (cells, count, failure) = state.withLock { ($0.cells, $0.read, $0.failure) }
        if let failure { throw failure }
        read += count
        return cells
    }

    /// Splits the window at interval borders. Returns `nil` if it has few rows or one interval.
    private static func parts(
        of window: StatisticsWindow, _ gathering: StatisticsGathering, _ limits: Limits
    ) throws(StoreError) -> [StatisticsWindow]? {
        var extent: (low: Int64, high: Int64)?
        for series in gathering.series.joined() {
            func start(skipping count: Int = 0, isLast: Bool = false) throws(StoreError) -> Int64? {
                try gathering.store.table.start(
                    of: series.id, from: window.from, through: window.to.shifted(by: -1), skipping: count,
                    isLast: isLast)
            }
            guard try start(skipping: limits.rows - 1) != nil, let low = try start(), let high = try start(isLast: true)
            else { continue }
            extent = (min(low, extent?.low ?? low), max(high, extent?.high ?? high))
        }
        guard let extent, extent.low > .min / 2, extent.high < .max / 2 else { return nil }
        let intervals = gathering.plan.grid.intervals
        let count = Int64(limits.connections * partsEach)
        var borders = [window.from]
        for number in 1..<count {
            let position = extent.low + (extent.high - extent.low) / count * number
            let border = intervals.start(of: intervals.index(of: Instant(microseconds: position))).microseconds
            if border > borders[borders.count - 1], border < window.to { borders.append(border) }
        }
        guard borders.count > 1 else { return nil }
        return zip(borders, borders.dropFirst() + [window.to]).map { StatisticsWindow(from: $0, to: $1) }
    }

    /// The number of the machine's processors.
    private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
