import FoundationEssentials
import Glibc
import Testing

/// Several processes on one store, stopped processes, and invalid stores.
@Suite struct ProcessTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Readings at intervals of one second from a time on, built from bytes because there are many.
    static func rows(_ count: Int, type: String = "heartRate", unit: String = "/min", from second: Int = 0) -> [UInt8] {
        var bytes = Array("time,type,value,unit\n".utf8)
        var row = Array("2026-01-00T00:00:00Z,\(type),000.0,\(unit)\n".utf8)
        let value = row.count - unit.utf8.count - 7
        bytes.reserveCapacity(bytes.count + count * row.count)
        func put(_ number: Int, _ digits: Int, at index: Int) {
            var rest = number
            for place in stride(from: index + digits - 1, through: index, by: -1) {
                row[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
        }
        for index in second..<second + count {
            put(1 + index / 86_400 % 28, 2, at: 8)
            put(index / 3600 % 24, 2, at: 11)
            put(index / 60 % 60, 2, at: 14)
            put(index % 60, 2, at: 17)
            put(50 + index % 100, 3, at: value)
            put(index % 10, 1, at: value + 4)
            bytes += row
        }
        return bytes
    }

    static let person = ["--person", Family.person]

    /// All samples of a type, through a tool of the system: there are many.
    func samples(of type: String = "all", through tool: String, store: String? = nil) throws -> String {
        let run = try RunningVitalgate(
            folder.options(store: store) + ["query", type, "--format", "ndjson"],
            environment: Vitalgate.environment(home: folder.root), wrapper: ["/bin/sh", "-c", "\"$0\" \"$@\" | \(tool)"]
        ).wait()
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        return run.output
    }

    /// The content without the times and the order of receipt.
    func content(of type: String = "all", store: String? = nil) throws -> String {
        try samples(of: type, through: "sed 's/\"received\":\"[^\"]*\"//; s/,\"ingest\":.*//'", store: store)
    }

    func count(_ type: String = "all") throws -> Int? { Int(try samples(of: type, through: "wc -l").dropLast()) }

    func accounts() throws -> [Account] {
        try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.map { try Account($0) }
    }

    // MARK: Side by side

    /// An import runs while another one and readers start: none waits endlessly, none sees half a commit, and nothing is lost.
    @Test func twoImportsAndReadersAtOnce() throws {
        let one = try folder.write("one.csv", Self.rows(20_000))
        let two = try folder.write("two.csv", Self.rows(20_000, type: "height", unit: "cm"))
        let first = try folder.start("import", one, "--format", "ndjson")
        let second = try folder.start("import", two, "--format", "ndjson")
        // What both are about to make, a reader may not find yet.
        var last = 0
        for _ in 0..<5 {
            let run = try folder.vitalgate("stats", "heartRate", "--every", "1y", "--format", "ndjson")
            #expect([0, 65, 66].contains(run.status), "\(run.errors)")
            let count = try run.objects().first?["count"].integer ?? 0
            #expect(count >= last)
            last = count
        }
        let runs = try [first.wait(), second.wait()]
        for run in runs {
            #expect(run.status == 0, "\(run.errors)")
            let account = try Account(run.last)
            #expect(account.stored == 20_000)
            #expect(account.addsUp)
        }
        #expect(try count() == 40_000)
        #expect(try accounts().map(\.state) == ["done", "done"])
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        // Each change has its number once.
        #expect(try samples(through: "sed 's/.*\"seq\"://' | sort -u | wc -l") == "40000\n")
    }

    /// The same file at the same time: every reading once.
    @Test func theSameFileAtTheSameTime() throws {
        let file = try folder.write("one.csv", Self.rows(15_000))
        let processes = try (0..<3).map { _ in try folder.start("import", file, "--format", "ndjson") }
        let accounts = try processes.map { process in
            let run = try process.wait()
            #expect(run.status == 0, "\(run.errors)")
            return try Account(run.last)
        }
        #expect(accounts.allSatisfy { $0.addsUp })
        #expect(accounts.map(\.stored).reduce(0, +) == 15_000)
        #expect(try count() == 15_000)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    /// A copy made during a write is a complete store.
    @Test func aCopyDuringAnImport() throws {
        try folder.vitalgate("import", try folder.write("small.csv", Self.rows(10)))
        let writer = try folder.start("import", try folder.write("one.csv", Self.rows(20_000, from: 1000)))
        for number in 0..<3 {
            let copy = folder.path("copy\(number).db")
            #expect(try folder.vitalgate("store", "backup", copy).status == 0)
            #expect(try folder.vitalgate(["store", "check"], store: copy).output == "ok\n")
        }
        #expect(try writer.wait().status == 0)
    }

    // MARK: Stopped

    /// Interrupted in the middle: the readings so far are stored and counted, and another run completes them.
    @Test(arguments: [SIGINT, SIGTERM]) func anInterruption(signal: Int32) throws {
        try folder.vitalgate("import", try folder.write("small.csv", "time,type,value,unit\n2026-02-01T00:00:00Z,height,1.8,m\n"))
        let file = try folder.write("long.csv", Self.rows(300_000))
        let process = try folder.start("import", file, "--format", "ndjson")
        // It has started as soon as it is in the ledger.
        while try accounts().count < 2 {}
        process.signal(signal)
        let run = try process.wait()
        #expect(run.status == 75, "\(run.errors)")
        #expect(run.errors.contains("interrupted"))
        let account = try Account(run.last)
        #expect(account.state == "interrupted")
        #expect(account.addsUp)
        #expect(account.stored < 300_000)
        #expect(try accounts().map(\.state) == ["done", "interrupted"])
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        let again = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(again.status == 0)
        let second = try Account(again.last)
        #expect(second.read == 300_000)
        #expect(second.duplicate == account.stored)
        #expect(second.stored == 300_000 - account.stored)
        #expect(second.state == "done")
    }

    /// Ten kills at any moment, then a run to the end: the same content as without them (promise 5).
    @Test func tenKills() throws {
        let rows = Self.rows(30_000)
        let file = try folder.write("long.csv", rows)
        let whole = folder.path("whole.db")
        let options = Self.person + ["--format", "ndjson"]
        let began = Self.microseconds()
        try folder.vitalgate(["import", file] + options, store: whole)
        let length = Self.microseconds() - began
        for _ in 0..<10 {
            let process = try folder.start("import", file, "--person", Family.person)
            // Somewhere between its start and its end, as long as a whole run took.
            let end = Self.microseconds() + Int.random(in: 0...max(length, 1000))
            while Self.microseconds() < end { poll(nil, 0, 1) }
            process.signal(SIGKILL)
            _ = try process.wait()
            if folder.exists("store.db"), try folder.vitalgate("ledger", "list").status == 0 {
                #expect(try folder.vitalgate("store", "check").output == "ok\n")
            }
        }
        let last = try folder.vitalgate(["import", file] + options)
        #expect(last.status == 0, "\(last.errors)")
        #expect(try Account(last.last).addsUp)
        #expect(try content() == content(store: whole))
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        // The report of a killed run covers its commits, and shows that it did not finish.
        for account in try accounts().dropLast() {
            #expect(account.addsUp)
            #expect(account.state == "interrupted" || account.state == "done")
        }
        #expect(try accounts().last?.state == "done")
    }

    static func microseconds() -> Int {
        var clock = timespec()
        clock_gettime(CLOCK_MONOTONIC, &clock)
        return clock.tv_sec * 1_000_000 + clock.tv_nsec / 1000
    }

    // MARK: Places

    /// A disk that fills up: a clear error, and everything acknowledged before is there.
    @Test func aFullDisk() throws {
        // A limit on file sizes simulates the disk's, because it needs neither a privilege nor a disk.
        let small = try folder.write("small.csv", Self.rows(500))
        #expect(try folder.vitalgate("import", small).status == 0)
        let before = try content()
        let file = try folder.write("long.csv", Self.rows(100_000, type: "bodyMass", unit: "kg"))
        let run = try RunningVitalgate(
            folder.options() + ["import", file, "--format", "ndjson"], environment: Vitalgate.environment(home: folder.root),
            wrapper: ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""]
        ).wait()
        #expect(run.status == 74, "\(run.status) \(run.errors)")
        #expect(!run.errors.isEmpty)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        #expect(try content(of: "heartRate") == before)
        for account in try accounts() { #expect(account.addsUp) }
        let again = try folder.vitalgate("import", file, "--format", "ndjson")
        #expect(again.status == 0)
        #expect(try count("bodyMass") == 100_000)
    }

    /// The same on a full disk, if the system lets the tests create one (a private file system in memory). After space is freed, the import
    /// succeeds.
    @Test func aFullFileSystem() throws {
        let small = try folder.write("small.csv", Self.rows(500))
        let long = try folder.write("long.csv", Self.rows(50_000, type: "bodyMass", unit: "kg"))
        try FileManager.default.createDirectory(atPath: folder.path("disk"), withIntermediateDirectories: false)
        let script = """
            disk=$1; small=$2; long=$3; shift 3
            mount -t tmpfs -o size=1200k,mode=700 tmpfs "$disk" 2>/dev/null || exit 99
            "$0" "$@" import "$small" >/dev/null 2>&1; echo "small $?"
            "$0" "$@" import "$long" >/dev/null; echo "long $?"
            "$0" "$@" store check; echo "check $?"
            "$0" "$@" query heartRate --format csv | wc -l
            mount -o remount,size=64m "$disk"
            "$0" "$@" import "$long" >/dev/null; echo "again $?"
            "$0" "$@" query all --format csv | wc -l
            "$0" "$@" store check
            """
        let run = try RunningVitalgate(
            [folder.path("disk"), small, long] + folder.options(store: folder.path("disk/store.db")),
            environment: Vitalgate.environment(home: folder.root, ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]),
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script]
        ).wait()
        // Without the privilege to mount, only the limit above was tested.
        guard run.status == 0 else {
            #expect(run.status == 99 || run.errors.contains("unshare"), "\(run.status) \(run.errors)")
            return
        }
        #expect(
            run.output == """
                small 0
                long 74
                ok
                check 0
                501
                again 0
                50501
                ok

                """)
        #expect(run.errors.contains("no space left for the store"), "\(run.errors)")
    }

    @Test func reportsUncreatableStore() throws {
        let file = try folder.write("small.csv", Self.rows(5))
        for path in ["/proc/self/none/store.db", "/dev/null/store.db", "\(file)/store.db"] {
            let run = try folder.vitalgate(["import", file], store: path)
            #expect(run.status == 74, "\(run.errors)")
            #expect(run.output.isEmpty)
            #expect(!run.errors.isEmpty)
        }
    }

    @Test func aReadOnlyStore() throws {
        let file = try folder.write("small.csv", Self.rows(5))
        try folder.vitalgate("import", file)
        let more = try folder.write("more.csv", Self.rows(5, from: 100))
        chmod(folder.store, 0o400)
        let environment = Vitalgate.environment(home: folder.root)
        func run(_ arguments: String...) throws -> Vitalgate.Run {
            try Vitalgate.runWithoutPrivileges(folder.options() + arguments, environment: environment)
        }
        let refused = try run("import", more)
        #expect(refused.status == 74 || refused.status == 77, "\(refused.status) \(refused.errors)")
        #expect(refused.output.isEmpty)
        #expect(try run("query", "all", "--format", "csv").lines.count == 6)
        chmod(folder.store, 0o600)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        #expect(try folder.vitalgate("query", "all", "--format", "csv").lines.count == 6)
    }

    @Test func reportsReadOnlyFolder() throws {
        try FileManager.default.createDirectory(atPath: folder.path("closed"), withIntermediateDirectories: false)
        chmod(folder.path("closed"), 0o500)
        defer { chmod(folder.path("closed"), 0o700) }
        let file = try folder.write("small.csv", Self.rows(5))
        let run = try Vitalgate.runWithoutPrivileges(
            folder.options(store: folder.path("closed/store.db")) + ["import", file],
            environment: Vitalgate.environment(home: folder.root))
        #expect(run.status == 77, "\(run.errors)")
        #expect(run.errors.contains("closed/store.db"))
        let deeper = try Vitalgate.runWithoutPrivileges(
            folder.options(store: folder.path("closed/deep/store.db")) + ["import", file],
            environment: Vitalgate.environment(home: folder.root))
        #expect(deeper.status == 77, "\(deeper.errors)")
    }

    /// A foreign file is not changed.
    @Test func aForeignFile() throws {
        let file = try folder.write("small.csv", Self.rows(5))
        let foreign: [(String, [UInt8])] = [
            ("text.db", Array("Dear diary".utf8)), ("random.db", (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }),
            ("header.db", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 7, count: 4080)),
        ]
        for (name, bytes) in foreign {
            let path = try folder.write(name, bytes)
            for arguments in [["import", file], ["query", "all"], ["store", "check"]] {
                let run = try folder.vitalgate(arguments, store: path)
                #expect(run.status == 65, "\(name) \(arguments): \(run.errors)")
                #expect(run.output.isEmpty)
                #expect(run.errors.contains(name), "\(run.errors)")
            }
            #expect(try folder.bytes(name) == bytes)
        }
        let directory = try folder.vitalgate(["import", file], store: folder.root)
        #expect(directory.status == 65 || directory.status == 74)
        #expect(!directory.errors.isEmpty)
    }

    /// A store of a later version: `user_version` is at byte 60 of the file (SQLite's file format, 1.3).
    @Test func aNewerStore() throws {
        let file = try folder.write("small.csv", Self.rows(5))
        try folder.vitalgate("import", file)
        for suffix in ["-wal", "-shm"] { unlink(folder.store + suffix) }
        var bytes = try folder.bytes("store.db")
        bytes[60..<64] = [0, 0, 0x03, 0xE7]
        let path = try folder.write("newer.db", bytes)
        for arguments in [["import", file], ["query", "all"]] {
            let run = try folder.vitalgate(arguments, store: path)
            #expect(run.status == 65)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("newer Vitalgate (schema 999"), "\(run.errors)")
        }
    }

    /// A truncated or overwritten store is reported and never accepted.
    @Test func aDamagedStore() throws {
        let file = try folder.write("long.csv", Self.rows(20_000))
        try folder.vitalgate("import", file)
        let bytes = try folder.bytes("store.db")
        var torn = bytes
        // Whole pages: the content within a page has no checksum, and only the check compares it with the rest.
        let page = 4096
        for index in bytes.count / 2 / page * page..<bytes.count * 3 / 4 { torn[index] = 0x5A }
        for (name, damaged) in [
            ("cut.db", Array(bytes.prefix(bytes.count / 2))), ("torn.db", torn), ("stub.db", Array(bytes.prefix(100))),
        ] {
            let path = try folder.write(name, damaged)
            let run = try folder.vitalgate(["store", "check"], store: path)
            #expect(run.status == 65, "\(name): \(run.status) \(run.errors)")
            #expect(run.output != "ok\n")
            let query = try folder.vitalgate(["query", "all"], store: path)
            #expect(query.status == 65, "\(name): \(query.status) \(query.errors)")
            #expect(!query.errors.isEmpty)
        }
    }

    /// A log that outlived its store is not played into a new one (story 34).
    @Test func refusesLogWithoutStore() throws {
        let file = try folder.write("small.csv", Self.rows(5))
        try folder.write("store.db-wal", [UInt8](repeating: 1, count: 4096))
        let run = try folder.vitalgate("import", file)
        #expect(run.status == 65)
        #expect(run.errors.contains("store.db-wal"))
        #expect(!folder.exists("store.db"))
    }
}
