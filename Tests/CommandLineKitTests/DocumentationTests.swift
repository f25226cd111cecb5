import CommandLineKit
import Testing

struct DocumentationTests {
    @Test(arguments: [[], ["import"], ["query"], ["store"], ["store", "check"], ["unit", "convert"], ["profile", "show"]])
    func help(path: [String]) throws {
        try Snapshot.expect(Sample.program.help(for: path), matches: (["help"] + path).joined(separator: "-") + ".txt")
    }

    @Test func helpIsWrapped() throws {
        let text = Sample.program.help(for: ["query"], width: 50)
        try Snapshot.expect(text, matches: "help-query-narrow.txt")
        let prose = text.split(separator: "\n").filter { !$0.contains("vitalgate query") }
        #expect(prose.allSatisfy { TerminalText.width($0) <= 50 })
    }

    @Test func unknownSubcommandShowsHelpOfParent() {
        #expect(Sample.program.help(for: ["store", "nonsense"]) == Sample.program.help(for: ["store"]))
    }

    /// Other programs run it, and people do not see it.
    @Test func hiddenCommandIsAcceptedAndNotShown() throws {
        let program = CommandSpecification(
            name: "hub", summary: "A hub.",
            subcommands: [
                CommandSpecification(name: "status", summary: "Show it."),
                CommandSpecification(name: "secretly", summary: "Do it.", isHidden: true),
            ])
        #expect(try program.parse(["secretly"]).path == ["secretly"])
        let manual = ManualPage(program: program, version: "1.0", exitStatus: [], files: [], environment: [], seeAlso: [])
        let candidates = program.completion(of: [""])
        for text in [program.help(for: []), manual.rendered(), "\(candidates)"] {
            #expect(text.contains("status") && !text.contains("secretly"))
        }
        #expect(throws: UsageError(.unknownCommand("secretl", suggestion: nil), command: "hub")) {
            try program.parse(["secretl"])
        }
    }

    private let page = ManualPage(
        program: Sample.program, version: "1.0",
        exitStatus: [.init("0", "All went well."), .init("64", "The command line makes no sense.")],
        files: [.init("/etc/vitalgate/config.json5", "The configuration of the machine.")],
        environment: [.init("XDG_CONFIG_HOME", "Where else it may be.")],
        seeAlso: ["sqlite3(1)"])

    @Test func manualPage() throws {
        try Snapshot.expect(page.rendered(), matches: "vitalgate.1")
    }

    @Test func manualPageIsCleanRoff() throws {
        let groff = try Tool("groff", ["-man", "-Tutf8", "-ww", "-rLL=80n", "-P-c", "-P-b", "-P-u"], input: page.rendered())
        #expect(groff.status == 0)
        #expect(groff.errors == "")
        // What roff would have eaten, or made typographic. The whole is not recorded: each version of groff has its own margins.
        let endangered = [
            ".profile files", "'quotes'", #"back\slashes"#, "a lone - is", "Größe or 体温", "> '.backup~1'", "--read-only",
        ]
        for text in endangered {
            #expect(groff.output.contains(text), "\(text)")
        }
    }

    @Test func manualPageHasADateOnlyIfGiven() {
        #expect(page.rendered().hasPrefix(#".TH "VITALGATE" "1" "" "vitalgate 1.0""#))
        var dated = page
        dated.date = "2024-05-01"
        #expect(dated.rendered().hasPrefix(#".TH "VITALGATE" "1" "2024\-05\-01" "vitalgate 1.0""#))
    }
}
