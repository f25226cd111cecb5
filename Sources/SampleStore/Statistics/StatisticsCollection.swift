import HealthModel

/// Statistics that are updated incrementally. Each update recomputes only the parts that changed.
///
///     let days = try StatisticsCollection(query, in: store)
///     let bell = try StoreBell(store: store.path)
///     while true {
///         for day in try days.update().changed { print(day.start, day.average ?? 0) }
///         try bell.wait()
///     }
///
/// It holds a row for each interval that has samples, and for discrete types a sum for each hour. One new sample in a day of 86,400 thus
/// costs reading one hour. Used by one thread at a time, like the store.
public final class StatisticsCollection {
    /// The result of an update.
    public struct Update: Sendable {
        /// The rows that changed, in order. A row with no samples left has a count of zero.
        public var changed: [Statistics]
        /// The number of rows of the store that were read.
        public var read: Int
    }

    /// The maximum number of intervals, or hours of them, that are held.
    public static let maximum = 200_000

    /// The query.
    public let query: StatisticsQuery
    private let store: SampleStore
    private let plan: StatisticsPlan
    private var series: [[SeriesDescription]] = []
    /// The user's orders of sources at the last update.
    private var orders: [SourceOrder] = []
    private var rows: [StatisticsKey: Statistics] = [:]
    /// The accumulated pieces of each row.
    private var pieces: [StatisticsKey: [Int: Accumulator]] = [:]
    private var cachedRows = 0
    /// An upper bound for the duration of samples, by series id, once it is known.
    var lengths: [Int64: Int64] = [:]
    /// The last change that was processed, or `nil` before the first update.
    private var anchor: Anchor?

    var grid: StatisticsGrid { plan.grid }
    var connection: Connection { store.connection }

    private static let piece: Int64 = 3_600_000_000

    /// Creates a collection that is empty until the first ``update()``.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the type or an option does not support statistics.
    public init(_ query: StatisticsQuery, in store: SampleStore) throws(StoreError) {
        try query.check()
        guard !query.predicate.asksForOthers else {
            throw StoreError(
                .invalid,
                "statistics that follow changes cannot use conditions on a workout or correlation, because it may arrive later")
        }
        (self.query, self.store) = (query, store)
        // A cumulative sample counts once in an interval, however many pieces it spans. Distributions for percentiles need too much memory
        // for pieces.
        let isWhole =
            query.type.kind == .category || query.type.aggregation == .cumulative || query.options.contains(.percentiles)
        plan = StatisticsPlan(query, piece: isWhole ? nil : Self.piece)
    }

    /// The statistics of all intervals that have samples, by time.
    public var statistics: [Statistics] { sorted(rows).map(\.value) }

    /// Returns the statistics of the interval that contains an instant, for each person (and source, if sources are separate) with samples.
    public func statistics(at instant: Instant) -> [Statistics] {
        let index = query.intervals.index(of: instant)
        return sorted(rows.filter { $0.key.cell.index == index }).map(\.value)
    }

    private func sorted(_ rows: [StatisticsKey: Statistics]) -> [(key: StatisticsKey, value: Statistics)] {
        rows.sorted { $0.key.precedes($1.key) }
    }

    /// Processes the changes since the last update. It recomputes everything the first time, after the store was restored from a backup,
    /// and if the priority of sources changed.
    ///
    /// - Throws: ``StoreError``, of the kind `invalid` if there are more intervals than ``maximum``.
    public func update() throws -> Update {
        let snapshot = try Snapshot(store.connection)
        defer { snapshot.end() }
        let all = try store.samples.series(matching: query.samples)
        var ranked = try store.ranked(all, query)
        let seq = try store.lastChange()
        var epochs = Epochs(store.connection)
        let new = seq == 0 ? nil : try epochs.anchor(after: seq)
        var windows: [StatisticsWindow]?
        let orders = try store.sources.orders()
        if let anchor, orders == self.orders, hasOrder(of: ranked) {
            // An anchor with the same number may belong to another epoch.
            if anchor == new { return Update(changed: [], read: 0) }
            if try store.changes.knows(anchor) { windows = try touched(since: anchor.seq, all) }
        }
        if windows == nil { lengths = [:] }
        for index in ranked.indices {
            for place in ranked[index].indices { ranked[index][place].maximumDuration = try length(of: ranked[index][place]) }
        }
        let gathering = try StatisticsGathering(store: store, query: query, plan: plan, series: ranked)
        let whole = StatisticsWindow(query)
        series = ranked
        self.orders = orders
        var (read, touched) = (0, Set<StatisticsKey>())
        for window in windows ?? [whole] {
            let window = whole.clipped(window.from, window.to)
            guard window.from < window.to else { continue }
            touched.formUnion(forget(window))
            for (key, accumulator) in try gathering.cells(within: window, read: &read) {
                var row = key
                row.cell.piece = 0
                if pieces[row, default: [:]].updateValue(accumulator, forKey: key.cell.piece) == nil { cachedRows += 1 }
                touched.insert(row)
            }
            try bound()
        }
        let changed = fold(touched, gathering)
        anchor = new
        return Update(changed: changed, read: read)
    }

    /// Returns the longest duration of a series' samples, which is cached.
    func length(of series: SeriesDescription) throws(StoreError) -> Int64 {
        if let known = lengths[series.id] { return known }
        let length = try store.maximumDuration(of: series)
        lengths[series.id] = length
        return length
    }

    private func bound() throws(StoreError) {
        guard cachedRows > Self.maximum || rows.count > Self.maximum else { return }
        rows = [:]
        pieces = [:]
        (cachedRows, anchor) = (0, nil)
        throw StoreError(
            .invalid, "more than \(Self.maximum) intervals contain samples: use longer intervals or a shorter time range")
    }

    /// Rebuilds rows from their pieces.
    private func fold(_ touched: Set<StatisticsKey>, _ gathering: StatisticsGathering) -> [Statistics] {
        var changed: [StatisticsKey: Statistics] = [:]
        for key in touched {
            var sum: Accumulator?
            for (_, piece) in pieces[key, default: [:]].sorted(by: { $0.key < $1.key }) {
                if sum?.merge(piece) == nil { sum = piece }
            }
            let row = gathering.row(key, sum)
            let before = rows.removeValue(forKey: key)
            if sum != nil { rows[key] = row }
            if sum == nil || plan.grid.piece == nil { cachedRows -= pieces.removeValue(forKey: key)?.count ?? 0 }
            if before != rows[key] { changed[key] = row }
        }
        return sorted(changed).map(\.value)
    }

    /// Whether the known series have the same order as before.
    private func hasOrder(of ranked: [[SeriesDescription]]) -> Bool {
        let known = Set(series.joined().map(\.id))
        let (now, then) = (ranked.joined().map(\.id).filter(known.contains), series.joined().map(\.id))
        return now == then
    }

    /// Removes the pieces of a window, whose borders are those of pieces or of the query.
    ///
    /// - Returns: The rows that the pieces belong to.
    private func forget(_ window: StatisticsWindow) -> Set<StatisticsKey> {
        var touched: Set<StatisticsKey> = []
        let first = window.from == .min ? nil : plan.grid.cell(at: window.from).cell
        let last = window.to == .max ? nil : plan.grid.cell(at: window.to - 1).cell
        let indices = (first?.index ?? .min)...(last?.index ?? .max)
        for key in rows.keys where indices.contains(key.cell.index) {
            touched.insert(key)
            guard let own = pieces[key] else { continue }
            let low = key.cell.index == first?.index ? first?.piece ?? 0 : 0
            let high = key.cell.index == last?.index ? last?.piece ?? .max : .max
            let left = own.filter { $0.key < low || $0.key > high }
            cachedRows -= own.count - left.count
            pieces[key] = left
        }
        return touched
    }
}
