import HealthModel

/// Finds the current samples that a correlation or a workout refers to. A sample has another UUID if a repair replaced it or if it is a
/// duplicate of another one. References lead only where ``ReferenceRule`` permits.
struct NamedObjects {
    let connection: Connection

    /// Returns the key of the current sample for a UUID in an object, or `nil` if it was deleted or never stored, or if it is not the
    /// object's.
    func place(of uuid: SampleIdentity, by rule: ReferenceRule) throws(StoreError) -> SampleKey? {
        guard let place = try place(of: uuid), try connection.series.permits(place, by: rule) else { return nil }
        return place
    }

    /// Returns the key of the current sample for a UUID, or `nil` if it was deleted or never stored.
    func place(of uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for place in try connection.samples.places(of: uuid) {
            if let standing = try standing(from: place) { return standing }
        }
        return try first(witnessedBy: uuid)
    }

    /// Returns the keys of the current samples that a sample refers to, in order and without repetition.
    func places(namedBy sample: Sample) throws(StoreError) -> [SampleKey] {
        let rule = ReferenceRule(in: sample)
        var found: [SampleKey] = []
        for uuid in OwnedObjects.named(by: sample) {
            if let place = try place(of: uuid, by: rule), !found.contains(place) { found.append(place) }
        }
        return found
    }

    private func standing(from place: SampleKey) throws(StoreError) -> SampleKey? {
        let last = try connection.repairs.last(from: place)
        return try connection.samples.contains(last, among: .live) ? last : nil
    }

    /// Returns the original of the witness with this UUID.
    private func first(witnessedBy uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for first in try connection.duplicates.firsts(ofDuplicates: uuid) {
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
        guard let place = try NamedObjects(connection: connection).place(of: uuid, by: rule) else { return nil }
        return try table.stored(at: place)
    }

    /// Returns the current sample for a UUID that a user or a client names: the sample itself, its repaired form, or the original it
    /// duplicates. Returns `nil` if there is none. For a UUID in an object, use ``object(named:in:)``.
    public func currentSample(_ uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        guard let place = try NamedObjects(connection: connection).place(of: uuid) else { return nil }
        return try table.stored(at: place)
    }
}
