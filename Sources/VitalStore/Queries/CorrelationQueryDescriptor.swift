import HealthModel
import SampleStore

/// Asks for correlations with what belongs to them, as HealthKit's `HKCorrelationQuery`.
///
/// ```swift
/// let high = CorrelationQueryDescriptor(
///     type: .bloodPressure, objectPredicates: [.bloodPressureSystolic: try SamplePredicate("value >= 140 mm[Hg]")])
/// for pressure in try await high.result(for: store) { … pressure.objects … }
/// ```
public struct CorrelationQueryDescriptor: Sendable {
    /// The correlation's type.
    public var type: SampleType
    /// What the correlations meet.
    public var predicate: SamplePredicate
    /// What an object of each of these types meets: a correlation without one is left out.
    public var objectPredicates: [SampleType: SamplePredicate]
    /// Whether the latest start comes first, else the earliest.
    public var newestFirst: Bool
    /// Whether the two pressures of a cuff's frame are a correlation, also where nobody stored one. Such a one has a UUID that follows from theirs.
    public var derivesFromFrames = true
    /// At most so many correlations.
    public var limit: Int?

    /// A correlation and its objects.
    public struct Result: Sendable {
        /// The correlation.
        public var correlation: StoredSample
        /// Those of its objects that are in the store, in its order; one that was deleted is not among them.
        public var objects: [StoredSample]

        /// Its objects of a type.
        public func objects(of type: SampleType) -> [StoredSample] { objects.filter { $0.sample.origin.type == type } }
    }

    /// Asks for correlations of a type.
    public init(
        type: SampleType, predicate: SamplePredicate = .everything, objectPredicates: [SampleType: SamplePredicate] = [:],
        newestFirst: Bool = false, limit: Int? = nil
    ) {
        (self.type, self.predicate, self.objectPredicates) = (type, predicate, objectPredicates)
        (self.newestFirst, self.limit) = (newestFirst, limit)
    }

    /// All of them at once.
    ///
    /// - Throws: ``HealthStoreError/unsuitable(_:)`` for a type that is no correlation's, `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [Result] {
        guard type.kind == .correlation else {
            throw HealthStoreError.unsuitable("\(type.id) is a \(type.kind.name), no correlation")
        }
        guard !objectPredicates.values.contains(where: \.asksForOthers) else {
            throw HealthStoreError.unsuitable("what an object belongs to is no condition on the objects of a correlation")
        }
        var asked = SampleQuery(.and([.types([type]), predicate]), descending: newestFirst)
        asked.derivesCorrelations = derivesFromFrames
        let query = asked
        let (conditions, limit) = (objectPredicates, limit ?? .max)
        return try await store.readers.read { store in
            let cursor = try store.samples(matching: query)
            defer { cursor.close() }
            var found: [Result] = []
            while found.count < limit, let correlation = try cursor.next() {
                try Task.checkCancellation()
                let result = Result(correlation: correlation, objects: try store.objects(of: correlation.sample))
                let isMet = conditions.allSatisfy { type, condition in
                    result.objects(of: type).contains { condition.matches($0.sample) }
                }
                if isMet { found.append(result) }
            }
            return found
        }
    }
}

extension SampleStore {
    /// The samples that a correlation names, as they stand today.
    func objects(of correlation: Sample) throws -> [StoredSample] {
        // A damaged one names nothing, and does not hide its neighbors.
        let named = (try? correlation.body?.decoded(as: Correlation.self))?.objects ?? []
        return try named.compactMap { SampleIdentity($0) }.compactMap { try object(named: $0) }
    }
}
