import HealthModel
import SampleStore

/// A reading connection on its own thread. During an iteration it sees the store as it was when the iteration began.
actor StoreReader {
    private let executor = BlockingExecutor(label: "vitalstore.reader")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let path: String
    private var store: SampleStore?
    private var cursor: SampleCursor?

    init(path: String) { self.path = path }

    /// Runs a closure with the connection.
    ///
    /// - Throws: ``StoreError``, and the errors of `body`.
    func read<Value: Sendable>(_ body: @Sendable (SampleStore) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        return try body(try opened())
    }

    /// The store at the path, opened again if the file was replaced by a restored backup.
    private func opened() throws -> SampleStore {
        if let store, (try? store.checkPlace()) != nil { return store }
        store = nil
        let opened = try SampleStore(path: path, access: .read)
        store = opened
        return opened
    }

    // MARK: Walks

    /// Starts an iteration over samples.
    func begin(_ query: SampleQuery) throws { cursor = try opened().samples.cursor(matching: query) }

    /// The maximum size of the bodies that are read at once, in bytes. Routes, recordings and documents have bodies.
    private static let maximumWeight = 2 << 20

    /// The next samples of the iteration, at most `count`. An empty result ends the iteration.
    func next(_ count: Int) throws -> [StoredSample] {
        guard let cursor else { return [] }
        var (found, weight): ([StoredSample], Int) = ([], 0)
        do {
            while found.count < count, weight < Self.maximumWeight, let next = try cursor.next() {
                found.append(next)
                weight += next.sample.body?.bytes.count ?? 0
                try Task.checkCancellation()
            }
        } catch {
            end()
            throw error
        }
        if found.isEmpty { end() }
        return found
    }

    /// Ends the iteration and releases its snapshot of the store.
    func end() {
        cursor?.close()
        cursor = nil
    }
}
