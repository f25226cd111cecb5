import Glibc
import PipelineTesting
import Testing

/// `backup` with the real restic: made, listed, proven, restored, and erased. It is killed, damaged and locked out.
@Suite struct BackupCommandTests {
    let folder: TestFolder
    private var place: String { folder.path("disk/vitalgate") }

    init() throws {
        folder = try Household.folder()
        mkdir(folder.path("disk"), 0o755)
        mkdir(folder.path("secrets"), 0o700)
        try folder.write("secrets/token", "a secret\n")
        chmod(folder.path("secrets/token"), 0o600)
        // Made up for Vitalgate.
        try folder.write(
            "config.json5",
            """
            {
                // A comment that stays.
                targets: { archive: { kind: "files", folder: "\(folder.path("archive"))" } },
                metrics: { listen: "127.0.0.1:9464", token: { file: "\(folder.path("secrets/token"))" } },
            }

            """)
    }

    @discardableResult
    private func backup(_ arguments: String..., input: String? = nil) throws -> Vitalgate.Run {
        let file = try input.map { try folder.write("input", $0 + "\n") } ?? "/dev/null"
        return try Vitalgate.run(
            try folder.options() + ["backup"] + arguments, environment: Vitalgate.environment(home: folder.root), input: file)
    }

    /// Adds the location and returns the words of its key.
    private func added() throws -> String {
        let run = try backup("add", place, "--name", "usb")
        try #require(run.status == 0, "\(run)")
        return Self.words(run.output)
    }

    private static func words(_ text: String) -> String {
        text.split { !$0.isLetter }.joined(separator: " ")
    }

    /// A new machine: another folder, with an empty store.
    private func restored(_ words: String, _ arguments: String...) throws -> (folder: TestFolder, run: Vitalgate.Run) {
        let other = try TestFolder()
        let input = try other.write("key", words + "\n")
        let run = try Vitalgate.run(
            try other.options() + ["backup", "restore", place] + arguments,
            environment: Vitalgate.environment(home: other.root), input: input)
        return (other, run)
    }

    private func lines(_ folder: TestFolder) throws -> [String] {
        try folder.vitalgate("query", "all", "--format", "ndjson").lines
    }

    /// The files of the repository with data.
    private func packs() throws -> [String] {
        try Vitalgate.find(place + "/data").filter { $0.split(separator: "/").last?.count == 64 }
    }

    // MARK: Made and restored

    @Test func aDeadHubComesBackElsewhere() throws {
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        let words = try added()
        #expect(words.split(separator: " ").count == 12)
        #expect(try Self.words(backup("key", "usb").output) == words)
        #expect(folder.mode("store.db-backup/usb.key") == 0o600 && folder.mode("store.db-backup") == 0o700)
        #expect(folder.text("config.json5").contains("// A comment that stays."))
        #expect(!folder.exists("store.db-backup/stage"))
        let list = try JSON(try backup("list", "--format", "ndjson").last)
        #expect(list["name"].text == "usb" && list["samples"].integer == 10 && list["failure"] == .null, "\(list)")
        #expect(list["proven"] == .null)
        #expect(try backup("check", "usb").status == 0)
        #expect(try JSON(try backup("list", "--format", "ndjson").last)["proven"] != .null)
        #expect(try backup("list", "usb", "--format", "ndjson").lines.count == 1)

        let anchor = try #require(try JSON(folder.vitalgate("changes", "--after", "0").last)["anchor"].text)
        let (other, run) = try restored(words)
        #expect(run.status == 0, "\(run)")
        #expect(other.mode("store.db") == 0o600)
        #expect(try lines(other) == lines(folder))
        #expect(try other.vitalgate("store", "check", "--deep").output == "ok\n")
        // A new epoch: an anchor of the old machine is not valid.
        #expect(try other.vitalgate("changes", "--after", anchor).status == 65)
        #expect(try folder.vitalgate("changes", "--after", anchor).status == 0)
        #expect(other.text("config.json5").contains("// A comment that stays."))
        #expect(other.text("config.json5.before-restore") == "{}\n")
        // A file that belongs to another folder is put beside the store, and can only be read by its owner.
        let aside = "store.db-restored\(folder.path("secrets/token"))"
        #expect(other.text(aside) == "a secret\n" && other.mode(aside) == 0o600, "\(run.errors)")
        // The key came with it, so that the new machine continues.
        let again = try other.vitalgate("backup", "run")
        #expect(again.status == 0, "\(again)")
        #expect(try other.vitalgate("backup", "list", "usb", "--format", "ndjson").lines.count == 2)

        // The target does not go on by itself. A folder of files gets all lines again, and each sample has the same UUID.
        let target = try other.vitalgate("export", "archive", "--once")
        #expect(target.status == 69 && target.errors.contains("targets restart archive"), "\(target)")
        #expect(try other.vitalgate("targets", "restart", "archive").status == 0)
        #expect(try other.vitalgate("export", "archive", "--once").status == 0)
        let samples = try folder.text("archive/archive.ndjson").split(separator: "\n").compactMap {
            try JSON(String($0))["uuid"].text
        }
        #expect(samples.count == 20 && Set(samples).count == 10)
    }

    @Test func anOlderBackupCanBeChosen() throws {
        let words = try added()
        let before = try JSON(try backup("list", "usb", "--format", "ndjson").last)["time"].text ?? ""
        try folder.vitalgate("add", "bodyMass", "70", "kg")
        #expect(try backup("run").status == 0)
        #expect(try lines(restored(words).folder).count == 11)
        let (other, run) = try restored(words, "--at", before)
        #expect(try run.status == 0 && lines(other).count == 10, "\(run)")
        let none = try restored(words, "--at", "2020-01-01")
        #expect(none.run.status == 66 && !none.folder.exists("store.db"), "\(none.run)")
    }

    @Test func aStoreWithReadingsIsReplacedOnlyOnRequest() throws {
        let words = try added()
        try folder.vitalgate("add", "bodyMass", "70", "kg")
        let input = try folder.write("key", words)
        func restore(_ more: String...) throws -> Vitalgate.Run {
            try folder.vitalgate(["backup", "restore", place, "--key-file", input] + more)
        }
        #expect(try restore().status == 64)
        #expect(try lines(folder).count == 11)
        let run = try restore("--replace")
        #expect(run.status == 0 && run.errors.contains("store.db.before-restore"), "\(run)")
        #expect(try lines(folder).count == 10)
        #expect(
            try folder.vitalgate("query", "all", "--format", "ndjson", store: folder.path("store.db.before-restore")).lines.count
                == 11)
        let hub = try RunningHub.started(folder)
        #expect(try restore("--replace").errors.contains("stop it first"))
        try hub.stop()
    }

    @Test func theKeyIsNeeded() throws {
        let words = try added()
        let wrong = try restored("zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong")
        #expect(wrong.run.status == 77 && wrong.run.errors.contains("the key does not fit"), "\(wrong.run)")
        let short = try restored("zoo zoo")
        #expect(short.run.status == 77 && short.run.errors.contains("12 words"), "\(short.run)")
        let run = try backup("key", "usb", "--replace")
        let new = Self.words(run.output)
        #expect(run.status == 0 && new != words, "\(run)")
        #expect(try restored(words).run.status == 77)
        #expect(try restored(new).run.status == 0)
        #expect(try backup("run").status == 0)
        // It is in no log, and in no argument of a process.
        for word in [words, new] { #expect(!run.errors.contains(word)) }
    }

    @Test func anotherHubUsesTheSameLocation() throws {
        let words = try added()
        let other = try Household.folder()
        let refused = try other.vitalgate("backup", "add", place, "--name", "usb")
        #expect(refused.status == 77, "\(refused)")
        #expect(other.text("config.json5") == "{}\n")
        let key = try other.write("key", words)
        let run = try other.vitalgate("backup", "add", place, "--name", "usb", "--key-file", key)
        #expect(run.status == 0, "\(run)")
        let (_, several) = try restored(words)
        #expect(several.status == 64 && several.errors.contains("--hub"), "\(several)")
        let hub = try JSON(backup("list", "usb", "--format", "ndjson").lines[0])["hub"].text ?? ""
        let (chosen, one) = try restored(words, "--hub", hub)
        #expect(try one.status == 0 && lines(chosen) == lines(folder), "\(one)")
    }

    // MARK: Places that are away, full or damaged

    @Test func aDiskThatIsAwayIsWaitedFor() throws {
        _ = try added()
        #expect(rename(folder.path("disk"), folder.path("away")) == 0)
        let run = try backup("run")
        #expect(run.status == 75 && run.errors.contains("connect the disk"), "\(run)")
        #expect(!folder.exists("disk"))
        // Its mount point is there, and empty.
        mkdir(folder.path("disk"), 0o755)
        #expect(try backup("run").status == 75)
        let due = try backup("run", "--due")
        #expect(due.status == 0 && due.errors == "", "\(due)")
        #expect(try Vitalgate.find(folder.path("disk")).isEmpty)
        #expect(try folder.vitalgate("doctor").output.contains("not connected since"))
        rmdir(folder.path("disk"))
        #expect(rename(folder.path("away"), folder.path("disk")) == 0)
        #expect(try backup("run").status == 0)
        let missing = try backup("add", folder.path("no/disk"), "--name", "two")
        #expect(missing.status == 75 && !folder.exists("no"), "\(missing)")
        #expect(try backup("list", "--format", "ndjson").lines.count == 1)
    }

    @Test func damageIsFoundByTheDrill() throws {
        let words = try added()
        // One bit in the largest file of the repository.
        let pack = try #require(try packs().max { Vitalgate.size($0) < Vitalgate.size($1) })
        chmod(pack, 0o600)
        let descriptor = open(pack, O_RDWR)
        var byte: UInt8 = 0
        let middle = Vitalgate.size(pack) / 2
        #expect(pread(descriptor, &byte, 1, middle) == 1)
        byte ^= 1
        #expect(pwrite(descriptor, &byte, 1, middle) == 1)
        close(descriptor)
        let run = try backup("check")
        #expect(run.status == 65, "\(run)")
        let doctor = try folder.vitalgate("doctor")
        #expect(doctor.output.contains("could not be restored") && doctor.status == 69, "\(doctor)")
        #expect(try folder.vitalgate("status").output.contains("the drill failed"))
        let (other, failed) = try restored(words)
        #expect(failed.status == 65 && !other.exists("store.db"), "\(failed)")
    }

    @Test func removedPacksAreFoundByTheDrill() throws {
        _ = try added()
        for pack in try packs() { unlink(pack) }
        #expect(try backup("check").status != 0)
        #expect(try folder.vitalgate("doctor").output.contains("could not be restored"))
    }

    @Test func twoRunsDoNotDisturbEachOther() throws {
        _ = try added()
        let runs = try (0..<3).map { _ in try folder.start("backup", "run") }
        let results = try runs.map { try $0.wait() }
        #expect(results.contains { $0.status == 0 })
        #expect(results.allSatisfy { $0.status == 0 || $0.status == 75 }, "\(results)")
        #expect(try backup("check").status == 0)
    }

    // MARK: Erased people

    @Test func anErasedPersonIsErasedFromTheBackups() throws {
        try #require(try folder.vitalgate("people", "add", "Anna", "--id", Household.guest).status == 0)
        let words = try added()
        try folder.vitalgate("add", "bodyMass", "70", "kg")
        #expect(try backup("run").status == 0)
        let shown = try folder.vitalgate("people", "erase", "Anna")
        #expect(shown.errors.contains("the backups at usb still have its data"), "\(shown)")
        let erased = try folder.vitalgate("people", "erase", "Anna", "--yes", "--without", "archive")
        #expect(erased.status == 0, "\(erased)")
        let packs = Set(try packs())
        // It is due at once, although the last backup is of today.
        let run = try backup("run", "--due")
        #expect(run.status == 0 && run.errors.contains("removed 2 backups with data of an erased person"), "\(run)")
        #expect(try backup("list", "usb").output.split(separator: "\n").count { $0.contains("vitalgate-") } == 1)
        // The data itself is gone: no file that had it is left, and nothing is unused.
        #expect(try packs.isDisjoint(with: self.packs()))
        let (other, restored) = try restored(words)
        #expect(restored.status == 0, "\(restored)")
        #expect(try !other.bytes("store.db").holds(Array(Household.guest.utf8)))
        #expect(try backup("run", "--due").errors == "")
    }

    // MARK: Kills

    /// The program and restic are killed at random moments. There is always a backup, and each that is listed can be restored.
    @Test func everyListedBackupCanBeRestored() throws {
        let kills = getenv("VITALGATE_BACKUP_KILLS").flatMap { Int(String(cString: $0)) } ?? 8
        let seed = getenv("VITALGATE_SEED").flatMap { UInt64(String(cString: $0)) } ?? 2026
        var random = SeededGenerator(seed: seed)
        let words = try added()
        var killed = 0
        for number in 0..<kills {
            try folder.vitalgate("add", "bodyMass", "\(60 + number % 40).\(number)", "kg")
            let run = try folder.start("backup", "run")
            usleep(UInt32.random(in: 0..<3_000_000, using: &random))
            if random.next() % 2 == 0 {
                run.signal(SIGKILL)
            } else {
                // restic alone. The program reports it.
                for process in Vitalgate.children(of: run.process) { Glibc.kill(process, SIGKILL) }
            }
            let result = try run.wait()
            if result.status != 0 { killed += 1 }
            #expect(Vitalgate.children(of: run.process).isEmpty)
            guard number % 4 == 3 || number == kills - 1 else { continue }
            // All listed backups can be restored.
            for line in try backup("list", "usb", "--format", "ndjson").lines.suffix(2) {
                let time = try JSON(line)["time"].text ?? ""
                let (other, restored) = try restored(words, "--at", time)
                #expect(restored.status == 0, "kill \(number), seed \(seed): \(restored)")
                #expect(try other.vitalgate("store", "check").output == "ok\n")
                #expect(try lines(other).count >= 10)
            }
        }
        let last = try backup("run")
        #expect(last.status == 0, "\(last)")
        #expect(try backup("check").status == 0)
        #expect(try lines(restored(words).folder) == lines(folder))
        #expect(killed > 0 || kills == 0)
        #expect(!folder.exists("store.db-backup/stage"))
    }
}

extension Vitalgate {
    /// The files below a folder.
    static func find(_ path: String) throws -> [String] {
        let run = try RunningVitalgate(
            command: ["/usr/bin/find", path, "-type", "f"], environment: environment(home: "/")
        ).wait()
        return run.lines
    }

    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// The processes that a process has started, and those that they have started.
    static func children(of process: pid_t) -> [pid_t] {
        let run = try? RunningVitalgate(
            command: ["/usr/bin/pgrep", "-P", "\(process)"], environment: environment(home: "/")
        ).wait()
        let own = (run?.lines ?? []).compactMap { pid_t($0) }
        return own + own.flatMap(children)
    }
}
