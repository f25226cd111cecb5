import Glibc

/// Pauses between the transactions of a long change, so that other writers can write.
///
/// SQLite has no queue of writers. A waiting writer tries again, at first up to 25 ms apart. Without a pause it would rarely try in the
/// short time between two transactions.
struct WriterPause {
    /// The time of writing after which a pause follows.
    var work = Duration.milliseconds(50)
    /// Waits longer than the attempts of another writer are apart.
    var pause: () -> Void = { usleep(30_000) }
    private var start = ContinuousClock.now

    /// Called before the first transaction.
    mutating func begin() { start = .now }

    /// Called after each transaction.
    mutating func pauseIfDue() {
        guard ContinuousClock.now - start >= work else { return }
        pause()
        begin()
    }
}

extension Connection {
    /// Runs one of the transactions of a long change.
    func partialTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        let result = try transaction(body)
        writerPause.pauseIfDue()
        return result
    }
}
