import HealthModel

/// What only a store knows of a condition: which samples a workout or a correlation has.
extension SampleStore {
    /// The condition with what is asked of one workout or correlation put in other words.
    func resolved(_ predicate: SamplePredicate) throws(StoreError) -> SamplePredicate {
        switch predicate {
        case .not(let inner): return .not(try resolved(inner))
        case .and(let parts): return .and(try resolved(parts))
        case .or(let parts): return .or(try resolved(parts))
        case .comparison(.fromWorkout, let comparison, .text(let text)):
            guard let uuid = SampleIdentity(text) else { return predicate }
            let related = try samples(ofWorkout: uuid)
            return comparison == .notEqual ? .not(related) : related
        case .comparison(.inCorrelation, let comparison, .text(let text)):
            guard let uuid = SampleIdentity(text) else { return predicate }
            let related = try samples(ofCorrelation: uuid)
            return comparison == .notEqual ? .not(related) : related
        default: return predicate
        }
    }

    private func resolved(_ parts: [SamplePredicate]) throws(StoreError) -> [SamplePredicate] {
        var found: [SamplePredicate] = []
        for part in parts { found.append(try resolved(part)) }
        return found
    }

    /// What was recorded during a workout: the quantities and categories of the same person and source that are under way between its start
    /// and its end, and its routes.
    private func samples(ofWorkout uuid: SampleIdentity) throws(StoreError) -> SamplePredicate {
        guard let workout = try sample(uuid)?.sample, workout.origin.kind == .workout else { return .or([]) }
        let kinds = [SampleKind.quantity, .category].map { kind -> SamplePredicate in .comparison(.kind, .equal, .text(kind.name))
        }
        // What ended as the workout began is none of it.
        let reaches: SamplePredicate = .or([
            .comparison(.start, .atLeast, .instant(workout.start)), .comparison(.end, .above, .instant(workout.start)),
        ])
        let during: SamplePredicate = .and([
            .or(kinds), .subject(workout.origin.subject), .comparison(.source(.id), .equal, .text(workout.origin.source.id)),
            .comparison(.start, .below, .instant(workout.end)), reaches,
        ])
        return .or([during, .uuids(try identities(ofObjectsOf: workout))])
    }

    private func samples(ofCorrelation uuid: SampleIdentity) throws(StoreError) -> SamplePredicate {
        if let derived = try derivedCorrelation(uuid) { return .uuids(Set(OwnedObjects.named(by: derived.sample))) }
        guard let correlation = try sample(uuid)?.sample, correlation.origin.kind == .correlation else { return .or([]) }
        return .uuids(try identities(ofObjectsOf: correlation))
    }

    /// The samples that another one names, as they stand today.
    private func identities(ofObjectsOf sample: Sample) throws(StoreError) -> Set<SampleIdentity> {
        let table = SampleTable(connection: connection)
        var found: Set<SampleIdentity> = []
        for place in try NamedObjects(connection: connection).places(namedBy: sample) {
            if let object = try table.sample(at: place, among: .live) { found.insert(object.identity) }
        }
        return found
    }
}

/// Which samples belong to stored correlations of some types. Read at the first question, and held: 32 bytes a sample.
final class CorrelatedSamples {
    private let connection: Connection
    private let series: [SeriesDescription]
    /// Whose the samples are, by their series' number, where those count as well that a deleted correlation of their own source names.
    private let sources: [Int64: String]?
    private var members: Set<SampleKey>?

    /// - Parameters:
    ///   - series: the correlations' own.
    ///   - sources: counts also what a correlation named that a person deleted, where both are of one source, which told it whole.
    init(connection: Connection, series: [SeriesDescription], rememberingDeletedOf sources: [Int64: String]? = nil) {
        self.connection = connection
        self.series = series
        self.sources = sources
    }

    /// Whether a sample is named by one of them.
    func contain(_ place: SampleKey) throws(StoreError) -> Bool {
        if let members { return members.contains(place) }
        let read = try self.read()
        members = read
        return read.contains(place)
    }

    private func read() throws(StoreError) -> Set<SampleKey> {
        var found: Set<SampleKey> = []
        for series in series {
            found.formUnion(try named(in: "sample", of: series))
            guard let sources else { continue }
            let deleted = try named(
                in: "deleted", of: series,
                where: """
                    AND NOT forgotten AND replaced_by IS NULL
                        AND (SELECT kind FROM main.ingest WHERE id = deleted.ingest) = \(IngestKind.delete.literal)
                    """)
            found.formUnion(deleted.filter { sources[$0.series] == series.source })
        }
        return found
    }

    private func named(in table: String, of series: SeriesDescription, where condition: String = "") throws(StoreError)
        -> [SampleKey]
    {
        let (objects, decoder) = (NamedObjects(connection: connection), SampleDecoder(connection: connection))
        let rows = try Statement(connection, "SELECT \(SampleDecoder.columns) FROM \(table) WHERE series = ? \(condition)")
        try rows.bind([.integer(series.id)])
        var found: [SampleKey] = []
        while try rows.step() { found += try objects.places(namedBy: try decoder.decode(rows, series: series.id).sample) }
        return found
    }
}
