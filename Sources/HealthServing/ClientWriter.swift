import Dispatch
import HTTPServerKit
import SampleStore

/// Runs the changes of clients one at a time, on one connection and its own queue. Threads that answer queries never wait for a
/// commit, and other writers wait for one short transaction at most.
package final class ClientWriter: @unchecked Sendable {
    /// The queue that runs all changes.
    package let queue = DispatchQueue(label: "vitalgate.client-writer")
    package let turns: FairQueue
    private let path: String
    private var store: SampleStore?

    init(path: String) {
        self.path = path
        turns = FairQueue(on: queue)
    }

    /// Calls `body` with the changes that a client may make. This must run on the queue.
    package func write<Value>(for client: Client, _ body: (ClientChanges) throws -> Value) throws -> Value {
        dispatchPrecondition(condition: .onQueue(queue))
        // If the file was replaced, the connection is opened again.
        if let store, (try? store.checkPlace()) == nil { self.store = nil }
        let store = try self.store ?? SampleStore(path: path, access: .write)
        self.store = store
        return try body(ClientChanges(store, by: client))
    }
}
