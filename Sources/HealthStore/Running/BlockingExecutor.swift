import Dispatch

/// Runs an actor on its own queue. SQLite blocks while it reads an SD card or waits for another writer, and must not block the
/// threads that all tasks share.
final class BlockingExecutor: SerialExecutor, @unchecked Sendable {
    // A dispatch queue may be used from any thread.
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
