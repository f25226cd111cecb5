import HealthModel
import SampleStore

/// Asks from which sources samples come, as HealthKit's `HKSourceQueryDescriptor`.
public struct SourceQueryDescriptor: Sendable {
    /// What the samples meet.
    public var predicate: SamplePredicate

    /// Asks for the sources of samples that meet a condition.
    public init(predicate: SamplePredicate) { self.predicate = predicate }

    /// Each source that has such a sample, once by its id, with the name and version of its latest; by id.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [SourceRevision] {
        let predicate = predicate
        return try await store.readers.read { store in
            var found: [String: SourceRevision] = [:]
            for source in Set(try store.series(matching: SampleQuery(predicate)).map(\.source)) {
                try Task.checkCancellation()
                let own = SamplePredicate.and([predicate, .comparison(.source(.id), .equal, .text(source))])
                let latest = try store.all(SampleQuery(own, descending: true, limit: 1)).first
                if let latest { found[source] = latest.sample.origin.source }
            }
            return found.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}
