import FoundationEssentials
import Testing

/// `docs/repair.md` is run as it stands: its file is written, its commands are given to a shell, and what they print is a snapshot.
@Suite struct RepairPageTests {
    /// The fenced blocks of the page, with the language behind their fence.
    private static func blocks() throws -> [(language: String, text: String)] {
        let page = String(decoding: try Repository.data("docs/repair.md"), as: UTF8.self)
        var blocks: [(String, String)] = []
        for (index, part) in page.split(separator: "```", omittingEmptySubsequences: false).enumerated() where index % 2 == 1 {
            let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            blocks.append((String(lines[0]), String(lines[1])))
        }
        return blocks
    }

    @Test func everyCommandRunsAsWritten() throws {
        let folder = try TestFolder()
        _ = try folder.options()
        try folder.write("config.json5", "{ subject: \"\(Household.subject)\" }\n")
        var output = ""
        var commands = 0
        for block in try Self.blocks() {
            switch block.language {
            case "csv": try folder.write("thermometer.csv", block.text)
            case "sh":
                commands += block.text.split(separator: "\n").count
                output += try Self.shell(block.text, in: folder)
            default: Issue.record("a block of an unknown kind: \(block.language)")
            }
        }
        #expect(commands == 12)
        #expect(!output.contains("Try 'vitalgate"))
        output = output.replacing(#/2026-1\d-\d\d \d\d:\d\d:\d\d( \+00:00)?/#, with: "WHEN")
        try Snapshot.expect(output, matches: "repair-page.txt")
    }

    /// Runs lines in a shell whose `vitalgate` is the built one, on the folder's store.
    private static func shell(_ script: String, in folder: TestFolder) throws -> String {
        let options = try folder.options().map { "'\($0)'" }.joined(separator: " ")
        // A command's output comes before what it says of its work, so that both have one order.
        let text = """
            cd '\(folder.root)' || exit 1
            vitalgate() { "$PROGRAM" \(options) "$@" 2> errors.txt; status=$?; cat errors.txt >&2; return $status; }
            set -e
            \(script)
            """
        let path = try folder.write("page.sh", text)
        let environment = Vitalgate.environment(home: folder.root, ["PROGRAM": try Vitalgate.binary()])
        let process = try RunningVitalgate([], environment: environment, wrapper: ["/bin/sh", "-c", ". '\(path)'; exit", "sh"])
        let run = try process.wait()
        #expect(run.status == 0, "\(run.errors)")
        return "$ " + script.split(separator: "\n").joined(separator: "\n$ ") + "\n" + run.output + run.errors
    }
}
