import Dispatch
import HealthModel
import SampleStore
import Synchronization

/// Counts what clients are given, by person, type and day. The counts are in a ``ReadJournal`` before an answer is sent, and in the store's ledger
/// a minute after the first of them, and before the end. It knows no values.
final class ReadTally: Sendable {
    /// What was given of one person and type.
    struct Kind: Hashable {
        var subject: String
        var type: String
    }

    private struct State: @unchecked Sendable {
        let journal: ReadJournal
        /// What the journal did not take.
        var unwritten: [ReadJournal.Entry] = []
        var isDue = false
    }

    private let path: String
    private let today: @Sendable () -> String
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "vitalgate.read-tally")
    private static let pause = DispatchTimeInterval.seconds(60)
    /// Entries that wait in memory while the disk is full.
    private static let mostUnwritten = 10_000

    /// Enters what a program left that was killed.
    ///
    /// - Parameters:
    ///   - path: the store's file.
    ///   - today: the date, `2026-11-20`.
    init(path: String, today: @escaping @Sendable () -> String) {
        (self.path, self.today) = (path, today)
        state = Mutex(State(journal: ReadJournal(store: path)))
        queue.async { [weak self] in self?.enter() }
    }

    /// Adds what a client was given.
    func add(_ counts: [Kind: Int], of client: Client) {
        guard !counts.isEmpty else { return }
        let day = today()
        let entries = counts.map { kind, count in
            ReadJournal.Entry(
                client: client.id, read: ReadEntry(subject: kind.subject, type: kind.type, day: day, count: count))
        }
        let begins = state.withLock { state in
            if !state.journal.append(entries), state.unwritten.count < Self.mostUnwritten { state.unwritten += entries }
            defer { state.isDue = true }
            return !state.isDue
        }
        if begins { queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.enter() } }
    }

    /// Enters what waits. What cannot be entered now, since somebody is in the middle of a long change, waits on.
    func enter() {
        let unwritten = state.withLock { state in
            state.journal.end()
            defer { (state.unwritten, state.isDue) = ([], false) }
            return state.unwritten
        }
        do {
            // Nothing to enter costs no writer.
            guard !unwritten.isEmpty || ReadJournal.isThere(path) else { return }
            try SampleStore(path: path, access: .write).enterReads(unwritten)
        } catch {
            state.withLock { $0.unwritten = unwritten + $0.unwritten }
            queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.enter() }
        }
    }
}
