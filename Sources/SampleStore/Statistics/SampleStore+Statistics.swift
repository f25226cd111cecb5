import HealthModel

extension SampleStore {
    /// Returns the statistics of each interval that has samples, in order.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the type or an option does not support statistics.
    public func statistics(_ query: StatisticsQuery) throws(StoreError) -> [Statistics] {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        return try statistics(query, of: try samples.series(matching: query.samples))
    }

    /// Returns the statistics of some of the query's series.
    func statistics(_ query: StatisticsQuery, of all: [SeriesDescription]) throws(StoreError) -> [Statistics] {
        try query.check()
        let plan = StatisticsPlan(query)
        let gathering = try StatisticsGathering(store: self, query: query, plan: plan, series: try ranked(all, query))
        return try gathering.rows(within: StatisticsWindow(query))
    }

    /// Groups the series by person, best first.
    func ranked(_ all: [SeriesDescription], _ query: StatisticsQuery) throws(StoreError) -> [[SeriesDescription]] {
        var ranked: [[SeriesDescription]] = []
        for person in Set(all.map(\.person)).sorted() {
            let own = all.filter { $0.person == person }
            let isMerged = own.count > 1 && !query.bySource && !query.countsEvery
            ranked.append(isMerged ? try sources.sorted(own, by: query.priority) : own)
        }
        return ranked
    }
}

/// Computes the statistics of a query, window by window.
struct StatisticsGathering {
    let store: SampleStore
    let query: StatisticsQuery
    let plan: StatisticsPlan
    /// The series of each person, best first.
    let series: [[SeriesDescription]]
    /// The conditions for the samples, by series id.
    private let conditions: [Int64: StatisticsCondition]

    init(
        store: SampleStore, query: StatisticsQuery, plan: StatisticsPlan, series: [[SeriesDescription]]
    ) throws(StoreError) {
        (self.store, self.query, self.plan, self.series) = (store, query, plan, series)
        var conditions: [Int64: StatisticsCondition] = [:]
        let decoder = SampleDecoder(connection: store.connection)
        for part in try store.samples.plan(of: query.samples).parts {
            conditions[part.series.id] = StatisticsCondition(part, decoder)
        }
        self.conditions = conditions
    }

    /// Returns the accumulated samples of a window, by cell.
    ///
    /// - Parameter read: Incremented by the number of rows that were read.
    func cells(within window: StatisticsWindow, read: inout Int) throws(StoreError) -> [StatisticsKey: Accumulator] {
        if let parts = try ParallelStatistics(self, window) { return try parts.cells(read: &read) }
        return try cells(inPart: window, read: &read)
    }

    /// Does the same with this connection alone.
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
        let margin = zones == nil ? 0 : StatisticsWindow.zones
        let reached = StatisticsWindow(from: window.from.shifted(by: -margin), to: window.to.shifted(by: margin))
        func totals(_ series: [SeriesDescription]) throws(StoreError) -> Totals? {
            guard plan.isCumulative, !query.countsEvery,
                series.contains(where: { $0.maximumTotalDuration >= Totals.minimum(of: query.type) })
            else { return nil }
            return try Totals(
                series, store.sources.positions(series, by: query.priority), reached, conditions, pauses: query.without,
                store.connection)
        }
        let merged = isMerged ? try totals(own) : nil
        let shared = isMerged ? Coverage(merged?.covered ?? query.without) : nil
        let reach = isMerged && !plan.isCumulative ? own.lazy.map(\.maximumDuration).max() ?? 0 : 0
        var read = 0
        for (index, series) in own.enumerated() {
            let totals = isMerged ? merged : try totals([series])
            let covered = totals?.covered ?? query.without
            let neighbours = SeriesGatherer.Neighbours(
                better: isMerged ? own[..<index].map(\.id) : [], coverage: shared ?? (covered.isEmpty ? nil : Coverage(covered)),
                covers: isMerged && index + 1 < own.count)
            var gatherer = SeriesGatherer(store.connection, plan, window, reach: reach, zones: zones, totals: totals)
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

    /// Returns the statistics of a window's intervals that have samples, in order.
    func rows(within window: StatisticsWindow) throws(StoreError) -> [Statistics] {
        var read = 0
        return try cells(within: window, read: &read).sorted { $0.key.precedes($1.key) }
            .map { key, accumulator in row(key, accumulator) }
    }

    /// - Parameter accumulator: The accumulated samples, or `nil` if none count.
    func row(_ key: StatisticsKey, _ accumulator: Accumulator?) -> Statistics {
        let (start, end) = (query.intervals.start(of: key.cell.index), query.intervals.start(of: key.cell.index + 1))
        var row =
            accumulator?.statistics(plan, start: start, end: end, person: key.person, source: key.source)
            ?? Statistics(start: start, end: end, person: key.person, source: key.source)
        row.value = key.value
        return row
    }
}

extension StatisticsKey {
    /// Orders by time, then by person, source, and category value.
    func precedes(_ other: StatisticsKey) -> Bool {
        if (cell.index, person, source ?? "") != (other.cell.index, other.person, other.source ?? "") {
            return (cell.index, person, source ?? "") < (other.cell.index, other.person, other.source ?? "")
        }
        return (value ?? 0, cell.piece) < (other.value ?? 0, other.cell.piece)
    }
}
