import HealthModel

/// The objects that a sample owns: the samples of a correlation and the routes of a workout.
///
/// HealthKit's `HKHealthStore.delete` deletes the given objects
/// (<https://developer.apple.com/documentation/healthkit/hkhealthstore/delete(_:withcompletion:)-17hzm>), and Apple
/// does not document that it deletes others with them. Apps that delete a workout found that its samples remain
/// (<https://github.com/kingstinct/react-native-healthkit/pull/146>). Nothing is documented for correlations. Here
/// owned objects are deleted only on request, and an object owns only what ``ReferenceRule`` permits.
struct OwnedObjects {
    let connection: Connection

    /// The UUIDs of the objects that a sample owns, in order. The list is empty if the body cannot be read.
    static func named(by sample: Sample) -> [SampleIdentity] {
        let kind = sample.origin.kind
        guard kind.bodyType?.referenceRole == .part else { return [] }
        let names = (try? sample.body?.object(of: kind))??.references ?? []
        return names.compactMap { SampleIdentity($0) }
    }

    /// The current places of the objects that a sample owns. A repair may have replaced an object.
    func keys(namedBy sample: Sample, among rows: SampleTable.Rows) throws(StoreError) -> [SampleKey] {
        let (table, replacements) = (connection.samples, connection.repairs)
        let rule = ReferenceRule(in: sample)
        var found: [SampleKey] = []
        for uuid in Self.named(by: sample) {
            for key in try connection.samples.keys(of: uuid) {
                let last = try replacements.last(from: key)
                guard !found.contains(last), try connection.series.permits(last, by: rule) else { continue }
                if try table.contains(last, among: rows) { found.append(last) }
            }
        }
        return found
    }

    /// The places of the objects that were deleted together with the sample, in their order of arrival.
    func placesDeleted(with key: SampleKey) throws(StoreError) -> [SampleKey] {
        let table = connection.samples
        guard let ingest = try table.tombstone(at: key)?.ingest, let sample = try table.sample(at: key, among: .tombstones)
        else { return [] }
        var found: [(number: Int64, key: SampleKey)] = []
        for other in try keys(namedBy: sample, among: .tombstones) {
            guard let deletion = try table.tombstone(at: other), deletion.ingest == ingest else { continue }
            found.append((deletion.number, other))
        }
        return found.sorted { $0.number < $1.number }.map(\.key)
    }
}

extension SampleStore.Samples {
    /// The number of live objects that the samples of a query own and that do not match the query themselves.
    public func countOfObjects(namedBy query: SampleQuery) throws(StoreError) -> Int {
        var types: Set<SampleType> = []
        for series in try series(matching: query) where series.type.kind.bodyType?.referenceRole == .part {
            types.insert(series.type)
        }
        guard !types.isEmpty else { return 0 }
        let owned = OwnedObjects(connection: connection)
        var theirs: Set<SampleKey> = []
        let cursor = try cursor(matching: SampleQuery(.and([.types(types), query.predicate])))
        defer { cursor.close() }
        while let stored = try cursor.next() { theirs.formUnion(try owned.keys(namedBy: stored.sample, among: .live)) }
        let (table, predicate) = (connection.samples, try resolved(query.predicate))
        var count = 0
        for key in theirs {
            guard let sample = try table.sample(at: key, among: .live), !predicate.matches(sample) else { continue }
            count += 1
        }
        return count
    }

    /// The number of objects that these samples own, without the samples themselves. Live objects are counted, or if
    /// `deleted` is true, those that were deleted together with the samples.
    public func countOfObjects(namedBy uuids: [SampleIdentity], deleted: Bool = false) throws(StoreError) -> Int {
        let owned = OwnedObjects(connection: connection)
        let table = connection.samples
        var (own, theirs): (Set<SampleKey>, Set<SampleKey>) = ([], [])
        for uuid in uuids {
            for key in try connection.samples.keys(of: uuid) {
                own.insert(key)
                if deleted {
                    theirs.formUnion(try owned.placesDeleted(with: key))
                } else if let sample = try table.sample(at: key, among: .live) {
                    theirs.formUnion(try owned.keys(namedBy: sample, among: .live))
                }
            }
        }
        return theirs.subtracting(own).count
    }
}
