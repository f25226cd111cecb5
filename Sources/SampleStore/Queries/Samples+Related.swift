import HealthModel

/// Resolution of conditions that refer to a workout or a correlation.
extension SampleStore.Samples {
    /// Replaces references to one workout or correlation in a condition by conditions on its samples.
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

    /// Returns the condition for samples recorded during a workout: its routes, and quantities and categories of the same person and source
    /// that overlap it.
    private func samples(ofWorkout uuid: SampleIdentity) throws(StoreError) -> SamplePredicate {
        guard let workout = try sample(uuid)?.sample, workout.origin.kind == .workout else { return .or([]) }
        let kinds = [SampleKind.quantity, .category].map { kind -> SamplePredicate in .comparison(.kind, .equal, .text(kind.name))
        }
        // A sample that ended when the workout began is not part of it.
        let reaches: SamplePredicate = .or([
            .comparison(.start, .atLeast, .instant(workout.start)), .comparison(.end, .above, .instant(workout.start)),
        ])
        let during: SamplePredicate = .and([
            .or(kinds), .person(workout.origin.person), .comparison(.source(.id), .equal, .text(workout.origin.source.id)),
            .comparison(.start, .below, .instant(workout.end)), reaches,
        ])
        return .or([during, .uuids(try identities(ofObjectsOf: workout))])
    }

    private func samples(ofCorrelation uuid: SampleIdentity) throws(StoreError) -> SamplePredicate {
        if let derived = try derivedCorrelation(uuid) { return .uuids(Set(OwnedObjects.named(by: derived.sample))) }
        guard let correlation = try sample(uuid)?.sample, correlation.origin.kind == .correlation else { return .or([]) }
        return .uuids(try identities(ofObjectsOf: correlation))
    }

    /// Returns the UUIDs of the current samples that a sample refers to.
    private func identities(ofObjectsOf sample: Sample) throws(StoreError) -> Set<SampleIdentity> {
        let table = connection.samples
        var found: Set<SampleIdentity> = []
        for key in try NamedObjects(connection: connection).keys(namedBy: sample) {
            if let object = try table.sample(at: key, among: .live) { found.insert(object.identity) }
        }
        return found
    }
}

/// The samples that belong to stored correlations of some types. They are read at the first lookup and kept in memory, 32 bytes for each
/// sample.
final class CorrelatedSamples {
    private let connection: Connection
    private let series: [SeriesDescription]
    /// The source of each series by id, if samples of deleted correlations of the same source count as well.
    private let sources: [Int64: String]?
    private var members: Set<SampleKey>?

    /// - Parameters:
    ///   - series: The series of the correlations.
    ///   - sources: The sources of the samples' series. If set, samples count as well if a person deleted their correlation and both have
    ///     the same source.
    init(connection: Connection, series: [SeriesDescription], rememberingDeletedOf sources: [Int64: String]? = nil) {
        self.connection = connection
        self.series = series
        self.sources = sources
    }

    /// Whether a correlation refers to the sample.
    func contain(_ key: SampleKey) throws(StoreError) -> Bool {
        if let members { return members.contains(key) }
        let read = try self.read()
        members = read
        return read.contains(key)
    }

    private func read() throws(StoreError) -> Set<SampleKey> {
        var found: Set<SampleKey> = []
        for series in series {
            found.formUnion(try named(in: .live, of: series))
            guard let sources else { continue }
            let deleted = try named(in: .tombstones, of: series, .deleted(by: .delete))
            found.formUnion(deleted.filter { sources[$0.series] == series.source })
        }
        return found
    }

    private func named(
        in table: SampleTable.Rows, of series: SeriesDescription, _ filter: SampleFilter = .all
    ) throws(StoreError) -> [SampleKey] {
        let (objects, decoder) = (NamedObjects(connection: connection), SampleDecoder(connection: connection))
        let rows = try connection.samples.scan(
            .whole, of: series.id, among: table, filter, order: .unordered, isRetained: false)
        var found: [SampleKey] = []
        while try rows.next() { found += try objects.keys(namedBy: try rows.stored(decoder).sample) }
        return found
    }
}
