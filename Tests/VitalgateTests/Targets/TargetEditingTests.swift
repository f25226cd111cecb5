import ExportTesting
import FoundationEssentials
import Glibc
import Testing

/// `targets add` and `targets remove`, with real servers.
@Suite struct TargetEditingTests {
    private let folder: TestFolder
    private static let original = "// mine\n{\n    hub: { commitEvery: 5 }, // here\n    // The end.\n}\n"

    init() throws {
        folder = try TestFolder()
        try folder.write("config.json5", Self.original)
    }

    private var config: String { folder.text("config.json5") }

    private func store() throws { try folder.vitalgate("import", folder.write("a.csv", InboxTests.csv(3))) }

    /// Runs the program with a line on its standard input.
    private func typing(_ line: String, _ words: [String]) throws -> (status: Int32, output: String) {
        let quoted = ([try Vitalgate.binary()] + (try folder.options()) + words).map { "'\($0)'" }.joined(separator: " ")
        let run = try RunningVitalgate(
            command: ["/bin/sh", "-c", "printf '%s\\n' '\(line)' | \(quoted) 2>&1"],
            environment: Vitalgate.environment(home: folder.root)
        ).wait()
        return (run.status, run.output)
    }

    @Test func homeAssistantIsCheckedFilledAndCleared() throws {
        try store()
        let server = try HomeAssistantServer()
        defer { server.kill() }
        let words = ["targets", "add", "homeassistant", "house", "url=\(server.url)", "token=-"]
        let wrong = try typing("guess", words)
        #expect(wrong.status == 69 && wrong.output.contains("was not changed") && !wrong.output.contains("guess"), "\(wrong)")
        let member = try typing("member", words)
        #expect(member.status == 69 && member.output.contains("administrator"), "\(member)")
        let right = try typing("good", words)
        #expect(right.status == 0 && right.output.contains("Home Assistant 2026.2.3"), "\(right)")
        #expect(folder.mode("house.token") == 0o600)
        let far = try typing("good", ["targets", "add", "homeassistant", "far", "url=http://ha.example.org", "token=-"])
        #expect(far.status == 64 && far.output.contains("unencrypted"), "\(far)")

        var run = try folder.vitalgate("targets", "verify", "house", "--dry-run", "--format", "ndjson")
        #expect(run.status == 65 && run.output.contains("\"equal\":0,"), "\(run)")
        run = try folder.vitalgate("export", "house", "--once")
        #expect(run.status == 0 && run.errors.contains("3 changes delivered"), "\(run)")
        run = try folder.vitalgate("targets", "verify", "house", "--dry-run", "--format", "ndjson")
        #expect(run.status == 0 && run.output.contains("\"missing\":0,"), "\(run)")
        run = try folder.vitalgate("targets", "remove", "house", "--delete")
        #expect(run.status == 0 && run.errors.contains("1 statistic removed there"), "\(run)")
        #expect(!config.contains("house"))
    }

    @Test func aBrokerIsCheckedAndAdded() throws {
        try store()
        let broker = try Broker { folder in
            try ServerProcess.run(["/usr/bin/mosquitto_passwd", "-b", "-c", "\(folder)/passwords", "me", "s3cret"])
            chmod("\(folder)/passwords", 0o644)
            return ["allow_anonymous false", "password_file \(folder)/passwords"]
        }
        let words = ["targets", "add", "mqtt", "home", "url=mqtt://127.0.0.1:\(broker.port)", "user=me", "password=-"]
        let wrong = try typing("guess", words)
        #expect(wrong.status == 69 && wrong.output.contains("was not changed"), "\(wrong)")
        #expect(config == Self.original && !folder.exists("home.password"))

        let right = try typing("s3cret", words)
        #expect(right.status == 0 && right.output.contains("added the target 'home'"), "\(right)")
        #expect(right.output.contains("vitalgate run") && !right.output.contains("s3cret"), "\(right)")
        #expect(folder.mode("home.password") == 0o600 && folder.text("home.password") == "s3cret\n")
        let secret = "password: { file: \"\(folder.path("home.password"))\" }"
        let member = "home: { kind: \"mqtt\", url: \"mqtt://127.0.0.1:\(broker.port)\", user: \"me\", \(secret) },"
        #expect(
            config == Self.original.replacing("// The end.\n", with: "// The end.\n    targets: {\n        \(member)\n    },\n"))
        let sent = try folder.vitalgate("export", "home", "--once")
        #expect(sent.status == 0 && sent.errors.contains("3 changes delivered"), "\(sent)")

        let again = try folder.vitalgate("targets", "add", "files", "home", "folder=/x")
        #expect(again.status == 64 && again.errors.contains("already has a target 'home'"), "\(again)")
        let removed = try folder.vitalgate("targets", "remove", "home")
        #expect(removed.status == 0 && removed.errors.contains("is still in \(folder.path("home.password"))"), "\(removed)")
        #expect(config.contains("// mine") && config.contains("// here") && !config.contains("home"))
        #expect(try folder.vitalgate("targets", "remove", "home").status == 64)
        // A file that is there is not overwritten.
        let retained = try typing("other", words)
        #expect(retained.status == 64 && retained.output.contains("exists already"), "\(retained)")
        #expect(folder.text("home.password") == "s3cret\n")
    }

    @Test func aDatabaseIsCreatedAndAdded() throws {
        try store()
        let server = try PostgreSQLServer.shared.get()
        let schema = "added_\(getpid())"
        let words = [
            "targets", "add", "postgresql", "db", "host=\(server.folder)", "database=postgres", "user=vitalgate",
            "schema=\(schema)",
        ]
        let missing = try folder.vitalgate(words)
        #expect(missing.status == 69 && missing.errors.contains("was not changed"), "\(missing)")
        #expect(config == Self.original)
        let added = try folder.vitalgate(words + ["types=Heart Rate,weight", "--create"])
        #expect(added.status == 0 && added.output.contains("accepts a delivery"), "\(added)")
        #expect(try folder.vitalgate("export", "db", "--once").errors.contains("3 changes delivered"))
    }

    @Test func withoutACheck() throws {
        let unreachable = ["targets", "add", "influxdb", "points", "url=http://127.0.0.1:1", "database=health"]
        try store()
        #expect(try folder.vitalgate(unreachable).status == 69)
        #expect(config == Self.original)
        #expect(try folder.vitalgate(unreachable + ["--no-check"]).status == 0)
        #expect(try folder.vitalgate("targets", "list", "--names").output == "points\n")
        #expect(try folder.vitalgate(unreachable + ["--no-check", "--create"]).status == 64)
    }

    /// Each kind with its least settings. Before the first reading, there is no store to check with.
    /// A new account has no folder for configurations yet.
    @Test func withoutAnyFolder() throws {
        let words = ["targets", "add", "files", "archive", "folder=\(folder.path("archive"))", "--no-check"]
        let run = try RunningVitalgate(words, environment: Vitalgate.environment(home: folder.path("new/home"))).wait()
        #expect(run.status == 0, "\(run.errors)")
        #expect(folder.text("new/home/.config/vitalgate/config.json5").contains("archive: {"))
    }

    @Test func eachKind() throws {
        let kinds = [
            ("files", ["folder=\(folder.path("archive"))"]), ("postgresql", ["database=a", "user=b"]),
            ("influxdb", ["url=http://localhost:8086", "bucket=a", "org=b", "token.environment=T"]),
            ("mqtt", ["url=mqtts://broker"]), ("fhir", ["url=https://fhir.example.org/r4", "patient=Patient/7"]),
            ("webhook", ["url=http://localhost:9000", "secret.file=/etc/secret"]),
            ("command", ["command=/bin/cat", "command=-n"]),
        ]
        for (kind, settings) in kinds {
            let run = try folder.vitalgate(["targets", "add", kind, "a-\(kind)"] + settings)
            #expect(run.status == 0 && run.errors.contains("no store yet"), "\(run)")
        }
        #expect(try folder.vitalgate("targets", "list", "--names").output == kinds.map { "a-\($0.0)\n" }.sorted().joined())
        for (kind, _) in kinds { #expect(try folder.vitalgate("targets", "remove", "a-\(kind)").status == 0) }
        let left = Self.original.replacing("\n}\n", with: "\ntargets:{},}").filter { !$0.isWhitespace }
        #expect(config.filter { !$0.isWhitespace } == left)
    }

    @Test(arguments: [
        (["mqtt", "home"], "'targets.home.url': is missing"), (["mqtt", "home", "url=x"], "expected mqtt://HOST:PORT"),
        (["mqtt", "Home", "url=mqtt://h"], "a target's name has"), (["mqtt", "home", "password=p"], "password.file=/PATH"),
        (["mqtt", "home", "server=h"], "unknown key for mqtt"), (["telegraf", "home"], "files, postgresql"),
        (["files", "a", "folder=/a", "types=pulses"], "unknown type 'pulses'"),
        (["files", "a", "folder=a"], "must begin with /"),
        (["files", "a", "folder=/a", "where=start > -7d"], "changes with the time of day"),
    ])
    func invalidSettingsChangeNothing(words: [String], message: String) throws {
        let run = try folder.vitalgate(["targets", "add"] + words + ["--no-check"])
        #expect(run.status == 64 && run.errors.contains(message), "\(run)")
        #expect(config == Self.original)
    }

    /// A file that is not valid, or that a user wrote in an unusual way, is not changed.
    @Test func anUnusualFileIsNotChanged() throws {
        for text in ["{ targets: null }\n", "{ targets: {}, targets: {} }\n", "{ \"t\\x61rgets\": null }\n", "{\n"] {
            try folder.write("config.json5", text)
            #expect(try folder.vitalgate("targets", "add", "files", "a", "folder=/a", "--no-check").status != 0 || config != text)
            if !text.contains("x61") { #expect(config == text) }
        }
    }

    @Test func aLinkStaysALink() throws {
        try folder.write("real.json5", Self.original)
        unlink(folder.path("config.json5"))
        #expect(symlink(folder.path("real.json5"), folder.path("config.json5")) == 0)
        #expect(try folder.vitalgate("targets", "add", "files", "a", "folder=/a", "--no-check").status == 0)
        var status = stat()
        #expect(lstat(folder.path("config.json5"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(folder.text("real.json5").contains("folder: \"/a\""))
    }
}
