import CommandLineKit
import Glibc
import Hub
import Profiles
import SampleStore

/// The test of an installed version: the configuration and the store can be read, the store is intact, each adopted device's profile reads
/// its own vectors, and the sources run. It prints a line for each problem.
struct UpdateSelfTest {
    private let context: CommandContext

    init(_ context: CommandContext) { self.context = context }

    /// How long the sources have to start, in seconds.
    private static let timeout = 90

    func run() throws -> ExitCode {
        let problems = try store() + profiles() + sources()
        for problem in problems { try context.streams.output.write(TerminalText.sanitized(problem) + "\n") }
        return problems.isEmpty ? .success : .dataError
    }

    private func store() throws -> [String] {
        do {
            // Opening it for writing applies new steps of the schema, as the hub does.
            let store = try context.access().openForWriting(creating: false)
            return try store.check().map { "store: \($0)" }
        } catch let error as StoreError {
            return error.kind == .missing ? [] : ["store: \(error)"]
        }
    }

    private func profiles() throws -> [String] {
        let (library, problems) = try ProfileCommand.folders(context).load()
        var lines = problems.map { "profile: \($0)" }
        let devices = (try? context.openForReading().devices.adopted()) ?? []
        for id in Set(devices.flatMap(\.profiles)).sorted() {
            guard let profile = library[id] else {
                lines.append("profile: \(id), which an adopted device needs, is missing")
                continue
            }
            lines += ProfileCommand.failures(of: profile).prefix(1).map { "profile: \($0)" }
        }
        return lines
    }

    private func sources() throws -> [String] {
        let names = context.invocation.strings("--running")
        guard !names.isEmpty else { return [] }
        let path = try context.configuration().store
        var lines: [String] = []
        for _ in 0..<Self.timeout {
            lines = missing(names, path)
            if lines.isEmpty { return [] }
            sleep(1)
        }
        return lines
    }

    private func missing(_ names: [String], _ path: String) -> [String] {
        guard let answer = try? StatusClient.ask(store: path, machine: context.machine) else {
            return ["source: the hub does not answer"]
        }
        return names.compactMap { name in
            guard let source = answer.status.sources.first(where: { $0.name == name }) else {
                return "source: \(name) is missing"
            }
            return source.state == "running" ? nil : "source: \(name) does not run: \(source.reason ?? source.state)"
        }
    }
}
