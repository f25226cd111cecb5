import CSQLite

/// Breaks off statements that take longer than the question may.
final class Deadline {
    fileprivate var time: ContinuousClock.Instant?

    /// Steps of SQLite's virtual machine between two looks at the clock: some hundred microseconds.
    private static let steps: Int32 = 20_000

    /// It must live as long as the connection.
    func watch(_ connection: Connection) {
        sqlite3_progress_handler(
            connection.handle, Self.steps,
            { context in
                guard let context else { return 0 }
                let deadline = Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue()
                return deadline.time.map { ContinuousClock.now > $0 } ?? false ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}

extension SampleStore {
    /// Gives what is asked from now on so much time together; without a limit, all that it takes. Afterwards questions fail with ``StoreError`` of the
    /// kind `tooLong`.
    public func limit(to time: Duration?) {
        if connection.deadline == nil, time != nil {
            let deadline = Deadline()
            connection.deadline = deadline
            deadline.watch(connection)
        }
        connection.deadline?.time = time.map { ContinuousClock.now + $0 }
    }
}
