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

    /// The samples that another one names, as they are now: repaired since, maybe.
    private func identities(ofObjectsOf sample: Sample) throws(StoreError) -> Set<SampleIdentity> {
        let table = SampleTable(connection: connection)
        var found: Set<SampleIdentity> = []
        for place in try OwnedObjects(connection: connection).places(namedBy: sample, among: .live) {
            if let object = try table.sample(at: place, among: .live) { found.insert(object.identity) }
        }
        return found
    }
}

/// Which samples belong to stored correlations of some types. Read at the first question, and held: 32 bytes a sample.
final class CorrelatedSamples {
    private let connection: Connection
    private let series: [SeriesDescription]
    private var members: Set<SampleKey>?

    /// - Parameter series: the correlations' own.
    init(connection: Connection, series: [SeriesDescription]) {
        self.connection = connection
        self.series = series
    }

    /// Whether a sample is named by one that is there.
    func contain(_ place: SampleKey) throws(StoreError) -> Bool {
        if let members { return members.contains(place) }
        let read = try self.read()
        members = read
        return read.contains(place)
    }

    private func read() throws(StoreError) -> Set<SampleKey> {
        let (owned, decoder) = (OwnedObjects(connection: connection), SampleDecoder(connection: connection))
        var found: Set<SampleKey> = []
        for series in series {
            let rows = try Statement(connection, "SELECT \(SampleDecoder.columns) FROM sample WHERE series = ?")
            try rows.bind([.integer(series.id)])
            while try rows.step() {
                let correlation = try decoder.decode(rows, series: series.id).sample
                let named = try owned.places(namedBy: correlation, among: .live)
                found.formUnion(named)
                // What another path told first stands under another UUID.
                if named.count < OwnedObjects.named(by: correlation).count { found.formUnion(try firsts(namedBy: correlation)) }
            }
        }
        return found
    }

    /// The samples of which those that are named are witnesses.
    private func firsts(namedBy correlation: Sample) throws(StoreError) -> [SampleKey] {
        let statement = try connection.statement(
            """
            SELECT of_series, of_start, of_hash FROM series CROSS JOIN witness ON witness.series = series.id
                AND (witness.start BETWEEN ?1 AND ?2 OR witness.start IN
                    (SELECT start FROM place WHERE place.series = series.id AND nominal BETWEEN ?1 AND ?2 AND place.hash = ?3))
                AND witness.hash = ?3 AND NOT stands_in AND withdrawn IS NULL
            """)
        defer { statement.reset() }
        var found: [SampleKey] = []
        for uuid in OwnedObjects.named(by: correlation) {
            let low = Int64(uuid.milliseconds) * 1000
            statement.reset()
            try statement.bind([.integer(low), .integer(low + 999), .blob(uuid.storedHash)])
            while try statement.step() {
                try found.append(
                    SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
            }
        }
        return found
    }
}
