/// Interrupts statements that exceed the time limit of a query.
final class Deadline {
    fileprivate var time: ContinuousClock.Instant?

    /// The number of steps of SQLite's virtual machine between two checks of the clock, some hundred microseconds.
    private static let steps: Int32 = 20_000

    /// Starts to enforce the deadline.
    func watch(_ connection: Connection) {
        connection.onProgress(every: Self.steps) { self.time.map { ContinuousClock.now > $0 } ?? false }
    }
}

extension SampleStore {
    /// Limits the total time of all queries from now on. `nil` removes the limit. After the time has passed, queries fail with
    /// ``StoreError`` of the kind `tooLong`.
    public func limit(to time: Duration?) {
        if connection.deadline == nil, time != nil {
            let deadline = Deadline()
            connection.deadline = deadline
            deadline.watch(connection)
        }
        connection.deadline?.time = time.map { ContinuousClock.now + $0 }
    }
}
