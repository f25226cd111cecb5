import Dispatch
import SampleStore

/// Wakes tasks that wait for a commit of any process, without polling. All waiting tasks share one file watch.
actor CommitWatch {
    private let path: String
    private var bell: CommitBell?
    /// The number of commit notifications so far.
    private var rings: UInt64 = 0
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var last: UInt64 = 0
    private var failure: StoreError?

    init(path: String) { self.path = path }

    var waitingCount: Int { waiting.count }

    /// Starts listening unless it already does.
    ///
    /// - Returns: The value to pass to ``next(after:)``. Call this before you query, so that a commit in between is not missed.
    /// - Throws: ``StoreError`` if the system has no more file watches.
    func listen() throws(StoreError) -> UInt64 {
        if bell == nil {
            failure = nil
            bell = try CommitBell(store: path) { [weak self] failure in
                Task { await self?.rung(failure) }
            }
        }
        return rings
    }

    /// Waits until there may be new changes. Returns immediately if there was a commit since `received`, and false if the task was
    /// cancelled.
    func next(after received: UInt64) async throws(StoreError) -> Bool {
        guard rings == received, failure == nil, !Task.isCancelled else { return try outcome() }
        last += 1
        let number = last
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in waiting[number] = continuation }
        } onCancel: {
            Task { await self.wake(number) }
        }
        return try outcome()
    }

    private func outcome() throws(StoreError) -> Bool {
        if let failure { throw failure }
        return !Task.isCancelled
    }

    private func wake(_ number: UInt64) { waiting.removeValue(forKey: number)?.resume() }

    private func rung(_ failure: StoreError?) {
        rings += 1
        if let failure {
            self.failure = failure
            bell = nil
        }
        let all = waiting
        waiting.removeAll()
        for continuation in all.values { continuation.resume() }
    }
}

/// Receives a store's commit notifications on its own queue.
private final class CommitBell: @unchecked Sendable {
    // The source is only created, activated and cancelled.
    private let source: any DispatchSourceRead

    /// Starts listening.
    ///
    /// - Parameter rung: Called for each notification, and with the error that ends them.
    init(store: String, rung: @escaping @Sendable (StoreError?) -> Void) throws(StoreError) {
        let listener = Listener(try StoreBell(store: store), rung)
        source = DispatchSource.makeReadSource(
            fileDescriptor: listener.bell.descriptor, queue: DispatchQueue(label: "vitalstore.bell"))
        source.setEventHandler { listener.drain() }
        // The handler keeps the descriptor open until the source no longer uses it.
        source.setCancelHandler { _ = listener }
        source.activate()
    }

    deinit { source.cancel() }

    /// Used only on the queue once the source is active.
    private final class Listener: @unchecked Sendable {
        let bell: StoreBell
        private let rung: @Sendable (StoreError?) -> Void

        init(_ bell: StoreBell, _ rung: @escaping @Sendable (StoreError?) -> Void) { (self.bell, self.rung) = (bell, rung) }

        func drain() {
            do throws(StoreError) {
                try bell.wait()
                rung(nil)
            } catch {
                rung(error)
            }
        }
    }
}
