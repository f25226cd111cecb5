import HealthModel
import SampleStore

/// Asks for samples, as HealthKit's `HKSampleQueryDescriptor`.
///
/// ```swift
/// let fevers = SampleQueryDescriptor(
///     predicate: .and([.types([.bodyTemperature]), try SamplePredicate("value > 38 Cel")]), newestFirst: true, limit: 10)
/// let ten = try await fevers.result(for: store)
/// for try await sample in fevers.results(for: store) { … }    // however many there are, some at a time
/// ```
public struct SampleQueryDescriptor: Sendable {
    /// What the samples meet; `.types` narrows it to types, and without one every kind of object counts.
    public var predicate: SamplePredicate
    /// By what they are sorted, the first of these before the others, and then by start; by start alone without. Only by start nothing is held in memory.
    public var sortDescriptors: [SampleOrder]
    /// At most so many; all of them without one.
    public var limit: Int?

    /// Asks for samples, sorted.
    public init(predicate: SamplePredicate, sortDescriptors: [SampleOrder] = [], limit: Int? = nil) {
        (self.predicate, self.sortDescriptors, self.limit) = (predicate, sortDescriptors, limit)
    }

    /// Asks for samples in the order of their start, the latest first or last.
    public init(predicate: SamplePredicate, newestFirst: Bool, limit: Int? = nil) {
        self.init(
            predicate: predicate, sortDescriptors: newestFirst ? [SampleOrder(.start, descending: true)] : [], limit: limit)
    }

    var query: SampleQuery { SampleQuery(predicate, order: sortDescriptors, limit: limit) }

    /// All of them at once.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [StoredSample] {
        let query = query
        return try await store.readers.read { store in try store.all(query) }
    }

    /// Some at a time, so that a result may be larger than memory: the next are read when the reader asks for them. All are of the store as it was
    /// when the first was asked for; a reader that is slow for hours keeps the store's log from being tidied for as long.
    ///
    /// Where the task is cancelled the sequence throws `CancellationError`, so that a part is not taken for the whole.
    public func results(for store: HealthStore) -> Samples { Samples(store: store, query: query) }
}

extension SampleQueryDescriptor {
    /// The samples of a query, read as they are asked for.
    public struct Samples: AsyncSequence, Sendable {
        public typealias Element = StoredSample
        let store: HealthStore
        let query: SampleQuery

        public func makeAsyncIterator() -> Iterator { Iterator(store: store, query: query) }

        /// Walks once over the samples.
        public struct Iterator: AsyncIteratorProtocol {
            private let store: HealthStore
            private let query: SampleQuery
            private var walk: Walk?
            private var samples: ArraySlice<StoredSample> = []
            private var isOver = false
            /// Samples that are read at once.
            private static let batch = 256

            /// Samples that were read and not asked for yet.
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

        /// A reader that walks; where the walk is left in the middle, its view of the store ends.
        private final class Walk: Sendable {
            private let reader: StoreReader
            private let pool: ReaderPool

            init(_ store: HealthStore, _ query: SampleQuery) async throws {
                pool = store.readers
                reader = await pool.take()
                do {
                    try await reader.begin(query)
                } catch {
                    await pool.giveBack(reader)
                    throw error
                }
            }

            func next(_ count: Int) async throws -> ArraySlice<StoredSample> { try await reader.next(count)[...] }

            deinit {
                let (reader, pool) = (reader, pool)
                Task {
                    await reader.end()
                    await pool.giveBack(reader)
                }
            }
        }
    }
}

extension SampleStore {
    /// All samples of a query.
    func all(_ query: SampleQuery) throws -> [StoredSample] {
        let cursor = try samples(matching: query)
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
