import FoundationEssentials
import HealthModel
import Synchronization

/// The imports of uploaded files by person. They run one at a time, and the last results are kept in memory.
final class Uploads: Sendable {
    /// An import.
    struct Entry: Sendable {
        let id: Int
        let name: String
        /// The counts, or `nil` while the import waits or runs.
        var result: Result?
    }

    /// The result of an import. `counts` is `nil` if the file could not be read.
    struct Result: Sendable {
        var counts: Counts?
    }

    /// The number of readings by outcome, as `vitalgate import --format ndjson` prints them.
    struct Counts: Decodable, Sendable {
        var stored, duplicate, quarantined, refused: Int
    }

    private struct State {
        var entries: [String: [Entry]] = [:]
        var last = 0
        var jobs: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private static let kept = 20
    /// The maximum number of imports that wait.
    private static let mostWaiting = 20

    /// The imports of a person, newest first.
    func entries(of subject: String) -> [Entry] { state.withLock { $0.entries[subject] ?? [] } }

    /// Whether another import may be added.
    var isFree: Bool { state.withLock { $0.jobs.count < Self.mostWaiting } }

    /// Adds an import.
    ///
    /// - Parameters:
    ///   - owner: The person who sees the result.
    ///   - body: Imports the file and returns the program's result.
    func add(_ name: String, owner: String, _ body: @escaping @Sendable () -> HubDoor.Outcome) {
        let id = state.withLock { state in
            state.last += 1
            let entry = Entry(id: state.last, name: name, result: nil)
            state.entries[owner] = Array(([entry] + (state.entries[owner] ?? [])).prefix(Self.kept))
            return state.last
        }
        let job: @Sendable () -> Void = { [self] in
            let outcome = body()
            let line = outcome.output.split(separator: "\n").last.map { Data($0.utf8) }
            let counts = line.flatMap { try? JSONDecoder().decode(Counts.self, from: $0) }
            state.withLock { state in
                guard let index = state.entries[owner]?.firstIndex(where: { $0.id == id }) else { return }
                state.entries[owner]?[index].result = Result(counts: counts)
            }
        }
        let isIdle = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isIdle { detach { [self] in run() } }
    }

    private func run() {
        while true {
            let job = state.withLock { state in
                if state.jobs.isEmpty { state.isRunning = false }
                return state.jobs.isEmpty ? nil : state.jobs.removeFirst()
            }
            guard let job else { return }
            job()
        }
    }
}
