import HealthModel

/// Statistics that follow what is written: asked again, only what changed is gathered again.
///
///     let days = try StatisticsCollection(query, in: store)
///     let bell = try StoreBell(store: store.path)
///     while true {
///         for day in try days.update().changed { print(day.start, day.average ?? 0) }
///         try bell.wait()
///     }
///
/// It holds a row for each interval that has samples, and for a discrete type a sum for each of its hours, so that one new sample among 86,400 of a
/// day costs an hour's reading. Used by one thread at a time, as the store is.
public final class StatisticsCollection {
    /// What became other.
    public struct Update: Sendable {
        /// The rows that are new or other than before, in order; those in which nothing counts any more have a count of zero.
        public var changed: [Statistics]
        /// How many rows of the store were read for it.
        public var read: Int
    }

    /// The most intervals, or hours of them, that are held.
    public static let most = 200_000

    /// What is gathered.
    public let query: StatisticsQuery
    private let store: SampleStore
    private let plan: StatisticsPlan
    private var series: [[SeriesDescription]] = []
    private var rows: [StatisticsKey: Statistics] = [:]
    /// The pieces of each row, where it has such.
    private var pieces: [StatisticsKey: [Int: Accumulator]] = [:]
    private var held = 0
    /// How long samples of a series last at most, by its number; as far as that is known, no shorter than they do.
    var lengths: [Int64: Int64] = [:]
    /// Up to where changes are known; `nil` before the first time.
    private var anchor: Anchor?

    var grid: StatisticsGrid { plan.grid }
    var connection: Connection { store.connection }

    private static let piece: Int64 = 3_600_000_000

    /// Nothing is gathered before the first ``update()``.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` for a type whose samples are no amounts, and for options that it does not have.
    public init(_ query: StatisticsQuery, in store: SampleStore) throws(StoreError) {
        try query.check()
        guard !query.predicate.asksForOthers else {
            throw StoreError(
                .invalid,
                "what belongs to a workout or a correlation is no condition on statistics that are followed: it may come later")
        }
        (self.query, self.store) = (query, store)
        // A cumulative sample counts once in an interval, whichever pieces it lasts over; and values for percentiles take room.
        let isWhole =
            query.type.kind == .category || query.type.aggregation == .cumulative || query.options.contains(.percentiles)
        plan = StatisticsPlan(query, piece: isWhole ? nil : Self.piece)
    }

    /// All intervals that have samples, by time.
    public var statistics: [Statistics] { sorted(rows).map(\.value) }

    /// Those of the interval that an instant lies in, one for each person (and source, where they are kept apart) that has samples there.
    public func statistics(at instant: Instant) -> [Statistics] {
        let index = query.intervals.index(of: instant)
        return sorted(rows.filter { $0.key.cell.index == index }).map(\.value)
    }

    private func sorted(_ rows: [StatisticsKey: Statistics]) -> [(key: StatisticsKey, value: Statistics)] {
        rows.sorted { $0.key.precedes($1.key) }
    }

    /// Gathers what changed since the last time; everything the first time, after the store was put back from a backup, and where other
    /// sources count than before.
    ///
    /// - Throws: ``StoreError``; of the kind `invalid` where there are more intervals than ``most``.
    public func update() throws -> Update {
        let snapshot = try Snapshot(store.connection)
        defer { snapshot.end() }
        let all = try store.series(matching: query.samples)
        var ranked = try store.ranked(all, query)
        let seq = try store.lastChange()
        var epochs = Epochs(store.connection)
        let new = seq == 0 ? nil : try epochs.anchor(behind: seq)
        var windows: [StatisticsWindow]?
        if let anchor, hasOrder(of: ranked) {
            // An anchor of the same number may be of another epoch.
            if anchor == new { return Update(changed: [], read: 0) }
            if try store.knows(anchor) { windows = try touched(since: anchor.seq, all) }
        }
        if windows == nil { lengths = [:] }
        for index in ranked.indices {
            for place in ranked[index].indices { ranked[index][place].longest = try length(of: ranked[index][place]) }
        }
        let gathering = try StatisticsGathering(store: store, query: query, plan: plan, series: ranked)
        let whole = StatisticsWindow(query)
        series = ranked
        var (read, touched) = (0, Set<StatisticsKey>())
        for window in windows ?? [whole] {
            let window = whole.clipped(window.from, window.to)
            guard window.from < window.to else { continue }
            touched.formUnion(forget(window))
            for (key, accumulator) in try gathering.cells(within: window, read: &read) {
                var row = key
                row.cell.piece = 0
                if pieces[row, default: [:]].updateValue(accumulator, forKey: key.cell.piece) == nil { held += 1 }
                touched.insert(row)
            }
            try bound()
        }
        let changed = fold(touched, gathering)
        anchor = new
        return Update(changed: changed, read: read)
    }

    /// The longest duration of a series' samples, which is looked for once.
    func length(of series: SeriesDescription) throws(StoreError) -> Int64 {
        if let known = lengths[series.id] { return known }
        let length = try store.longest(of: series)
        lengths[series.id] = length
        return length
    }

    private func bound() throws(StoreError) {
        guard held > Self.most || rows.count > Self.most else { return }
        rows = [:]
        pieces = [:]
        (held, anchor) = (0, nil)
        throw StoreError(.invalid, "more than \(Self.most) intervals have samples: ask for longer ones, or for less time")
    }

    /// Makes rows of pieces again.
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
            if sum == nil || plan.grid.piece == nil { held -= pieces.removeValue(forKey: key)?.count ?? 0 }
            if before != rows[key] { changed[key] = row }
        }
        return sorted(changed).map(\.value)
    }

    /// Whether the series that were there before still stand in the order in which they did.
    private func hasOrder(of ranked: [[SeriesDescription]]) -> Bool {
        let known = Set(series.joined().map(\.id))
        let (now, then) = (ranked.joined().map(\.id).filter(known.contains), series.joined().map(\.id))
        return now == then
    }

    /// Forgets the pieces of a window, which begins and ends at their borders or at the query's.
    ///
    /// - Returns: the rows that they are of.
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
            held -= own.count - left.count
            pieces[key] = left
        }
        return touched
    }
}
