import HealthModel

/// A cursor over the samples of a query. By default they are ordered by start, then by arrival.
///
/// In the default order the rows of the series, which are already sorted, are merged without being held in memory. For another order SQLite
/// sorts the keys, in a temporary file if they do not fit into its memory.
public final class SampleCursor {
    /// The plan for the query.
    public let plan: QueryPlan
    private let snapshot: Snapshot
    private let decoder: SampleDecoder
    private let query: SampleQuery
    private lazy var derived = DerivedCorrelations(connection: connection, all: all)
    private lazy var correlated = CorrelatedSamples(
        connection: connection, series: all.filter { $0.type.kind == .correlation })
    /// All series of the store.
    private let all: [SeriesDescription]
    private let connection: Connection
    /// A heap. The walk whose row is next is at the front.
    private var heads: [SeriesWalk] = []
    private var sorter: SampleSorter?
    private var isSorted = false
    private var given = 0
    /// The number of rows that may be read before a pause, and whether the last search paused.
    private var (budget, isPaused) = (Int.max, false)
    /// The number of rows read for each part of the plan.
    public private(set) var scanned: [Int]

    /// - Parameter series: The series to read, or `nil` for all.
    init(store: SampleStore, query: SampleQuery, of series: Set<Int64>? = nil) throws(StoreError) {
        self.query = query
        connection = store.connection
        decoder = SampleDecoder(connection: connection)
        snapshot = try Snapshot(connection)
        all = try store.allSeries()
        var plan = try store.samples.plan(of: query, among: all)
        if let series { plan.parts.removeAll { !series.contains($0.series.id) } }
        self.plan = plan
        scanned = Array(repeating: 0, count: plan.parts.count)
        for (index, part) in plan.parts.enumerated() {
            let walk = try SeriesWalk(connection, decoder, part, index: index, descending: query.descending)
            if try walk.advance() { heads.append(walk) }
        }
        for index in stride(from: heads.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    deinit { close() }

    /// Ends the snapshot.
    public func close() {
        heads.removeAll()
        sorter = nil
        snapshot.end()
    }

    /// Returns the next sample, or `nil` after the last one.
    public func next() throws(StoreError) -> StoredSample? { try nextWithSeries()?.stored }

    /// The result of a bounded search for the next sample.
    public enum Step {
        /// A sample was found.
        case sample(StoredSample)
        /// None of the rows read so far matches. The next search continues after them.
        case pause
        /// There are no more samples.
        case end
    }

    /// Returns the next sample if it is found within a number of rows. A selective query can thus be interleaved with other work.
    ///
    /// - Parameter rows: The maximum number of rows to read. On return it is the number that is left.
    public func next(within rows: inout Int) throws(StoreError) -> Step {
        budget = rows
        isPaused = false
        defer {
            rows = budget
            budget = .max
        }
        if let stored = try next() { return .sample(stored) }
        return isPaused ? .pause : .end
    }

    /// Returns the next sample and the id of its series. For a derived correlation this is the series of its systolic pressure.
    func nextWithSeries() throws(StoreError) -> (series: Int64, stored: StoredSample)? {
        if let limit = query.limit, given >= limit { return nil }
        guard let found = try query.isStreamed ? nextByStart() : nextSorted() else { return nil }
        given += 1
        return (plan.parts[found.part].series.id, found.stored)
    }

    /// A sample, the part of the plan that found it, and the key of the row it was made from.
    private struct Found {
        var part: Int
        var key: SampleKey
        var stored: StoredSample
    }

    // MARK: By start

    private func nextByStart() throws(StoreError) -> Found? {
        isPaused = false
        while let head = heads.first, let row = head.row {
            guard budget > 0 else {
                isPaused = true
                return nil
            }
            budget -= 1
            let (index, series, isPlain) = (head.index, head.series, head.isPlain)
            scanned[index] += 1
            if try !head.advance() {
                heads[0] = heads[heads.count - 1]
                heads.removeLast()
            }
            sink(0)
            guard let stored = isPlain ? row : try sample(row, of: plan.parts[index]) else { continue }
            let key = SampleKey(series: series, start: row.sample.start.microseconds, of: row.uuid)
            return Found(part: index, key: key, stored: stored)
        }
        return nil
    }

    /// Returns the sample of a row, or the correlation derived from its frame. Returns `nil` if it does not match the condition.
    private func sample(_ row: StoredSample, of part: QueryPlan.Part) throws(StoreError) -> StoredSample? {
        guard let stored = part.isDerived ? try derived.correlation(of: row, series: part.series.id) : row else { return nil }
        guard let rest = part.rest else { return stored }
        var failure: StoreError?
        let matches = rest.matches(stored.sample) { sample in
            do throws(StoreError) {
                return try self.isCorrelated(sample, in: part)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return matches ? stored : nil
    }

    private func isCorrelated(_ sample: Sample, in part: QueryPlan.Part) throws(StoreError) -> Bool {
        guard !part.isDerived else { return false }
        if try derived.contain(sample, series: part.series.id) { return true }
        return try correlated.contain(SampleKey(series: part.series.id, start: sample.start.microseconds, of: sample.identity))
    }

    private func precedes(_ one: SeriesWalk, _ other: SeriesWalk) -> Bool {
        if one.start != other.start { return (one.start < other.start) != query.descending }
        return one.index < other.index
    }

    private func sink(_ index: Int) {
        var index = index
        while true {
            let left = 2 * index + 1
            guard left < heads.count else { return }
            var first = left
            if left + 1 < heads.count, precedes(heads[left + 1], heads[left]) { first = left + 1 }
            guard precedes(heads[first], heads[index]) else { return }
            heads.swapAt(first, index)
            index = first
        }
    }

    // MARK: Sorted

    private func nextSorted() throws(StoreError) -> Found? {
        guard let sorter = try sorted(), let (part, key) = try sorter.next() else { return nil }
        guard let stored = try connection.samples.stored(at: key, decoder) else {
            throw StoreError(.corrupt, "a sample is gone while it is read")
        }
        let made = plan.parts[part].isDerived ? try derived.correlation(of: stored, series: key.series) : stored
        guard let made else { throw StoreError(.corrupt, "a frame is gone while it is read") }
        return Found(part: part, key: key, stored: made)
    }

    /// Returns the sorted samples, or `nil` if the search must pause first.
    private func sorted() throws(StoreError) -> SampleSorter? {
        if sorter == nil { sorter = try SampleSorter(query.order, limit: query.limit) }
        guard !isSorted, let sorter else { return self.sorter }
        while let found = try nextByStart() { try sorter.add(found.stored.sample, part: found.part, at: found.key) }
        guard !isPaused else { return nil }
        try sorter.sort()
        isSorted = true
        return sorter
    }
}
