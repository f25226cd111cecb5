import HealthModel

/// How a store answers a query: which series it reads, where in them, and what it asks of each sample there.
public struct QueryPlan: Sendable {
    /// What is read of one series.
    public struct Part: Sendable {
        /// The series.
        public var series: SeriesDescription
        /// Which starts are read.
        public var starts: TimeStretches
        /// What is asked of each sample there; `nil` where all of them are meant.
        public var rest: SamplePredicate?
        /// Whether the correlations are meant that the series' frames make, in place of its samples.
        public var isDerived = false

        /// Whether nothing bounds it: all of the series is read.
        public var isWhole: Bool { starts == .all }
    }

    /// The condition, with what only a store knows put in: a workout's stretch of time, a correlation's samples.
    public var predicate: SamplePredicate
    /// In the order of the series.
    public var parts: [Part]
    /// Series that are left alone, since none of their samples can meet the condition.
    public var untouched: Int
    /// Whether samples come as they are read; otherwise all of them are sorted before the first comes.
    public var isStreamed: Bool
}

extension SampleStore {
    /// How a query is answered; nothing is read yet but the list of series, and where the UUIDs are that are asked for.
    public func plan(of query: SampleQuery) throws(StoreError) -> QueryPlan { try plan(of: query, among: allSeries()) }

    func plan(of query: SampleQuery, among all: [SeriesDescription]) throws(StoreError) -> QueryPlan {
        let predicate = try resolved(query.predicate)
        var plan = QueryPlan(predicate: predicate, parts: [], untouched: 0, isStreamed: query.isStreamed)
        var places: [SampleIdentity: [SampleKey]] = [:]
        for series in all {
            var isTouched = false
            func add(_ type: SampleType, isDerived: Bool) throws(StoreError) {
                let facts = SamplePredicate.SeriesFacts(
                    type: type, subject: series.subject, source: series.source, device: series.device, longest: series.longest)
                let found = try predicate.plan(for: facts) { (uuids: Set<SampleIdentity>) throws(StoreError) -> TimeStretches in
                    isDerived ? .all : try starts(of: uuids, in: series.id, &places)
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

    /// The series that a query touches, in the order of their ids.
    public func series(matching query: SampleQuery) throws(StoreError) -> [SeriesDescription] {
        var found: [SeriesDescription] = []
        for part in try plan(of: query).parts where found.last?.id != part.series.id { found.append(part.series) }
        return found
    }

    /// More UUIDs are not looked up one by one.
    private static let mostLookups = 1000

    /// Where samples of these UUIDs start in a series.
    private func starts(
        of uuids: Set<SampleIdentity>, in series: Int64, _ places: inout [SampleIdentity: [SampleKey]]
    ) throws(StoreError) -> TimeStretches {
        guard uuids.count <= Self.mostLookups else { return .all }
        var starts: [ClosedRange<Int64>] = []
        for uuid in uuids {
            let known: [SampleKey]
            if let kept = places[uuid] {
                known = kept
            } else {
                known = try Replacements.places(of: uuid, connection)
                places[uuid] = known
            }
            starts += known.filter { $0.series == series }.map { $0.start...$0.start }
        }
        return TimeStretches(starts)
    }

    /// All series, in the order of their ids.
    func allSeries() throws(StoreError) -> [SeriesDescription] {
        let statement = try connection.statement(
            "SELECT id, subject, type, source, device, longest, kind FROM series ORDER BY id")
        defer { statement.reset() }
        var found: [SeriesDescription] = []
        while try statement.step() {
            let type = try Self.type(statement.text(2), kind: statement.integer(6))
            found.append(
                SeriesDescription(
                    id: statement.integer(0), subject: statement.text(1), type: type, source: statement.text(3),
                    device: statement.text(4), longest: statement.integer(5)))
        }
        return found
    }
}
