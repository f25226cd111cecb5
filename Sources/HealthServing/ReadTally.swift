import Dispatch
import HealthModel
import SampleStore
import Synchronization

/// Counts what clients read, by person, type and day. The counts are in a ``ReadJournal`` before an answer is sent. They move to
/// the store's ledger a minute after the first of them, and when the service stops. Values are not recorded.
final class ReadTally: Sendable {
    /// A person and a type.
    struct Kind: Hashable {
        var person: String
        var type: String
    }

    private struct State: @unchecked Sendable {
        let journal: ReadJournal
        /// The entries that could not be written to the journal.
        var unwritten: [ReadJournal.Entry] = []
        var isDue = false
    }

    private let path: String
    private let today: @Sendable () -> String
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "vitalgate.read-tally")
    private static let pause = DispatchTimeInterval.seconds(60)
    /// The maximum number of entries to keep in memory while the disk is full.
    private static let maximumUnwritten = 10_000

    /// Opens the journal and enters the counts that a killed process left.
    ///
    /// - Parameters:
    ///   - path: The path of the store's file.
    ///   - today: Returns the date, such as `2026-11-20`.
    init(path: String, today: @escaping @Sendable () -> String) {
        (self.path, self.today) = (path, today)
        state = Mutex(State(journal: ReadJournal(store: path)))
        queue.async { [weak self] in self?.enter() }
    }

    func add(_ counts: [Kind: Int], of client: Client) {
        guard !counts.isEmpty else { return }
        let day = today()
        let entries = counts.map { kind, count in
            ReadJournal.Entry(
                client: client.id, read: ReadEntry(person: kind.person, type: kind.type, day: day, count: count))
        }
        let begins = state.withLock { state in
            if !state.journal.append(entries), state.unwritten.count < Self.maximumUnwritten { state.unwritten += entries }
            defer { state.isDue = true }
            return !state.isDue
        }
        if begins { queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.enter() } }
    }

    /// Moves pending counts to the ledger. If this fails, for example because a long change blocks the store, it is tried again
    /// later.
    func enter() {
        let unwritten = state.withLock { state in
            state.journal.end()
            defer { (state.unwritten, state.isDue) = ([], false) }
            return state.unwritten
        }
        do {
            // If there is nothing to enter, the store is not opened for writing.
            guard !unwritten.isEmpty || ReadJournal.isThere(path) else { return }
            try SampleStore(path: path, access: .write).clients.enterReads(unwritten)
        } catch {
            state.withLock { $0.unwritten = unwritten + $0.unwritten }
            queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.enter() }
        }
    }
}
