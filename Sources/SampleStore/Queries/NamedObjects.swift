import HealthModel

/// Finds the current samples that a correlation or a workout refers to. A sample has another UUID if a repair replaced it or if it is a
/// duplicate of another one. References lead only where ``ReferenceRule`` permits.
struct NamedObjects {
    let connection: Connection

    /// Returns the key of the current sample for a UUID in an object, or `nil` if it was deleted or never stored, or if it is not the
    /// object's.
    func key(of uuid: SampleIdentity, by rule: ReferenceRule) throws(StoreError) -> SampleKey? {
        guard let key = try key(of: uuid), try connection.series.permits(key, by: rule) else { return nil }
        return key
    }

    /// Returns the key of the current sample for a UUID, or `nil` if it was deleted or never stored.
    func key(of uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for key in try connection.samples.keys(of: uuid) {
            if let standing = try standing(from: key) { return standing }
        }
        return try first(duplicateOf: uuid)
    }

    /// Returns the keys of the current samples that a sample refers to, in order and without repetition.
    func keys(namedBy sample: Sample) throws(StoreError) -> [SampleKey] {
        let rule = ReferenceRule(in: sample)
        var found: [SampleKey] = []
        for uuid in OwnedObjects.named(by: sample) {
            if let key = try key(of: uuid, by: rule), !found.contains(key) { found.append(key) }
        }
        return found
    }

    private func standing(from key: SampleKey) throws(StoreError) -> SampleKey? {
        let last = try connection.repairs.last(from: key)
        return try connection.samples.contains(last, among: .live) ? last : nil
    }

    /// Returns the original of the witness with this UUID.
    private func first(duplicateOf uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for first in try connection.duplicates.originals(ofDuplicates: uuid) {
            if let standing = try standing(from: first) { return standing }
        }
        return nil
    }
}

extension SampleStore.Samples {
    /// Returns the current sample for a UUID that a correlation or a workout contains: the sample itself, its repaired form, or the
    /// original it duplicates. Returns `nil` if there is none, or if ``ReferenceRule`` does not permit the reference.
    public func object(named uuid: SampleIdentity, in holder: Sample) throws(StoreError) -> StoredSample? {
        let rule = ReferenceRule(in: holder)
        guard let key = try NamedObjects(connection: connection).key(of: uuid, by: rule) else { return nil }
        return try table.stored(at: key)
    }

    /// Returns the current sample for a UUID that a user or a client names: the sample itself, its repaired form, or the original it
    /// duplicates. Returns `nil` if there is none. For a UUID in an object, use ``object(named:in:)``.
    public func currentSample(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        guard let key = try NamedObjects(connection: connection).key(of: uuid) else { return nil }
        return try table.stored(at: key)
    }
}
