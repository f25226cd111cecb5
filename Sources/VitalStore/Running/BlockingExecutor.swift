import Dispatch

/// Runs an actor on a queue of its own. SQLite blocks while it reads a card or waits for another writer; the threads that all tasks share are not
/// kept waiting for that.
final class BlockingExecutor: SerialExecutor, @unchecked Sendable {
    // Queues may be used by any thread.
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
