/// Interrupts statements that exceed the time limit of a query, or that continue after the user asked to stop.
final class Deadline {
    fileprivate var time: ContinuousClock.Instant?
    /// Whether the user asked to stop, the time to finish after that, and when it is over.
    fileprivate var isCancelled: (() -> Bool)?
    fileprivate var timeout: Duration = .zero
    private var cancellation: ContinuousClock.Instant?

    /// The number of steps of SQLite's virtual machine between two checks of the clock, some hundred microseconds.
    private static let steps: Int32 = 20_000

    /// Starts to enforce the deadline.
    func watch(_ connection: Connection) {
        connection.onProgress(every: Self.steps) { self.isOver }
    }

    fileprivate var isOver: Bool {
        if let time, ContinuousClock.now > time { return true }
        guard let isCancelled, isCancelled() else { return false }
        let end = cancellation ?? ContinuousClock.now + timeout
        cancellation = end
        return ContinuousClock.now >= end
    }
}

extension Connection {
    /// Checks the time in work that runs no statements.
    ///
    /// - Throws: ``StoreError`` of the kind `tooLong`.
    func checkTime() throws(StoreError) {
        guard deadline?.isOver ?? false else { return }
        throw StoreError(.tooLong, "the time is over")
    }

    fileprivate func watched() -> Deadline {
        if let deadline { return deadline }
        let deadline = Deadline()
        self.deadline = deadline
        deadline.watch(self)
        return deadline
    }
}

extension SampleStore {
    /// Limits the total time of all queries from now on. `nil` removes the limit. After the time has passed, queries fail with
    /// ``StoreError`` of the kind `tooLong`.
    public func limit(to time: Duration?) {
        guard let time else {
            connection.deadline?.time = nil
            return
        }
        connection.watched().time = ContinuousClock.now + time
    }

    /// Runs work that ends early if the user asks to stop. Nothing of a transaction that has not ended by then is stored.
    ///
    /// - Parameters:
    ///   - timeout: The time to finish after the request.
    ///   - isCancelled: Whether the user asked to stop. It is called often.
    /// - Throws: ``StoreError`` of the kind `tooLong` if the work was interrupted, and errors of `body`.
    package func interruptible<Result>(
        within timeout: Duration = .seconds(1), when isCancelled: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let deadline = connection.watched()
        (deadline.isCancelled, deadline.timeout) = (isCancelled, timeout)
        defer { deadline.isCancelled = nil }
        return try body()
    }
}
