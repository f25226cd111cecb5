import Dispatch
import HealthModel
import SampleStore
import Synchronization

/// Counts what clients are given, by person, type and day, and enters it into the store's ledger: a minute after the first of it, and before the
/// end. It knows no values.
final class ReadTally: Sendable {
    /// What was given of one person and type.
    struct Kind: Hashable {
        var subject: String
        var type: String
    }

    private struct Day: Hashable {
        var kind: Kind
        var day: String
    }

    private struct State {
        var counts: [Client: [Day: Int]] = [:]
        var isDue = false
    }

    private let path: String
    private let today: @Sendable () -> String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "vitalgate.read-tally")
    private static let pause = DispatchTimeInterval.seconds(60)

    /// - Parameters:
    ///   - path: the store's file.
    ///   - today: the date, `2026-11-20`.
    init(path: String, today: @escaping @Sendable () -> String) { (self.path, self.today) = (path, today) }

    /// Adds what a client was given.
    func add(_ counts: [Kind: Int], of client: Client) {
        guard !counts.isEmpty else { return }
        let day = today()
        put([client: Dictionary(uniqueKeysWithValues: counts.map { (Day(kind: $0, day: day), $1) })])
    }

    private func put(_ more: [Client: [Day: Int]]) {
        let begins = state.withLock { state in
            for (client, counts) in more { state.counts[client, default: [:]].merge(counts) { $0 + $1 } }
            defer { state.isDue = true }
            return !state.isDue
        }
        if begins { queue.asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.enter() } }
    }

    /// Enters what waits. What cannot be entered now, since somebody is in the middle of a long change, waits on.
    func enter() {
        var waiting = state.withLock { state in
            defer { state = State() }
            return state.counts
        }
        do {
            let store = waiting.isEmpty ? nil : try SampleStore(path: path, access: .write)
            for (client, counts) in waiting {
                let entries = counts.map { ReadEntry(subject: $0.kind.subject, type: $0.kind.type, day: $0.day, count: $1) }
                try store?.note(entries, readBy: client)
                waiting[client] = nil
            }
        } catch {
            put(waiting)
        }
    }
}
