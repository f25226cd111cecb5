import FoundationEssentials
import HTTPServerKit
import HealthModel
import Synchronization

/// The imports of uploaded files by person. Each person has one running import and a few waiting ones, so that the files of one person do not
/// delay those of another. The last results are kept in memory.
final class Uploads: Sendable {
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
        /// Whether the rest of the file was not imported, because the disk was nearly full.
        var diskFull: Bool?
    }

    private struct State {
        var entries: [String: [Entry]] = [:]
        var last = 0
        /// The imports that wait or run, by person.
        var open: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private static let retained = 20
    /// The maximum number of imports of a person, and of all, that wait or run.
    private static let (maximumOwn, maximum) = (6, 40)
    private let turns = FairQueue("vitalgate.page-uploads", lanes: 2)

    /// The imports of a person, newest first.
    func entries(of person: String) -> [Entry] { state.withLock { $0.entries[person] ?? [] } }

    /// Whether a person may add another import.
    func isFree(for owner: String) -> Bool {
        state.withLock { state in
            state.open[owner, default: 0] < Self.maximumOwn && state.open.values.reduce(0, +) < Self.maximum
        }
    }

    /// Adds an import.
    ///
    /// - Parameters:
    ///   - owner: The person who sees the result.
    ///   - body: Imports the file and returns the program's result.
    func add(_ name: String, owner: String, _ body: @escaping @Sendable () -> HubDoor.Outcome) {
        let id = state.withLock { state in
            state.last += 1
            let entry = Entry(id: state.last, name: name, result: nil)
            state.entries[owner] = Array(([entry] + (state.entries[owner] ?? [])).prefix(Self.retained))
            state.open[owner, default: 0] += 1
            return state.last
        }
        turns.async(for: .person(owner)) { [self] in
            let outcome = body()
            let line = outcome.output.split(separator: "\n").last.map { Data($0.utf8) }
            let counts = line.flatMap { try? JSONDecoder().decode(Counts.self, from: $0) }
            state.withLock { state in
                let rest = state.open[owner, default: 0] - 1
                state.open[owner] = rest > 0 ? rest : nil
                guard let index = state.entries[owner]?.firstIndex(where: { $0.id == id }) else { return }
                state.entries[owner]?[index].result = Result(counts: counts)
            }
        }
    }
}
