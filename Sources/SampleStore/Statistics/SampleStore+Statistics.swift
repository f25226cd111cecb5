import HealthModel

extension SampleStore {
    /// Statistics of each interval that has samples, in order.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` for a type whose samples are no amounts, and for options that it does not have.
    public func statistics(_ query: StatisticsQuery) throws(StoreError) -> [Statistics] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        return try statistics(query, of: try series(matching: query.samples))
    }

    /// Of some of the series that a query asks for.
    func statistics(_ query: StatisticsQuery, of all: [SeriesDescription]) throws(StoreError) -> [Statistics] {
        try query.check()
        let plan = StatisticsPlan(query)
        let gathering = try StatisticsGathering(store: self, query: query, plan: plan, series: try ranked(all, query))
        return try gathering.rows(within: StatisticsWindow(query))
    }

    /// The series, each person's by themselves and the best first.
    func ranked(_ all: [SeriesDescription], _ query: StatisticsQuery) throws(StoreError) -> [[SeriesDescription]] {
        var ranked: [[SeriesDescription]] = []
        for subject in Set(all.map(\.subject)).sorted() {
            let own = all.filter { $0.subject == subject }
            let isMerged = own.count > 1 && !query.bySource && !query.countsEvery
            ranked.append(isMerged ? try sorted(own, by: query.priority) : own)
        }
        return ranked
    }
}

/// Gathers one query's statistics, window by window.
struct StatisticsGathering {
    let store: SampleStore
    let query: StatisticsQuery
    let plan: StatisticsPlan
    /// Each person's, the best first.
    let series: [[SeriesDescription]]
    /// What is asked of their samples, by the series' number.
    private let conditions: [Int64: StatisticsCondition]

    init(
        store: SampleStore, query: StatisticsQuery, plan: StatisticsPlan, series: [[SeriesDescription]]
    ) throws(StoreError) {
        (self.store, self.query, self.plan, self.series) = (store, query, plan, series)
        var conditions: [Int64: StatisticsCondition] = [:]
        let decoder = SampleDecoder(connection: store.connection)
        for part in try store.plan(of: query.samples).parts { conditions[part.series.id] = StatisticsCondition(part, decoder) }
        self.conditions = conditions
    }

    /// What the samples within a window come to, by cell.
    ///
    /// - Parameter read: counts the rows that were read.
    func cells(within window: StatisticsWindow, read: inout Int) throws(StoreError) -> [StatisticsKey: Accumulator] {
        if let parts = try SideBySide(self, window) { return try parts.cells(read: &read) }
        return try cells(inPart: window, read: &read)
    }

    /// The same, by this connection alone.
    func cells(inPart window: StatisticsWindow, read: inout Int) throws(StoreError) -> [StatisticsKey: Accumulator] {
        var gathered: [StatisticsKey: Accumulator] = [:]
        let zones = query.usesSampleZones ? ContextZones(store.connection, otherwise: query.intervals.zone) : nil
        for own in series {
            read +=
                query.type.kind == .category
                ? try category(own, window, zones, &gathered) : try quantity(own, window, zones, &gathered)
        }
        return gathered
    }

    private func quantity(
        _ own: [SeriesDescription], _ window: StatisticsWindow, _ zones: ContextZones?,
        _ gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) -> Int {
        let isMerged = own.count > 1 && !query.bySource && !query.countsEvery
        let shared = isMerged ? Coverage(query.without) : nil
        let reach = isMerged && !plan.isCumulative ? own.lazy.map(\.longest).max() ?? 0 : 0
        var read = 0
        for (index, series) in own.enumerated() {
            let neighbours = SeriesGatherer.Neighbours(
                better: isMerged ? own[..<index].map(\.id) : [],
                coverage: shared ?? (query.without.isEmpty ? nil : Coverage(query.without)),
                covers: isMerged && index + 1 < own.count)
            var gatherer = SeriesGatherer(store.connection, plan, window, reach: reach, zones: zones)
            read += try gatherer.gather(series, neighbours, where: conditions[series.id], into: &gathered)
        }
        return read
    }

    private func category(
        _ own: [SeriesDescription], _ window: StatisticsWindow, _ zones: ContextZones?,
        _ gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) -> Int {
        let gatherer = CategoryGatherer(
            connection: store.connection, plan: plan, window: window, zones: zones, conditions: conditions)
        var groups: [[SeriesDescription]] = [own]
        if query.bySource {
            groups = Set(own.map(\.source)).sorted().map { source in own.filter { $0.source == source } }
        } else if query.countsEvery {
            groups = own.map { [$0] }
        }
        var read = 0
        for group in groups {
            read += try gatherer.gather(group, source: query.bySource ? group.first?.source : nil, into: &gathered)
        }
        return read
    }

    /// The intervals of a window that have samples, in order.
    func rows(within window: StatisticsWindow) throws(StoreError) -> [Statistics] {
        var read = 0
        return try cells(within: window, read: &read).sorted { $0.key.precedes($1.key) }
            .map { key, accumulator in row(key, accumulator) }
    }

    /// - Parameter accumulator: `nil` where nothing counts.
    func row(_ key: StatisticsKey, _ accumulator: Accumulator?) -> Statistics {
        let (start, end) = (query.intervals.start(of: key.cell.index), query.intervals.start(of: key.cell.index + 1))
        var row =
            accumulator?.statistics(plan, start: start, end: end, subject: key.subject, source: key.source)
            ?? Statistics(start: start, end: end, subject: key.subject, source: key.source)
        row.value = key.value
        return row
    }
}

extension StatisticsKey {
    /// By time, then by whose and where from, then by case.
    func precedes(_ other: StatisticsKey) -> Bool {
        if (cell.index, subject, source ?? "") != (other.cell.index, other.subject, other.source ?? "") {
            return (cell.index, subject, source ?? "") < (other.cell.index, other.subject, other.source ?? "")
        }
        return (value ?? 0, cell.piece) < (other.value ?? 0, other.cell.piece)
    }
}
