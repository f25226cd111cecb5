import HealthModel
import SampleStore

/// A query for samples, like HealthKit's `HKSampleQueryDescriptor`.
///
/// ```swift
/// let fevers = SampleQueryDescriptor(
///     predicate: .and([.types([.bodyTemperature]), try SamplePredicate("value > 38 Cel")]), newestFirst: true, limit: 10)
/// let ten = try await fevers.result(for: store)
/// for try await sample in fevers.results(for: store) { … } // however many there are, some at a time
/// ```
public struct SampleQueryDescriptor: Sendable {
    /// The condition on the samples. Use `.types` to select types. Without it, objects of every kind match.
    public var predicate: SamplePredicate
    /// The sort keys in order of precedence, followed by the start. If only the start is used, nothing is held in memory.
    public var sortDescriptors: [SampleOrder]
    /// The maximum number of samples, or `nil` for all.
    public var limit: Int?

    /// Creates a query for sorted samples.
    public init(predicate: SamplePredicate, sortDescriptors: [SampleOrder] = [], limit: Int? = nil) {
        (self.predicate, self.sortDescriptors, self.limit) = (predicate, sortDescriptors, limit)
    }

    /// Creates a query for samples sorted by start.
    public init(predicate: SamplePredicate, newestFirst: Bool, limit: Int? = nil) {
        self.init(
            predicate: predicate, sortDescriptors: newestFirst ? [SampleOrder(.start, descending: true)] : [], limit: limit)
    }

    var query: SampleQuery { SampleQuery(predicate, order: sortDescriptors, limit: limit) }

    /// All matching samples.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [StoredSample] {
        let query = query
        return try await store.readers.read { store in try store.all(query) }
    }

    /// The samples in batches that are read on request, so that the result may exceed the memory. All batches come from one
    /// snapshot of the store, taken at the first request. A consumer that takes hours prevents checkpoints of the store's
    /// write-ahead log during that time.
    ///
    /// If the task is cancelled, the sequence throws `CancellationError`, so that a partial result is not mistaken for the whole.
    public func results(for store: HealthStore) -> Samples { Samples(store: store, query: query) }
}

extension SampleQueryDescriptor {
    /// The samples of a query, read on request.
    public struct Samples: AsyncSequence, Sendable {
        public typealias Element = StoredSample
        let store: HealthStore
        let query: SampleQuery

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// The iterator over the samples.
        public struct Iterator: AsyncIteratorProtocol {
            private let store: HealthStore
            private let query: SampleQuery
            private var walk: Walk?
            private var samples: ArraySlice<StoredSample> = []
            private var isOver = false
            private static let batch = 256

            /// The number of samples that are read but not consumed yet.
            var countAtHand: Int { samples.count }

            init(store: HealthStore, query: SampleQuery) { (self.store, self.query) = (store, query) }

            public mutating func next() async throws -> StoredSample? {
                if let next = samples.popFirst() { return next }
                guard !isOver else { return nil }
                if walk == nil { walk = try await Walk(store, query) }
                samples = try await walk?.next(Self.batch) ?? []
                if samples.isEmpty {
                    isOver = true
                    walk = nil
                }
                return samples.popFirst()
            }
        }

        /// A reader in use by one iterator. Its snapshot of the store is released even if the iteration stops early.
        private final class Walk: Sendable {
            private let reader: StoreReader
            private let pool: ReaderPool

            init(_ store: HealthStore, _ query: SampleQuery) async throws {
                pool = store.readers
                reader = pool.take()
                do {
                    try await reader.begin(query)
                } catch {
                    pool.giveBack(reader)
                    throw error
                }
            }

            func next(_ count: Int) async throws -> ArraySlice<StoredSample> { try await reader.next(count)[...] }

            deinit {
                let (reader, pool) = (reader, pool)
                Task {
                    await reader.end()
                    pool.giveBack(reader)
                }
            }
        }
    }
}

extension SampleStore {
    func all(_ query: SampleQuery) throws -> [StoredSample] {
        let cursor = try samples.cursor(matching: query)
        defer { cursor.close() }
        var found: [StoredSample] = []
        found.reserveCapacity(min(query.limit ?? 0, 1024))
        while let next = try cursor.next() {
            found.append(next)
            try Task.checkCancellation()
        }
        return found
    }
}
