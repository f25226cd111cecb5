import HealthModel

/// Walks over the samples of a query: by start, those of one start as they came, else as the query sorts them.
///
/// By start the series' rows, each in order already, are merged, and nothing is held. Sorted otherwise, their places are sorted by SQLite, in a
/// file of its own where they do not fit into its memory.
public final class SampleCursor {
    /// How the query is answered.
    public let plan: QueryPlan
    private let snapshot: Snapshot
    private let decoder: SampleDecoder
    private let query: SampleQuery
    private lazy var derived = DerivedCorrelations(connection: connection, all: all)
    private lazy var correlated = CorrelatedSamples(
        connection: connection, series: all.filter { $0.type.kind == .correlation })
    /// The store's series.
    private let all: [SeriesDescription]
    private let connection: Connection
    /// A heap: the walk whose row comes first is at the front.
    private var heads: [SeriesWalk] = []
    private var sorter: SampleSorter?
    private var isSorted = false
    private var given = 0
    /// Rows that may be looked at until a pause, and whether that is why none was found.
    private var (budget, isPaused) = (Int.max, false)
    /// Rows that were read, by the part of the plan.
    public private(set) var scanned: [Int]

    /// - Parameter series: reads only these; `nil` for all.
    init(store: SampleStore, query: SampleQuery, of series: Set<Int64>? = nil) throws(StoreError) {
        self.query = query
        connection = store.connection
        decoder = SampleDecoder(connection: connection)
        snapshot = try Snapshot(connection)
        all = try store.allSeries()
        var plan = try store.plan(of: query, among: all)
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

    /// The next sample, or `nil` behind the last.
    public func next() throws(StoreError) -> StoredSample? { try nextWithSeries()?.stored }

    /// What a look for the next sample came to.
    public enum Step {
        /// It is found.
        case sample(StoredSample)
        /// There are more rows, and none of those that were looked at is meant: the next look goes on behind them.
        case pause
        /// There are no more.
        case end
    }

    /// The next sample, where it is found among so many rows. Who looks for little in much can do something else in between.
    ///
    /// - Parameter rows: how many may be looked at; how many are left of them then.
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

    /// The next sample with its series' number; of a derived one that of its systolic pressure.
    func nextWithSeries() throws(StoreError) -> (series: Int64, stored: StoredSample)? {
        if let limit = query.limit, given >= limit { return nil }
        guard let found = try query.isStreamed ? nextByStart() : nextSorted() else { return nil }
        given += 1
        return (plan.parts[found.part].series.id, found.stored)
    }

    /// A sample, by which part of the plan it was found, and where the row stands that it was made of.
    private struct Found {
        var part: Int
        var place: SampleKey
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
            let place = SampleKey(series: series, start: row.sample.start.microseconds, of: row.uuid)
            return Found(part: index, place: place, stored: stored)
        }
        return nil
    }

    /// What a row is of a part of the plan: itself or what its frame makes; `nil` where that does not meet the condition.
    private func sample(_ row: StoredSample, of part: QueryPlan.Part) throws(StoreError) -> StoredSample? {
        guard let stored = part.isDerived ? try derived.correlation(of: row, series: part.series.id) : row else { return nil }
        guard let rest = part.rest else { return stored }
        var failure: StoreError?
        let isMet = rest.matches(stored.sample) { sample in
            do throws(StoreError) {
                return try self.isCorrelated(sample, in: part)
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return isMet ? stored : nil
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
        guard let sorter = try sorted(), let (part, place) = try sorter.next() else { return nil }
        let row = try connection.statement(
            "SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start = ? AND hash = ?")
        defer { row.reset() }
        try row.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try row.step() else { throw StoreError(.corrupt, "a sample is gone while it is read") }
        let stored = try decoder.decode(row, series: place.series)
        let made = plan.parts[part].isDerived ? try derived.correlation(of: stored, series: place.series) : stored
        guard let made else { throw StoreError(.corrupt, "a frame is gone while it is read") }
        return Found(part: part, place: place, stored: made)
    }

    /// All of them, sorted; `nil` where there is to be a pause first.
    private func sorted() throws(StoreError) -> SampleSorter? {
        if sorter == nil { sorter = try SampleSorter(query.order, limit: query.limit) }
        guard !isSorted, let sorter else { return self.sorter }
        while let found = try nextByStart() { try sorter.add(found.stored.sample, part: found.part, at: found.place) }
        guard !isPaused else { return nil }
        try sorter.sort()
        isSorted = true
        return sorter
    }
}
