import Dispatch
import SampleStore

/// What clients save, delete and ask for is written by one connection, on a queue of its own, one change after the other: no thread that answers
/// readers waits for a commit, and whoever else writes waits for one short transaction at most.
final class ClientWriter: @unchecked Sendable {
    /// All that writes runs here.
    let queue = DispatchQueue(label: "vitalgate.client-writer")
    private let path: String
    private var store: SampleStore?

    init(path: String) { self.path = path }

    /// Gives the store to `body`; on the queue.
    func write<Value>(_ body: (SampleStore) throws -> Value) throws -> Value {
        dispatchPrecondition(condition: .onQueue(queue))
        // One of a file that was replaced is of no use.
        if let store, (try? store.checkPlace()) == nil { self.store = nil }
        let store = try self.store ?? SampleStore(path: path, access: .write)
        self.store = store
        return try body(store)
    }
}
