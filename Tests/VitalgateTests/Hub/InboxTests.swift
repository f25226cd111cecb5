import Glibc
import Testing

/// Files that are put into the inbox of a real hub.
@Suite struct InboxTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static func csv(_ count: Int, day: Int = 1) -> String {
        var text = "time,type,value,unit\n"
        for second in 0..<count {
            text += "2026-01-0\(day)T00:00:\(second < 10 ? "0" : "")\(second)Z,heartRate,\(60 + second),/min\n"
        }
        return text
    }

    @Test func movesFilesWithAccount() throws {
        mkdir(folder.path("inbox"), 0o700)
        try folder.write("inbox/before.csv", Self.csv(3))
        let hub = try RunningHub.started(folder)
        try hub.waitsFor("inbox/done/before.csv.account.json")
        try hub.drop("closed.csv", Self.csv(4))
        try hub.waitsFor("inbox/done/closed.csv.account.json")
        let moved = try folder.write("moved.tmp", Self.csv(5))
        #expect(rename(moved, folder.path("inbox/moved.csv")) == 0)
        try hub.waitsFor("inbox/done/moved.csv.account.json")
        try hub.drop("nonsense.txt", "no table\n")
        try hub.waitsFor("inbox/refused/nonsense.txt.account.json")
        try hub.drop("half.csv", Self.csv(1, day: 2) + "2026-01-02T00:00:01Z,heartRate,many,/min\n")
        try hub.waitsFor("inbox/refused/half.csv.account.json")
        let run = try hub.stop()
        #expect(run.status == 0)

        var account = try hub.account("done/before.csv")
        #expect((account["file"].text, account["read"].integer, account["stored"].integer) == ("before.csv", 3, 3))
        account = try hub.account("done/closed.csv")
        #expect((account["stored"].integer, account["duplicate"].integer) == (1, 3))
        account = try hub.account("refused/half.csv")
        #expect((account["stored"].integer, account["refused"].integer) == (1, 1))
        #expect(folder.text("inbox/refused/half.csv.account.json").contains("line 3"))
        account = try hub.account("refused/nonsense.txt")
        #expect(account["error"].text?.contains("no profile reads this file") == true)
        #expect(account["ingest"] == .null)
        // The moved file is the original.
        #expect(folder.text("inbox/refused/nonsense.txt") == "no table\n")
        #expect(folder.mode("inbox/done/before.csv.account.json") == 0o600)
        #expect(folder.mode("inbox/done") == 0o700)
        // The log contains neither names nor values of files.
        for word in ["before", "nonsense", "many"] { #expect(!run.errors.contains(word), "\(run.errors)") }
    }

    /// The arguments of a process can be read by every user of the machine.
    @Test func noNameInTheListOfProcesses() throws {
        mkdir(folder.path("inbox"), 0o700)
        func two(_ number: Int) -> String { "\(number / 10)\(number % 10)" }
        let rows = (0..<80_000).map { second in
            "2026-01-01T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))Z,heartRate,\(60 + second % 40),/min\n"
        }
        let text = "time,type,value,unit\n" + rows.joined()
        let hub = try RunningHub.started(folder)
        try hub.drop("Jane-Doe-7f3a.csv", text)
        var isSeen = false
        try hub.waits {
            for process in Self.arguments() {
                if process.contains("--files-from") { isSeen = true }
                if process.contains("Jane-Doe-7f3a") { Issue.record("\(process)") }
            }
            return ["done", "refused"].contains { folder.exists("inbox/\($0)/Jane-Doe-7f3a.csv.account.json") }
        }
        #expect(isSeen)
        _ = try hub.stop()
    }

    /// The arguments of each process of the machine.
    private static func arguments() -> [String] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.allSatisfy(\.isNumber), let file = fopen("/proc/\(name)/cmdline", "r") else { continue }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = fread(&bytes, 1, bytes.count, file)
            found.append(String(decoding: bytes.prefix(count), as: UTF8.self))
        }
        return found
    }

    /// A file that cannot be moved is logged without its name, which may be a person's name or forge a line of the log.
    @Test func logOmitsNameOfUnmovableFile() throws {
        let name = "Jane\nwarning: forged.csv"
        for folder in ["inbox", "inbox/done", "inbox/done/.\(name).account.json"] { mkdir(self.folder.path(folder), 0o700) }
        let hub = try RunningHub.started(folder)
        try hub.drop(name, Self.csv(2))
        try hub.waits { hub.program.errors.contains("cannot be moved") }
        #expect(hub.program.errors.contains("cannot be moved to 'done': Is a directory"), "\(hub.program.errors)")
        #expect(!hub.program.errors.contains("Jane") && !hub.program.errors.contains("forged"))
        // When the cause is removed, it is moved.
        rmdir(folder.path("inbox/done/.\(name).account.json"))
        try hub.waitsFor("inbox/done/\(name).account.json")
        let run = try hub.stop()
        #expect(!run.errors.contains("Jane") && !run.errors.contains("forged"), "\(run.errors)")
    }

    @Test func numbersTakenNames() throws {
        let hub = try RunningHub.started(folder)
        for (index, name) in ["week.csv", "week-2.csv", "week-3.csv"].enumerated() {
            try hub.drop("week.csv", Self.csv(index + 1))
            try hub.waitsFor("inbox/done/\(name).account.json")
            #expect(folder.text("inbox/done/\(name)") == Self.csv(index + 1))
        }
        try hub.stop()
        #expect(try hub.account("done/week-3.csv")["stored"].integer == 1)
    }

    @Test func waitsForIncompleteFile() throws {
        mkdir(folder.path("inbox"), 0o700)
        let whole = Array(Self.csv(9).utf8)
        let descriptor = open(folder.path("inbox/slow.csv"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(write(descriptor, whole, 60) == 60)
        let hub = try RunningHub.started(folder)
        try folder.write("other.tmp", Self.csv(1, day: 3))
        #expect(rename(folder.path("other.tmp"), folder.path("inbox/other.csv")) == 0)
        // The one that is still written was looked at before this one, which came later.
        try hub.waitsFor("inbox/done/other.csv.account.json")
        #expect(folder.exists("inbox/slow.csv"))
        #expect(whole[60...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == whole.count - 60)
        close(descriptor)
        try hub.waitsFor("inbox/done/slow.csv.account.json")
        #expect(try hub.account("done/slow.csv")["stored"].integer == 9)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.count == 2, "it was read once")
        try hub.stop()
    }

    @Test func ignoresLinksAndFolders() throws {
        mkdir(folder.path("inbox"), 0o700)
        let secret = try folder.write("secret.csv", Self.csv(2))
        symlink(secret, folder.path("inbox/link.csv"))
        mkdir(folder.path("inbox/folder.csv"), 0o700)
        mkfifo(folder.path("inbox/pipe.csv"), 0o600)
        try folder.write("inbox/.hidden.csv", Self.csv(2))
        try folder.write("inbox/download.csv.part", Self.csv(2))
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.isEmpty)
        for name in ["link.csv", "folder.csv", "pipe.csv", ".hidden.csv", "download.csv.part"] {
            #expect(folder.exists("inbox/\(name)"), "\(name)")
        }
        // Its name is in the report beside the inbox, and not in the log.
        for (name, description) in [("link.csv", "link"), ("folder.csv", "folder"), ("pipe.csv", "not a regular file")] {
            let account = try JSON(folder.text("inbox/refused/\(name).left.json"))
            #expect(account["file"].text == name)
            #expect(account["error"].text?.contains(description) == true)
        }
        #expect(!folder.exists("inbox/refused/.hidden.csv.left.json"))
    }

    /// The report is removed with the file.
    @Test func removesReportOfRemovedFile() throws {
        mkdir(folder.path("inbox"), 0o700)
        mkdir(folder.path("inbox/folder.csv"), 0o700)
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
        #expect(folder.exists("inbox/refused/folder.csv.left.json"))
        rmdir(folder.path("inbox/folder.csv"))
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
        #expect(!folder.exists("inbox/refused/folder.csv.left.json"))
    }

    /// A program that may write into the inbox must not make the hub write elsewhere.
    @Test func itsOwnFoldersAreNoLinks() throws {
        mkdir(folder.path("inbox"), 0o700)
        mkdir(folder.path("elsewhere"), 0o700)
        symlink(folder.path("elsewhere"), folder.path("inbox/done"))
        try folder.write("inbox/one.csv", Self.csv(1))
        let run = try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox"))
        #expect(run.errors.contains("inbox"), "\(run.errors)")
        #expect(!folder.exists("elsewhere/one.csv"))
        #expect(folder.exists("inbox/one.csv"))
    }

    /// The power failed after the commit and before the file was moved, or after the move and before its report had its name.
    @Test func aCrashDoublesNothing() throws {
        let file = try folder.write("week.csv", Self.csv(7))
        #expect(try folder.vitalgate("import", file).status == 0)
        for name in ["inbox", "inbox/done", "inbox/refused"] { mkdir(folder.path(name), 0o700) }
        #expect(rename(file, folder.path("inbox/week.csv")) == 0)
        try folder.write("inbox/done/.moved.csv.account.json", "{}")
        try folder.write("inbox/done/moved.csv", Self.csv(1))
        try folder.write("inbox/done/.stayed.csv.account.json", "{}")
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
        #expect(try JSON(folder.text("inbox/done/week.csv.account.json"))["duplicate"].integer == 7)
        #expect(folder.exists("inbox/done/moved.csv.account.json"))
        #expect(!folder.exists("inbox/done/.stayed.csv.account.json"))
        #expect(try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.count == 7)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }

    @Test func recreatesRemovedInbox() throws {
        let hub = try RunningHub.started(folder)
        for name in ["inbox/done", "inbox/refused", "inbox"] { rmdir(folder.path(name)) }
        try hub.waits { hub.program.errors.contains("it works again") }
        try hub.drop("one.csv", Self.csv(1))
        try hub.waitsFor("inbox/done/one.csv.account.json")
        #expect(try hub.stop().status == 0)
    }

    /// The hub is stopped while it reads a large file. The file stays, and the rest of it is read the next time.
    @Test func aStopWithinAFileLosesAndDoublesNothing() throws {
        let hub = try RunningHub.started(folder)
        let count = 400_000
        try folder.write("big.tmp", ProcessTests.rows(count))
        #expect(rename(folder.path("big.tmp"), folder.path("inbox/big.csv")) == 0)
        try hub.waits { try !folder.vitalgate("ledger", "list", "--format", "ndjson").lines.isEmpty }
        #expect(try hub.stop().status == 0)
        #expect(try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox")).status == 0)
        #expect(folder.exists("inbox/done/big.csv.account.json"))
        let total = try folder.vitalgate("stats", "heartRate", "--every", "1y", "--format", "ndjson").objects()
        #expect(total.compactMap { $0["count"].integer }.reduce(0, +) == count)
        #expect(try folder.vitalgate("store", "check").status == 0)
    }
}
