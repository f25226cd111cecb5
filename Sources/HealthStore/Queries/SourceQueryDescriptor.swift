import HealthModel
import SampleStore

/// A query for the sources of samples, like HealthKit's `HKSourceQueryDescriptor`.
public struct SourceQueryDescriptor: Sendable {
    /// The condition on the samples.
    public var predicate: SamplePredicate

    /// Creates a query for the sources of matching samples.
    public init(predicate: SamplePredicate) { self.predicate = predicate }

    /// Each source with a matching sample, sorted by id, with the name and version from its latest sample.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [SourceRevision] {
        let predicate = predicate
        return try await store.readers.read { store in
            var found: [String: SourceRevision] = [:]
            for source in Set(try store.samples.series(matching: SampleQuery(predicate)).map(\.source)) {
                try Task.checkCancellation()
                let own = SamplePredicate.and([predicate, .comparison(.source(.id), .equal, .text(source))])
                let latest = try store.all(SampleQuery(own, descending: true, limit: 1)).first
                if let latest { found[source] = latest.sample.origin.source }
            }
            return found.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}
