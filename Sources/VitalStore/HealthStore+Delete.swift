import HealthModel
import SampleStore

extension HealthStore {
    /// Deletes objects for good: the same saved or read again stays deleted. An object that is not there is an error, and nothing is deleted.
    ///
    /// - Parameters:
    ///   - uuids: of the objects.
    ///   - withParts: whether a correlation's objects and a workout's routes go with it.
    /// - Returns: how many went.
    /// - Throws: `StoreError` of the kind `invalid` for a UUID that the store does not have; ``HealthStoreError/openedForReading``.
    @discardableResult
    public func delete(_ uuids: [SampleIdentity], withParts: Bool = false) async throws -> Int {
        let description = deletion
        return try await write { store in
            try store.delete(uuids, withObjects: withParts, description: description).count
        }
    }

    /// Deletes all objects that meet a condition, whoever saved them: all, or none where it fails.
    ///
    /// - Parameters:
    ///   - predicate: what they meet.
    ///   - withParts: whether a correlation's objects and a workout's routes go with it.
    /// - Returns: how many went.
    /// - Throws: `StoreError`; ``HealthStoreError/openedForReading``.
    @discardableResult
    public func deleteObjects(matching predicate: SamplePredicate, withParts: Bool = false) async throws -> Int {
        let description = deletion
        return try await write { store in
            try store.delete(matching: SampleQuery(predicate), withObjects: withParts, description: description).count
        }
    }

    private var deletion: IngestDescription {
        IngestDescription(kind: .delete, name: source?.name, received: now().microseconds)
    }
}
