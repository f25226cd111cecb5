import HealthModel
import SampleStore

extension HealthStore {
    /// Deletes objects permanently. They stay deleted if they are saved or imported again. If one object does not exist, nothing is
    /// deleted.
    ///
    /// - Parameters:
    ///   - uuids: The objects to delete.
    ///   - withParts: Whether to delete a correlation's objects and a workout's routes, too.
    /// - Returns: The number of deleted objects.
    /// - Throws: `StoreError` of the kind `invalid` for a UUID that the store does not have, or
    ///   ``HealthStoreError/openedForReading``.
    @discardableResult
    public func delete(_ uuids: [SampleIdentity], withParts: Bool = false) async throws -> Int {
        let description = deletion
        return try await write { store in
            try store.samples.delete(uuids, withObjects: withParts, description: description).count
        }
    }

    /// Deletes all objects that match a predicate, from any source. If the deletion fails, nothing is deleted.
    ///
    /// - Parameters:
    ///   - predicate: The condition that the objects match.
    ///   - withParts: Whether to delete a correlation's objects and a workout's routes, too.
    /// - Returns: The number of deleted objects.
    /// - Throws: `StoreError`, ``HealthStoreError/openedForReading``.
    @discardableResult
    public func deleteObjects(matching predicate: SamplePredicate, withParts: Bool = false) async throws -> Int {
        let description = deletion
        return try await write { store in
            try store.samples.delete(matching: SampleQuery(predicate), withObjects: withParts, description: description).count
        }
    }

    private var deletion: IngestDescription {
        IngestDescription(kind: .delete, name: source?.name, received: now().microseconds)
    }
}
