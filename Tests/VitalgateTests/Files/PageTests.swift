import FoundationEssentials
import Glibc
import HTTPServerTesting
import Testing

/// The pages of `docs/` are run as they stand: their commands are given to a shell, one block after the other, and what they print is a
/// snapshot.
@Suite struct PageTests {
    @Test(
        arguments: [
            ("how-to/repair", 12), ("how-to/duplicates", 28), ("explanation/quarantine", 6), ("how-to/serial", 1),
            ("reference/types-and-objects", 38), ("reference/clinical", 12), ("how-to/rings", 26), ("reference/documents", 7),
            ("reference/ndjson", 4), ("how-to/statistics", 43), ("how-to/retention", 8), ("how-to/query", 24), ("how-to/people", 10),
        ])
    func everyCommandRunsAsWritten(page: String, commands: Int) throws {
        let folder = try TestFolder()
        try folder.write("config.json5", "{ subject: \"\(Household.subject)\" }\n")
        try expect("docs/\(page).md", as: String(page.split(separator: "/")[1]), commands, in: folder)
    }

    /// So are those of examples, beside their files.
    @Test(arguments: [("rings", ["export.xml"], 5)])
    func everyExampleRunsAsWritten(example: String, files: [String], commands: Int) throws {
        let folder = try TestFolder()
        try folder.write("config.json5", "{ subject: \"\(Household.subject)\" }\n")
        for file in files { try folder.write(file, Array(try Repository.data("Examples/\(example)/\(file)"))) }
        try expect("Examples/\(example)/README.md", as: "example-\(example)", commands, in: folder)
    }

    /// And what is asked of a server, while one serves.
    @Test func everyQuestionIsAskedAsWritten() throws {
        let folder = try TestFolder()
        try folder.write(
            "config.json5", "{ subject: \"\(Household.subject)\", api: { listen: \"unix:\(folder.path("api.socket"))\" } }\n")
        try folder.write("weight.csv", "time,type,value,unit\n2026-11-20T06:31:00Z,bodyMass,80.1,kg\n")
        let (options, environment) = (["--config", folder.path("config.json5")], Vitalgate.environment(home: folder.root))
        _ = try Vitalgate.run(options + ["import", folder.path("weight.csv")], environment: environment)
        let server = try RunningVitalgate(options + ["api", "serve"], environment: environment)
        #expect(eventually { server.errors.contains("listening at") })
        try expect("docs/reference/http-api.md", as: "http-api", 28, in: folder)
        try expect("docs/how-to/page.md", as: "page", 6, in: folder)
        server.signal(SIGTERM)
        #expect(try server.wait().status == 0)
    }

    private func expect(_ page: String, as name: String, _ commands: Int, in folder: TestFolder) throws {
        var script: [String] = []
        for block in try Self.blocks(of: page) {
            switch block.language {
            case "csv": try folder.write("thermometer.csv", block.text)
            case "ndjson": try folder.write("hand.ndjson", block.text)
            case "sh": script.append(block.text)
            default: break
            }
        }
        #expect(script.reduce(0) { $0 + $1.split(separator: "\n").count } == commands)
        var output = try Self.shell(script, in: folder)
        #expect(!output.contains("Try 'vitalgate"))
        output = output.replacing(#/2026-1\d-\d\d \d\d:\d\d:\d\d(\.\d+)?( \+00:00)?/#, with: "WHEN")
        // A frame without a time is of now, and so is the identifier made of it.
        output = output.replacing(#/"(uuid|start|end|received)":"[^"]+"/#) { "\"\($0.output.1)\":\"…\"" }
        try Snapshot.expect(output, matches: "pages/\(name).txt")
    }

    /// The fenced blocks of a page, with the language behind their fence.
    private static func blocks(of page: String) throws -> [(language: String, text: String)] {
        let page = String(decoding: try Repository.data(page), as: UTF8.self)
        var blocks: [(String, String)] = []
        for (index, part) in page.split(separator: "```", omittingEmptySubsequences: false).enumerated() where index % 2 == 1 {
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            blocks.append((String(lines[0]), String(lines[1])))
        }
        return blocks
    }

    /// Runs blocks in one shell whose `vitalgate` is the built one. What a command prints comes before what it says of its work, so that both
    /// have one order.
    private static func shell(_ blocks: [String], in folder: TestFolder) throws -> String {
        var text = """
            cd '\(folder.root)' || exit 1
            ln -sfn '\(Repository.root)/Examples' Examples
            exec 2>&1
            vitalgate() {
                "$PROGRAM" --config '\(folder.path("config.json5"))' --profiles '\(Repository.profiles)' "$@" 2> '\(folder.path("errors.txt"))'
                status=$?
                cat '\(folder.path("errors.txt"))' >&2
                return $status
            }
            set -e

            """
        for block in blocks {
            let shown = block.split(separator: "\n").map { "$ \($0)\n" }.joined()
            text += "cat << 'BLOCK'\n\(shown)BLOCK\n\(block)"
        }
        let path = try folder.write("page.sh", text)
        let environment = Vitalgate.environment(home: folder.root, ["PROGRAM": try Vitalgate.binary()])
        let process = try RunningVitalgate([], environment: environment, wrapper: ["/bin/sh", "-c", ". '\(path)'; exit", "sh"])
        let run = try process.wait()
        #expect(run.status == 0, "\(run.output) \(run.errors)")
        return run.output
    }
}
