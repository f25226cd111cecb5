import HealthModel

/// The plan for a query: which series are read, which part of them, and which condition is checked for each sample.
public struct QueryPlan: Sendable {
    /// The part of a plan for one series.
    public struct Part: Sendable {
        /// The series.
        public var series: SeriesDescription
        /// The ranges of starts that are read.
        public var starts: TimeIntervalSet
        /// The condition that is checked for each sample, or `nil` if all samples match.
        public var rest: SamplePredicate?
        /// Whether this part returns correlations derived from the series' frames instead of its samples.
        public var isDerived = false

        /// Whether all of the series is read.
        public var isWhole: Bool { starts == .all }
    }

    /// The condition after lookups in the store, such as a workout's time range and a correlation's samples.
    public var predicate: SamplePredicate
    /// The parts in the order of the series.
    public var parts: [Part]
    /// The number of series that are not read because none of their samples can match.
    public var untouched: Int
    /// Whether samples are returned as they are read. If not, all of them are sorted first.
    public var isStreamed: Bool
}

extension SampleStore.Samples {
    /// Returns the plan for a query. It only reads the list of series and looks up the UUIDs in the query.
    public func plan(of query: SampleQuery) throws(StoreError) -> QueryPlan { try plan(of: query, among: store.allSeries()) }

    func plan(of query: SampleQuery, among all: [SeriesDescription]) throws(StoreError) -> QueryPlan {
        let predicate = try resolved(query.predicate)
        var plan = QueryPlan(predicate: predicate, parts: [], untouched: 0, isStreamed: query.isStreamed)
        var keys: [SampleIdentity: [SampleKey]] = [:]
        for series in all {
            var isTouched = false
            func add(_ type: SampleType, isDerived: Bool) throws(StoreError) {
                let facts = SamplePredicate.SeriesFacts(
                    type: type, person: series.person, source: series.source, device: series.device,
                    maximumDuration: series.maximumDuration)
                let found = try predicate.plan(for: facts) { (uuids: Set<SampleIdentity>) throws(StoreError) -> TimeIntervalSet in
                    isDerived ? .all : try starts(of: uuids, in: series.id, &keys)
                }
                guard let found else { return }
                isTouched = true
                plan.parts.append(
                    QueryPlan.Part(series: series, starts: found.starts, rest: found.rest, isDerived: isDerived))
            }
            try add(series.type, isDerived: false)
            if query.derivesCorrelations, series.type == .bloodPressureSystolic {
                try add(DerivedCorrelations.type, isDerived: true)
            }
            if !isTouched { plan.untouched += 1 }
        }
        return plan
    }

    /// Returns the series that a query reads, in the order of their ids.
    public func series(matching query: SampleQuery) throws(StoreError) -> [SeriesDescription] {
        var found: [SeriesDescription] = []
        for part in try plan(of: query).parts where found.last?.id != part.series.id { found.append(part.series) }
        return found
    }

    /// The maximum number of UUIDs that are looked up individually.
    private static let maximumLookups = 1000

    /// Returns the starts of the samples with these UUIDs in a series.
    private func starts(
        of uuids: Set<SampleIdentity>, in series: Int64, _ keys: inout [SampleIdentity: [SampleKey]]
    ) throws(StoreError) -> TimeIntervalSet {
        guard uuids.count <= Self.maximumLookups else { return .all }
        var starts: [ClosedRange<Int64>] = []
        for uuid in uuids {
            let known: [SampleKey]
            if let cached = keys[uuid] {
                known = cached
            } else {
                known = try connection.samples.keys(of: uuid)
                keys[uuid] = known
            }
            starts += known.filter { $0.series == series }.map { $0.start...$0.start }
        }
        return TimeIntervalSet(starts)
    }
}
