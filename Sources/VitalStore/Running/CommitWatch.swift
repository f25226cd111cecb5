import Dispatch
import SampleStore

/// Wakes what waits for a commit of this process or another; nothing is asked again and again. All that wait share one watch of the system.
actor CommitWatch {
    private let path: String
    private var bell: CommitBell?
    /// How often the bell rang.
    private var rings: UInt64 = 0
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var last: UInt64 = 0
    private var failure: StoreError?

    init(path: String) { self.path = path }

    /// How many wait.
    var waitingCount: Int { waiting.count }

    /// Listens from now on, if it did not yet.
    ///
    /// - Returns: what ``next(after:)`` is to be asked with: take it before you look, so that no commit falls between the two.
    /// - Throws: ``StoreError`` where the system gives no more watches.
    func listen() throws(StoreError) -> UInt64 {
        if bell == nil {
            failure = nil
            bell = try CommitBell(store: path) { [weak self] failure in
                Task { await self?.rung(failure) }
            }
        }
        return rings
    }

    /// Returns once there may be something new; at once where there was a commit since. False where the task was cancelled.
    func next(after heard: UInt64) async throws(StoreError) -> Bool {
        guard rings == heard, failure == nil, !Task.isCancelled else { return try outcome() }
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

/// Hears a store's bell on a queue of its own.
private final class CommitBell: @unchecked Sendable {
    // Made, started and cancelled; nothing else is done with it.
    private let source: any DispatchSourceRead

    /// - Parameter rung: told of each ring, and of the error after which there are no more.
    init(store: String, rung: @escaping @Sendable (StoreError?) -> Void) throws(StoreError) {
        let listener = Listener(try StoreBell(store: store), rung)
        source = DispatchSource.makeReadSource(
            fileDescriptor: listener.bell.descriptor, queue: DispatchQueue(label: "vitalstore.bell"))
        source.setEventHandler { listener.hear() }
        // The descriptor is closed once nobody looks at it any more.
        source.setCancelHandler { _ = listener }
        source.activate()
    }

    deinit { source.cancel() }

    /// From the start on the queue's alone.
    private final class Listener: @unchecked Sendable {
        let bell: StoreBell
        private let rung: @Sendable (StoreError?) -> Void

        init(_ bell: StoreBell, _ rung: @escaping @Sendable (StoreError?) -> Void) { (self.bell, self.rung) = (bell, rung) }

        func hear() {
            do throws(StoreError) {
                try bell.wait()
                rung(nil)
            } catch {
                rung(error)
            }
        }
    }
}
