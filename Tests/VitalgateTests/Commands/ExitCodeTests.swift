import FoundationEssentials
import Glibc
import Testing

/// Exit codes after sysexits, data on stdout and nothing else, errors on stderr.
@Suite struct ExitCodeTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    /// Invalid command lines: 64.
    static let wrongLines: [[String]] = [
        [], ["bogus"], ["query"], ["query", "nosuch"], ["query", "heartRat"], ["query", "heartRate", "--from", "yesterdayish"],
        ["query", "heartRate", "--limit", "x"], ["query", "heartRate", "--limit", "-1"],
        ["query", "heartRate", "--format", "xml"],
        ["query", "heartRate", "--sort", "height"], ["query", "heartRate", "--where", "value >"],
        ["query", "heartRate", "--where", "bogus = 3"], ["query", "heartRate", "--person", "bob"],
        ["query", "heartRate", "bodyMass"], ["query", "heartRate", "--bogus"],
        ["query", "heartRate", "--time-zone", "Mars/Base"],
        ["import"], ["import", "household.csv", "--date-order", "XYZ"], ["stats", "heartRate"],
        ["stats", "heartRate", "--every", "1q"], ["stats", "all", "--every", "1d"], ["changes", "--after", "x"], ["ingest"],
        ["ledger", "show"], ["ledger", "show", "x"], ["delete"], ["delete", "x"], ["restore"], ["store"], ["store", "backup"],
        ["unit"],
        ["unit", "convert"], ["quarantine", "accept", "x"], ["help", "bogus"],
    ]

    @Test func aWrongLineIsAUsageError() throws {
        var output = ""
        for line in Self.wrongLines {
            let run = try folder.vitalgate(line)
            #expect(run.status == 64, "\(line)")
            #expect(run.output.isEmpty, "\(line)")
            output += "$ vitalgate \(line.joined(separator: " "))\n\(run.errors)"
        }
        try Snapshot.expect(output, matches: "errors-usage.txt")
    }

    @Test func errorsHaveReasonsAndExitCodes() throws {
        let unknown = "01960000-0000-8000-8000-000000000000"
        let cases: [([String], Int32)] = [
            (["query", "heartRate", "--unit", "kg"], 65), (["query", "heartRate", "--unit", "nonsense"], 65),
            (["query", "heartRate", "--where", "value > 3 kg"], 65), (["query", unknown], 65), (["delete", unknown], 65),
            (["restore", unknown], 65), (["ledger", "show", "99"], 65), (["ledger", "undo", "99"], 65),
            (["quarantine", "accept", "99"], 65),
            (["unit", "convert", "1", "kg", "Cel"], 65), (["unit", "convert", "1", "KG", "kg"], 65),
            (["unit", "convert", "5", "mmol/L", "mg/dL"], 65),
        ]
        var output = ""
        for (line, status) in cases {
            let run = try folder.vitalgate(line)
            #expect(run.status == status, "\(line)")
            #expect(run.output.isEmpty, "\(line)")
            output += "$ vitalgate \(line.joined(separator: " "))\n\(run.errors)"
        }
        try Snapshot.expect(output, matches: "errors-data.txt")
    }

    @Test func aMissingStoreIsNoInput() throws {
        for line in [
            ["query", "all"], ["stats", "heartRate", "--every", "1d"], ["changes"], ["ledger", "list"], ["store", "check"],
            ["delete", "--type", "all", "--yes"],
        ] {
            let run = try folder.vitalgate(line, store: folder.path("none.db"))
            #expect(run.status == 66, "\(line): \(run.errors)")
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("none.db"))
            #expect(!folder.exists("none.db"))
        }
    }

    /// A missing file is reported, and the others are imported.
    @Test func aMissingFileIsNoInput() throws {
        let alone = try folder.vitalgate(["import", folder.path("none.csv")], store: folder.path("none.db"))
        #expect(alone.status == 66)
        #expect(alone.errors.contains("none.csv"))
        #expect(!folder.exists("none.db"))
        let good = try folder.write("good.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,height,1.8,m\n")
        let both = try folder.vitalgate("import", folder.path("none.csv"), good, "--format", "ndjson")
        #expect(both.status == 66)
        #expect(both.errors.contains("none.csv"))
        #expect(both.lines.count == 1)
        #expect(try Account(both.last).stored == 1)
    }

    @Test func reportsMissingConfiguration() throws {
        let options = ["--store", folder.store, "--config", folder.path("none.json5")]
        let run = try Vitalgate.run(options + ["query", "all"], environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 78)
        #expect(run.errors.contains("none.json5"))
        try folder.write("wrong.json5", "{ stor: 'x' }")
        let wrong = try Vitalgate.run(
            ["--config", folder.path("wrong.json5"), "query", "all"], environment: Vitalgate.environment(home: folder.root))
        #expect(wrong.status == 78)
        #expect(wrong.errors.contains("stor"))
    }

    /// This value becomes an identity forever.
    @Test(arguments: ["abc", "", "me", "unassigned", "7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e5"]) func refusesUnknownPerson(
        person: String
    ) throws {
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        try folder.write("subject.json5", "{ subject: \"\(person)\" }")
        let options = [
            "--store", folder.path("new.db"), "--config", folder.path("subject.json5"), "--profiles", Repository.profiles,
        ]
        let run = try Vitalgate.run(options + ["import", file], environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 78)
        #expect(run.errors.contains("subject: must be a UUID"))
        #expect(!folder.exists("new.db"))
    }

    @Test func acceptsKnownPerson() throws {
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        try folder.write("subject.json5", "{ subject: \"7F9C24E8-3B1D-4C52-9F0E-2A6D1B8C4E57\" }")
        let options = [
            "--store", folder.path("new.db"), "--config", folder.path("subject.json5"), "--profiles", Repository.profiles,
        ]
        let run = try Vitalgate.run(options + ["import", file], environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 0)
        let stats = try Vitalgate.run(options + ["store", "stats"], environment: Vitalgate.environment(home: folder.root))
        #expect(stats.output.contains("7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57"))
        // A name that the store knows is as good.
        #expect(try folder.vitalgate("people", "add", "Anna").status == 0)
        try folder.write("named.json5", "{ subject: \"Anna\" }")
        let named = ["--store", folder.store, "--config", folder.path("named.json5"), "--profiles", Repository.profiles]
        #expect(try Vitalgate.run(named + ["import", file], environment: Vitalgate.environment(home: folder.root)).status == 0)
    }

    /// Another program holds the store for longer than one waits: try again (75), and nothing is broken.
    @Test func aStoreInUseIsForLater() throws {
        // A reader that stays, so that the file of shared memory is alive.
        let pipe = try Pipe()
        let follower = try folder.start("changes", "--follow", output: pipe)
        #expect(try pipe.readLines(10).count == 10)
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        // SQLite's lock of who writes: byte 120 of that file.
        let descriptor = open(folder.store + "-shm", O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        try #require(fcntl(descriptor, F_SETLK, &lock) == 0)
        // Reading continues in the meantime.
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines.count == 10)
        let run = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(run.status == 75, "\(run.errors)")
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("try again"))
        close(descriptor)
        let again = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(again.status == 0)
        #expect(try Account(again.last).stored == 1)
        // The follower has received it.
        let line = try JSON(try #require(pipe.readLines(1).first))
        #expect(line["value"].double == 61)
        #expect(line["seq"].integer == 11)
        follower.signal(SIGINT)
        #expect(try follower.wait().status == 128 + SIGINT)
    }

    /// A lock that fails for a moment only (SQLite's “locking protocol”) is for later too.
    @Test func failedLockIsTemporary() throws {
        try folder.vitalgate("query", "all")
        let descriptor = open(folder.store + "-shm", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        try #require(fcntl(descriptor, F_SETLK, &lock) == 0)
        #expect(try folder.vitalgate("query", "all").status == 75)
    }

    /// A reader that leaves early is not an error.
    @Test func aClosedPipeIsNoError() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        close(ends[0])
        defer { close(ends[1]) }
        let run = try folder.vitalgate(["query", "all", "--format", "ndjson"], output: ends[1])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    /// Data that cannot be written is an error of I/O.
    @Test func aFullDeviceIsAnError() throws {
        let descriptor = open("/dev/full", O_WRONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let run = try folder.vitalgate(["query", "all", "--format", "ndjson"], output: descriptor)
        #expect(run.status == 74)
        #expect(!run.errors.isEmpty)
    }
}
