import HealthModel
import SampleStore

/// One connection that reads, on a thread of its own. While it walks over samples it sees the store as it was when the walk began.
actor StoreReader {
    private let executor = BlockingExecutor(label: "vitalstore.reader")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private var store: SampleStore?
    private var cursor: SampleCursor?

    init(path: String) { self.path = path }

    /// Reads something at once.
    ///
    /// - Throws: ``StoreError``, and what `body` throws.
    func read<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        return try body(try opened())
    }

    /// The store as it stands at its path: where it was put back from a backup, that is another file.
    private func opened() throws -> SampleStore {
        if let store, (try? store.checkPlace()) != nil { return store }
        store = nil
        let opened = try SampleStore(path: path, access: .read)
        store = opened
        return opened
    }

    // MARK: Walks

    /// Begins to walk over samples.
    func begin(_ query: SampleQuery) throws { cursor = try opened().samples(matching: query) }

    /// Octets of bodies that are read at once: routes, recordings and documents.
    private static let mostWeight = 2 << 20

    /// The next samples of the walk, at most so many; none behind the last, and the walk is over.
    func next(_ count: Int) throws -> [StoredSample] {
        guard let cursor else { return [] }
        var (found, weight): ([StoredSample], Int) = ([], 0)
        do {
            while found.count < count, weight < Self.mostWeight, let next = try cursor.next() {
                found.append(next)
                weight += next.sample.body?.octets.count ?? 0
                try Task.checkCancellation()
            }
        } catch {
            end()
            throw error
        }
        if found.isEmpty { end() }
        return found
    }

    /// Ends the walk and its view of the store.
    func end() {
        cursor?.close()
        cursor = nil
    }
}
