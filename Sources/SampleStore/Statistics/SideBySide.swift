import Dispatch
import Glibc
import HealthModel
import Synchronization

/// Gathers a long window in parts, several at the same time: each processor has a connection of its own, and all see the same.
///
/// The parts end where intervals do, so that each interval is summed up by one of them. The answer is the same but for the last bit of sums of
/// samples that last over borders: those are added in another order.
struct SideBySide {
    /// When it is worth it.
    struct Limits {
        /// Rows that a series has in the window at least. Fewer are read sooner than a connection is opened.
        var rows = 50_000
        /// At most; no more than the machine has processors.
        var connections = min(4, SideBySide.processors)
    }

    private let gatherings: [StatisticsGathering]
    private let parts: [StatisticsWindow]
    private let snapshots: [Snapshot]

    /// Parts for each connection: data are not spread evenly over time.
    private static let partsEach = 4

    /// Begins; `nil` where it is not worth it, or where a second connection would not see the same.
    init?(_ gathering: StatisticsGathering, _ window: StatisticsWindow) throws(StoreError) {
        let store = gathering.store
        let limits = store.sideBySide
        guard limits.connections > 1, gathering.query.type.kind == .quantity, !store.connection.isWritable,
            !store.connection.isRestricted, let parts = try Self.parts(of: window, gathering, limits),
            let last = try? store.lastChange()
        else { return nil }
        var gatherings = [gathering]
        var snapshots: [Snapshot] = []
        while gatherings.count < min(limits.connections, parts.count) {
            // Whatever is in the way of a second connection, the first one can do all.
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

    /// What the samples of all parts come to.
    ///
    /// - Parameter read: counts the rows that were read.
    func cells(read: inout Int) throws(StoreError) -> [StatisticsKey: Accumulator] {
        struct State {
            var next = 0
            var cells: [StatisticsKey: Accumulator] = [:]
            var read = 0
            var failure: StoreError?
        }
        let state = Mutex(State())
        // Each is one thread's.
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
                        // An interval is in one part.
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

    /// The window cut where intervals begin; `nil` where it has few rows, or one interval.
    private static func parts(
        of window: StatisticsWindow, _ gathering: StatisticsGathering, _ limits: Limits
    ) throws(StoreError) -> [StatisticsWindow]? {
        let connection = gathering.store.connection
        var extent: (low: Int64, high: Int64)?
        for series in gathering.series.joined() {
            let range: [Value] = [.integer(series.id), .integer(window.from), .integer(window.to)]
            func start(_ end: String) throws(StoreError) -> Int64? {
                let statement = try connection.statement(
                    "SELECT start FROM sample WHERE series = ?1 AND start >= \(connection.firstStart()) AND start < ?3 ORDER BY start \(end)"
                )
                defer { statement.reset() }
                try statement.bind(range)
                return try statement.step() ? statement.integer(0) : nil
            }
            guard try start("LIMIT 1 OFFSET \(limits.rows - 1)") != nil, let low = try start("LIMIT 1"),
                let high = try start("DESC LIMIT 1")
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

    /// Of the machine.
    private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
