import HealthModel
import SampleStore

/// A query for correlations and their objects, like HealthKit's `HKCorrelationQuery`.
///
/// ```swift
/// let high = CorrelationQueryDescriptor(
///     type: .bloodPressure, objectPredicates: [.bloodPressureSystolic: try SamplePredicate("value >= 140 mm[Hg]")])
/// for pressure in try await high.result(for: store) { … pressure.objects … }
/// ```
public struct CorrelationQueryDescriptor: Sendable {
    /// The correlation's type.
    public var type: SampleType
    /// The condition on the correlations.
    public var predicate: SamplePredicate
    /// Conditions on the objects by type. A correlation without a matching object of each type is left out.
    public var objectPredicates: [SampleType: SamplePredicate]
    /// Whether to sort by start in descending order.
    public var newestFirst: Bool
    /// Whether the two pressures in one frame of a blood pressure cuff count as a correlation even if none was stored. Its UUID is
    /// derived from theirs.
    public var derivesFromFrames = true
    /// The maximum number of correlations.
    public var limit: Int?

    /// A correlation and its objects.
    public struct Result: Sendable {
        /// The correlation.
        public var correlation: StoredSample
        /// The objects that are still in the store, in the correlation's order. Deleted ones are left out.
        public var objects: [StoredSample]

        /// The objects of one type.
        public func objects(of type: SampleType) -> [StoredSample] { objects.filter { $0.sample.origin.type == type } }
    }

    /// Creates a query for correlations of a type.
    public init(
        type: SampleType, predicate: SamplePredicate = .everything, objectPredicates: [SampleType: SamplePredicate] = [:],
        newestFirst: Bool = false, limit: Int? = nil
    ) {
        (self.type, self.predicate, self.objectPredicates) = (type, predicate, objectPredicates)
        (self.newestFirst, self.limit) = (newestFirst, limit)
    }

    /// All matching correlations.
    ///
    /// - Throws: ``HealthStoreError/unsuitable(_:)`` if the type is not a correlation, `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [Result] {
        guard type.kind == .correlation else {
            throw HealthStoreError.unsuitable("\(type.id) is a \(type.kind.name), not a correlation")
        }
        guard !objectPredicates.values.contains(where: \.asksForOthers) else {
            throw HealthStoreError.unsuitable("a condition on the objects of a correlation cannot use workouts or correlations")
        }
        var asked = SampleQuery(.and([.types([type]), predicate]), descending: newestFirst)
        asked.derivesCorrelations = derivesFromFrames
        let query = asked
        let (conditions, limit) = (objectPredicates, limit ?? .max)
        return try await store.readers.read { store in
            let cursor = try store.samples.cursor(matching: query)
            defer { cursor.close() }
            var found: [Result] = []
            while found.count < limit, let correlation = try cursor.next() {
                try Task.checkCancellation()
                let result = Result(correlation: correlation, objects: try store.objects(of: correlation.sample))
                let matches = conditions.allSatisfy { type, condition in
                    result.objects(of: type).contains { condition.matches($0.sample) }
                }
                if matches { found.append(result) }
            }
            return found
        }
    }
}

extension SampleStore {
    /// The current samples that a correlation refers to.
    func objects(of correlation: Sample) throws -> [StoredSample] {
        // A damaged body refers to no samples, and must not make the whole query fail.
        let named = (try? correlation.body?.decoded(as: Correlation.self))?.objects ?? []
        return try named.compactMap { SampleIdentity($0) }.compactMap { try samples.object(named: $0, in: correlation) }
    }
}
