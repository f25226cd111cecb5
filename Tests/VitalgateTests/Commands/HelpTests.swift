import Testing

/// Help for every command, and the tables.
@Suite struct HelpTests {
    static let commands: [String] = [
        "", "import", "add", "decode", "query", "show", "stats", "changes", "observe", "ledger", "ledger list", "ledger show",
        "ledger undo", "delete", "deleted", "deleted list", "restore", "quarantine", "quarantine list", "quarantine show",
        "quarantine accept",
        "quarantine reject", "repair", "repair plan", "repair apply", "repair undo", "repair suggest", "repair dismiss",
        "repair list",
        "repair show", "profile", "profile list", "profile show", "profile check", "profile test", "profile suggest", "unit",
        "unit convert", "types", "setup", "store", "store check", "store backup", "store stats", "store merge", "store adopt",
        "store prune", "store restore", "alerts", "alerts list", "alerts add", "alerts remove", "alerts receivers", "alerts test",
        "alerts acknowledge", "alerts history",
        "alerts watch", "run", "status", "scan", "devices", "devices list", "devices adopt", "devices pair", "devices forget",
        "devices merge", "devices part", "devices assign", "devices request", "people", "people list", "people add",
        "people rename", "people remove", "people erase", "api", "api serve", "api openapi", "api certificate", "page",
        "page open", "page sessions", "sources", "sources list", "sources priority", "sources add", "sources remove",
        "characteristics",
        "characteristics list", "characteristics set", "estimate", "medications", "medications list", "medications set",
        "medications remove", "rings", "today", "clients", "clients list", "clients add", "clients token",
        "clients requires", "clients revoke", "clients forget", "clients grants", "clients grant", "clients withdraw",
        "clients requests", "clients log", "phones", "phones add", "phones list", "export", "targets", "targets add",
        "targets remove", "targets list",
        "targets status", "targets check", "targets retry", "targets skip", "targets verify", "targets restart", "collect",
        "fleet", "fleet enroll", "fleet join", "fleet hubs", "fleet status", "fleet revoke", "fleet replace", "fleet erase",
        "fleet command", "fleet set",
        "fleet profile", "fleet check", "fleet study", "fleet study list", "fleet study add", "fleet study remove",
        "fleet study consent", "fleet study withdraw", "fleet study hub", "fleet study reader", "fleet study copy",
        "fleet broker-config", "fleet key", "backup", "backup add", "backup list", "backup run", "backup check", "backup remove",
        "backup key", "backup restore", "update", "update status", "update check", "update apply", "doctor", "generate",
        "generate bash-completion", "generate zsh-completion",
        "generate fish-completion", "generate man", "generate udev", "generate devices", "capture", "replay",
    ]

    @Test func everyCommandHasHelp() throws {
        let folder = try TestFolder()
        for command in Self.commands {
            let words = command.split(separator: " ").map(String.init)
            let run = try folder.vitalgate(words + ["--help"])
            #expect(run.status == 0, "\(command)")
            #expect(run.errors.isEmpty, "\(command)")
            try Snapshot.expect(run.output, matches: "help/\(words.isEmpty ? "vitalgate" : words.joined(separator: "-")).txt")
            #expect(try folder.vitalgate(words + ["-h"]).output == run.output)
            #expect(try folder.vitalgate(["help"] + words).output == run.output)
        }
        #expect(!folder.exists("store.db"))
    }

    /// Each command in a help text has its own help, so none is missing above.
    @Test func noCommandIsForgotten() throws {
        let folder = try TestFolder()
        let others = ["Usage:", "Arguments:", "Options:", "Global options:", "Examples:"]
        var count = 0
        for command in Self.commands {
            let words = command.split(separator: " ").map(String.init)
            var isList = false
            for line in try folder.vitalgate(words + ["--help"]).output.split(separator: "\n") {
                if !line.hasPrefix(" ") { isList = line.hasSuffix(":") && !others.contains(String(line)) }
                // A summary that is continued has a deeper indentation.
                guard isList, line.hasPrefix("  "), !line.hasPrefix("   "), let name = line.split(separator: " ").first else {
                    continue
                }
                count += 1
                #expect(Self.commands.contains((words + [String(name)]).joined(separator: " ")), "\(words) \(name)")
            }
        }
        #expect(count == Self.commands.count - 1, "each is listed once, but for the program itself")
    }

    @Test(arguments: [
        (["migrate", "plan"], ["repair", "plan"]), (["ingest"], ["ledger"]), (["subjects", "add"], ["people", "add"]),
        (["clients", "ledger"], ["clients", "log"]),
    ]) func formerNamesAreAccepted(former: [String], name: [String]) throws {
        let folder = try TestFolder()
        #expect(try folder.vitalgate(former + ["--help"]).output == folder.vitalgate(name + ["--help"]).output)
        #expect(try folder.vitalgate("query", "all", "--subject", "nobody").status == 66)
    }

    @Test func printsVersion() throws {
        let run = try TestFolder().vitalgate("--version")
        #expect(run.output.wholeMatch(of: #/vitalgate \d+\.\d+\.\d+\n/#) != nil)
        #expect(run.status == 0)
    }
}

/// Tables of a store that does not change. The machine's time is masked.
@Suite struct TableTests {
    static func masked(_ text: String, _ folder: TestFolder) -> String {
        text.replacing(folder.root, with: "FOLDER")
            .replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/#, with: "YYYY-MM-DD hh:mm:ss")
            .replacing(#/hh:mm:ss [+-]\d\d:\d\d/#, with: "hh:mm:ss +hh:mm")
            .replacing(#/person +[0-9a-f-]{36}/#, with: "person       UUID")
            .replacing(#/schema \d+/#, with: "schema N")
            .replacing(#/size +.*/#, with: "size         SIZE")
    }

    @Test(arguments: [
        ("query-all", ["query", "all", "--from", "2026-01-01", "--time-zone", "Europe/Berlin"]),
        ("query-newest", ["query", "heartRate", "--sort=-start", "--limit", "2", "--unit", "/s"]),
        ("stats-steps", ["stats", "stepCount", "--every", "1d", "--time-zone", "Europe/Berlin"]),
        ("stats-heart-rate", ["stats", "heartRate", "--every", "1mo", "--by-source"]),
        ("ingest-list", ["ledger", "list"]), ("ingest-show", ["ledger", "show", "2"]),
        ("quarantine-list", ["quarantine", "list"]),
        ("store-stats", ["store", "stats"]),
    ])
    func looksAsItDid(name: String, arguments: [String]) throws {
        let folder = try Family.folder()
        try folder.vitalgate("import", "\(Repository.files)/omron_connect_3.csv", "--time-zone", "Europe/Berlin")
        let run = try folder.vitalgate(arguments)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let text =
            name.hasPrefix("query") || name.hasPrefix("stats") || name.hasPrefix("quarantine")
            ? run.output : Self.masked(run.output, folder)
        try Snapshot.expect(text, matches: "tables/\(name).txt")
    }

    /// The output of an import on both streams.
    @Test func importPrintsSummary() throws {
        let folder = try TestFolder()
        let run = try folder.vitalgate("import", "\(Repository.files)/omron_connect_3.csv", "--time-zone", "Europe/Berlin")
        let text = Self.masked(run.output + run.errors, folder).replacing(Repository.files + "/", with: "")
        try Snapshot.expect(text, matches: "tables/import.txt")
    }
}
