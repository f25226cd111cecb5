import Dispatch
import Foundation
import HealthModel
import HealthStore

@main
struct SmoothWalker {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 2 || (arguments.count == 4 && arguments[2] == "--walk"), !arguments[1].hasPrefix("-") else {
            say("Usage: SmoothWalker STORE [--walk METRES]")
            exit(64)
        }
        let source = SourceRevision(id: "app.smooth-walker", name: "SmoothWalker", version: "1")
        let store = try HealthStore(path: arguments[1], access: .write(as: source), creating: true)
        if arguments.count == 4 {
            guard let metres = Double(arguments[3]) else {
                say("a walk has a length in metres, such as 628")
                exit(64)
            }
            try await saveWalk(of: metres, to: store)
        }
        let week = DailySteps(of: store, until: Instant(Date()))
        let showing = Task { try await week.show() }
        await leaving()
        showing.cancel()
        try await showing.value
    }

    /// A walk of the last eight minutes.
    private static func saveWalk(of metres: Double, to store: HealthStore) async throws {
        let end = Instant(Date())
        let start = Instant(microseconds: end.microseconds - 480_000_000)
        let walk = HealthObject.quantity(
            .distanceWalkingRunning, try Amount(metres, "m"), from: start, to: end,
            metadata: ["wasUserEntered": .boolean(true)])
        let saved = try await store.save(walk)
        say("saved a walk of \(metres) m as \(saved.uuid)")
    }

    /// Returns when the input ends. Reading blocks, so that it has a thread of its own.
    private static func leaving() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                while readLine() != nil {}
                continuation.resume()
            }
        }
    }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
