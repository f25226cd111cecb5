import HealthModel

/// What samples name as theirs: a correlation its samples, a workout its routes.
///
/// HealthKit's `HKHealthStore.delete` deletes the objects that it is given
/// (<https://developer.apple.com/documentation/healthkit/hkhealthstore/delete(_:withcompletion:)-17hzm>), and no page of Apple's says that others go
/// with them; apps that delete a workout found that its samples stay (<https://github.com/kingstinct/react-native-healthkit/pull/146>). Of
/// correlations nothing is documented. Here what belongs to either goes only where somebody says so.
struct OwnedObjects {
    let connection: Connection

    /// The UUIDs that a sample names, in its order; none of a body that cannot be read.
    static func named(by sample: Sample) -> [SampleIdentity] {
        let names: [String]
        switch sample.origin.kind {
        case .correlation: names = (try? sample.body?.decoded(as: Correlation.self))?.objects ?? []
        case .workout: names = (try? sample.body?.decoded(as: Workout.self))?.routes ?? []
        default: names = []
        }
        return names.compactMap { SampleIdentity($0) }
    }

    /// Where what a sample names stands now: a repair may have made another sample of it.
    func places(namedBy sample: Sample, among rows: SampleTable.Rows) throws(StoreError) -> [SampleKey] {
        let (table, replacements) = (SampleTable(connection: connection), Replacements(connection: connection))
        var found: [SampleKey] = []
        for uuid in Self.named(by: sample) {
            for place in try Replacements.places(of: uuid, connection) {
                let last = try replacements.last(from: place)
                if !found.contains(last), try table.contains(last, among: rows) { found.append(last) }
            }
        }
        return found
    }

    /// What went with the sample here when it was deleted, in the order in which it came once.
    func placesDeleted(with place: SampleKey) throws(StoreError) -> [SampleKey] {
        guard let (ingest, _) = try deletion(of: place),
            let sample = try SampleTable(connection: connection).sample(at: place, among: .tombstones)
        else { return [] }
        var found: [(number: Int64, place: SampleKey)] = []
        for other in try places(namedBy: sample, among: .tombstones) {
            guard let deletion = try deletion(of: other), deletion.ingest == ingest else { continue }
            found.append((deletion.number, other))
        }
        return found.sorted { $0.number < $1.number }.map(\.place)
    }

    /// Which ingest deleted what is here, and the number that it had before.
    private func deletion(of place: SampleKey) throws(StoreError) -> (ingest: Int64, number: Int64)? {
        let statement = try connection.statement(
            "SELECT ingest, seq FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten")
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return nil }
        return (statement.integer(0), statement.integer(1))
    }
}

extension SampleStore {
    /// How many samples belong to those of a query and are there, without being of the query themselves.
    public func countOfObjects(namedBy query: SampleQuery) throws(StoreError) -> Int {
        var types: Set<SampleType> = []
        for series in try series(matching: query) where [.correlation, .workout].contains(series.type.kind) {
            types.insert(series.type)
        }
        guard !types.isEmpty else { return 0 }
        let owned = OwnedObjects(connection: connection)
        var theirs: Set<SampleKey> = []
        let cursor = try samples(matching: SampleQuery(.and([.types(types), query.predicate])))
        defer { cursor.close() }
        while let stored = try cursor.next() { theirs.formUnion(try owned.places(namedBy: stored.sample, among: .live)) }
        let (table, predicate) = (SampleTable(connection: connection), try resolved(query.predicate))
        var count = 0
        for place in theirs {
            guard let sample = try table.sample(at: place, among: .live), !predicate.matches(sample) else { continue }
            count += 1
        }
        return count
    }

    /// How many samples belong to these and are there, or, among the deleted, were deleted with them; those that are named themselves aside.
    public func countOfObjects(namedBy uuids: [SampleIdentity], deleted: Bool = false) throws(StoreError) -> Int {
        let owned = OwnedObjects(connection: connection)
        let table = SampleTable(connection: connection)
        var (own, theirs): (Set<SampleKey>, Set<SampleKey>) = ([], [])
        for uuid in uuids {
            for place in try Replacements.places(of: uuid, connection) {
                own.insert(place)
                if deleted {
                    theirs.formUnion(try owned.placesDeleted(with: place))
                } else if let sample = try table.sample(at: place, among: .live) {
                    theirs.formUnion(try owned.places(namedBy: sample, among: .live))
                }
            }
        }
        return theirs.subtracting(own).count
    }
}
