import ExportTesting
import Glibc
import PipelineTesting
import Testing

/// `backup` with the real restic: made, listed, proven, restored, and erased. It is killed, damaged and locked out.
@Suite struct BackupCommandTests {
    let folder: TestFolder
    private var place: String { folder.path("disk/vitalgate") }

    init() throws {
        folder = try Family.folder()
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

    // MARK: Hostile

    /// A backup of a hub that was broken into. Root would restore everything in it.
    @Test(arguments: ["link", "pipe", "log", "large"]) func refusesUnlistedFiles(_ kind: String) throws {
        let words = try added()
        let environment = Vitalgate.environment(
            home: folder.root, ["RESTIC_PASSWORD": words, "RESTIC_REPOSITORY": place, "PATH": "/usr/local/bin:/usr/bin:/bin"])
        func restic(_ arguments: String...) throws -> Vitalgate.Run {
            try RunningVitalgate(
                command: ["/bin/sh", "-c", "cd \"$0\" && exec restic \"$@\"", folder.path("tree")] + arguments,
                environment: environment
            ).wait()
        }
        mkdir(folder.path("tree"), 0o700)
        #expect(try restic("restore", "latest", "--target", ".").status == 0)
        switch kind {
        case "link": symlink("/etc/hostname", folder.path("tree/hub/link"))
        case "pipe": mkfifo(folder.path("tree/hub/pipe"), 0o600)
        case "log": try folder.write("tree/store.db-wal", "x")
        default:
            try folder.write("tree/hub/large", "")
            truncate(folder.path("tree/hub/large"), 64 << 20)
        }
        let text = try restic("snapshots", "--json").output
        let name = try #require(text.firstMatch(of: /"hostname":"([^"]*)"/)?.1)
        // All of the folder.
        let run = try restic("backup", "--host", String(name), "--tag", "vitalgate,verified,erasures=0", ".")
        #expect(run.status == 0, "\(run)")
        let (other, restored) = try self.restored(words)
        #expect(restored.status == 65 && !other.exists("store.db"), "\(restored)")
        #expect(try backup("check", "usb").status == 65)
    }

    /// A file of the repository can be longer than the repository lists. This restic lists the right length and writes on and on.
    @Test func endsARestorationOfLongerFiles() throws {
        let words = try added()
        let other = try TestFolder()
        mkdir(other.path("bin"), 0o755)
        let restic = try other.write(
            "bin/restic",
            """
            #!/bin/sh
            case " $* " in
            *" restore "*) ;;
            *) exec /usr/bin/restic "$@" ;;
            esac
            /usr/bin/restic "$@" || exit
            for target; do :; done
            file=$(find "$target" -type f -path '*/hub/*' ! -name manifest.json | head -n 1)
            for i in $(seq 80); do
                head -c 100000 /dev/zero >> "$file"
                echo "$i" > '\(other.path("written"))'
                sleep 0.1
            done

            """)
        chmod(restic, 0o755)
        let input = try other.write("key", words + "\n")
        let run = try Vitalgate.run(
            try other.options() + ["backup", "restore", place],
            environment: Vitalgate.environment(home: other.root, ["PATH": other.path("bin") + ":/usr/local/bin:/usr/bin:/bin"]),
            input: input)
        #expect(run.status == 65 && run.errors.contains("the length of a file"), "\(run)")
        #expect(try #require(Int(other.text("written").dropLast())) < 80)
        #expect(!other.exists("store.db"))
    }

    // MARK: Made and restored

    @Test func restoresADeadHub() throws {
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
        let other = try Family.folder()
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

    /// The newest backup is the one that is restored. A copy of the store, which lacks new readings, must not make it.
    @Test func refusesCopyOfTheStore() throws {
        _ = try added()
        let copy = try TestFolder()
        let copied = try RunningVitalgate(
            command: ["/bin/cp", "-a", folder.root + "/.", copy.root], environment: Vitalgate.environment(home: folder.root)
        ).wait()
        #expect(copied.status == 0)
        try folder.vitalgate("add", "bodyMass", "70", "kg")
        #expect(try backup("run").status == 0)
        let refused = try copy.vitalgate("backup", "run")
        #expect(refused.status == 77 && refused.errors.contains("vitalgate store adopt --moved"), "\(refused)")
        #expect(try backup("run").status == 0)
        #expect(try backup("list", "usb", "--format", "ndjson").lines.count == 3)
        // The user decides that the copy is the store from now on, and the original becomes another store.
        #expect(try copy.vitalgate("store", "adopt", "--moved").status == 0)
        #expect(try copy.vitalgate("backup", "run").status == 0)
        #expect(try backup("run").status == 77)
        #expect(try folder.vitalgate("store", "adopt").status == 0)
        #expect(try backup("run").status == 0)
        #expect(try copy.vitalgate("backup", "run").status == 0)
    }

    /// A restored store follows the newest backup, also on the machine that has made backups before.
    @Test func aRestoredStoreTakesOver() throws {
        let words = try folder.write("key", added())
        let copy = try TestFolder()
        let copied = try RunningVitalgate(
            command: ["/bin/cp", "-a", folder.root + "/.", copy.root], environment: Vitalgate.environment(home: folder.root)
        ).wait()
        #expect(copied.status == 0)
        #expect(try copy.vitalgate("store", "adopt", "--moved").status == 0)
        #expect(try copy.vitalgate("backup", "run").status == 0)
        #expect(try backup("run").status == 77)
        let restored = try folder.vitalgate("backup", "restore", place, "--key-file", words, "--replace", "--store-only")
        #expect(restored.status == 0, "\(restored)")
        let run = try backup("run")
        #expect(run.status == 0, "\(run)")
        #expect(try copy.vitalgate("backup", "run").status == 77)
    }

    // MARK: Places that are away, full or damaged

    @Test func waitsForAMissingDisk() throws {
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
        try damage()
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

    /// Without restic nothing can be tried. That is written down, so that the hub does not try it every five minutes.
    @Test func recordsAFailedStart() throws {
        _ = try added()
        func due() throws -> Vitalgate.Run {
            try folder.vitalgate("backup", "run", "--due", environment: ["PATH": "/nowhere"])
        }
        let run = try due()
        #expect(run.status == 69 && run.errors.contains("restic is not installed"), "\(run)")
        #expect(try due().errors == "")
        #expect(try folder.vitalgate("doctor").output.contains("restic is not installed"))
        // The same for a key that is not there.
        unlink(folder.path("store.db-backup/usb.key"))
        let missing = try backup("run")
        #expect(missing.status == 77 && missing.errors.contains("usb.key"), "\(missing)")
    }

    /// Flips a bit in the largest file of the repository. Twice is as before.
    private func damage() throws {
        let pack = try #require(try packs().max { Vitalgate.size($0) < Vitalgate.size($1) })
        chmod(pack, 0o600)
        let descriptor = open(pack, O_RDWR)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        let middle = Vitalgate.size(pack) / 2
        #expect(pread(descriptor, &byte, 1, middle) == 1)
        byte ^= 1
        #expect(pwrite(descriptor, &byte, 1, middle) == 1)
    }

    /// A receiver of alerts learns once that a backup cannot be restored, and once that it can be again.
    @Test func alertsAboutADamagedBackup() throws {
        try folder.write(
            "config.json5",
            "{ alerts: { lamp: { kind: 'command', command: ['/bin/sh', '-c', 'cat >> \"$0\"', '\(folder.path("heard"))'] } } }\n")
        _ = try added()
        func received(_ count: Int) throws -> [JSON] {
            let watch = try folder.start("alerts", "watch")
            // The limit of five minutes only ends a test that would hang.
            for _ in 0..<3000 where folder.text("heard").split(separator: "\n").count < count { usleep(100_000) }
            usleep(500_000)
            watch.signal(SIGTERM)
            #expect(try watch.wait().status == 0)
            return try folder.text("heard").split(separator: "\n").map { try JSON(String($0)) }
        }
        #expect(try received(0).isEmpty)
        try damage()
        #expect(try backup("check").status == 65)
        let first = try received(1)
        #expect(first.count == 1 && first[0]["event"].text == "backup" && first[0]["location"].text == "usb", "\(first)")
        #expect(first[0]["text"].text == "The last backup at 'usb' cannot be restored. Run 'vitalgate doctor' on the hub.")
        #expect(first[0]["raised"] == .boolean(true))
        #expect(try received(1).count == 1)
        try damage()
        #expect(try backup("check").status == 0)
        let second = try received(2)
        #expect(second.count == 2 && second[1]["raised"] == .boolean(false) && second[1]["id"] != second[0]["id"], "\(second)")
        #expect(try received(2).count == 2)
    }

    // MARK: A new machine

    /// The database has readings that are newer than the backup. Nothing is doubled or lost, and the old machine is refused.
    @Test func databaseAcceptsTheNewMachine() throws {
        let server = try PostgreSQLServer()
        defer { server.stop() }
        try folder.write(
            "config.json5",
            "{ targets: { db: { kind: 'postgresql', host: '\(server.folder)', database: 'postgres', user: 'vitalgate' } } }\n")
        #expect(try folder.vitalgate("targets", "check", "db", "--create").status == 0)
        #expect(try folder.vitalgate("export", "db", "--once").status == 0)
        let words = try added()
        try folder.vitalgate("add", "bodyMass", "70", "kg")
        #expect(try folder.vitalgate("export", "db", "--once").status == 0)
        let before = try samples(folder)

        let (other, run) = try restored(words)
        #expect(run.status == 0 && run.errors.contains("targets verify db"), "\(run)")
        let stopped = try other.vitalgate("export", "db", "--once")
        #expect(stopped.status == 69 && stopped.errors.contains("targets verify db"), "\(stopped)")
        #expect(try other.vitalgate("import", "--from", "db").status == 0)
        #expect(try samples(other) == before)
        #expect(try other.vitalgate("targets", "verify", "db").status == 0)
        try other.vitalgate("add", "bodyMass", "71", "kg")
        #expect(try other.vitalgate("export", "db", "--once").status == 0)
        let found = try JSON(try other.vitalgate("targets", "verify", "db", "--dry-run", "--format", "ndjson").last)
        #expect(found["equal"].integer == before.count + 1, "\(found)")
        #expect(["missing", "surplus", "foreign"].allSatisfy { found[$0].integer == 0 }, "\(found)")

        // The old machine comes back, and has another reading.
        try folder.vitalgate("add", "bodyMass", "72", "kg")
        let refused = try folder.vitalgate("export", "db", "--once")
        #expect(refused.status == 69 && refused.errors.contains("the same store sends to it from"), "\(refused)")
        let same = try JSON(try other.vitalgate("targets", "verify", "db", "--dry-run", "--format", "ndjson").last)
        #expect(same["equal"].integer == before.count + 1 && same["foreign"].integer == 0, "\(same)")
    }

    private func samples(_ folder: TestFolder) throws -> Set<String> {
        Set(try lines(folder).compactMap { try JSON($0)["uuid"].text })
    }

    /// As root, with a hub that runs as another user: the keys of paired devices are copied, and put back with their owner.
    @Test(.enabled(if: geteuid() == 0)) func bondsComeBack() throws {
        // Both machines have a folder of bluetoothd of their own, which only root can read.
        let root = folder.root
        let script = """
            mount -t tmpfs tmpfs /var/lib 2>/dev/null || exit 99
            \(Self.machine(root, "old"))
            device='/var/lib/bluetooth/00:00:5E:00:53:01/00:00:5E:00:53:02'
            mkdir -p -m 700 "$device" /var/lib/bluetooth/00:00:5E:00:53:01/cache
            printf '[LinkKey]\nKey=00112233445566778899AABBCCDDEEFF\n' > "$device/info"
            printf 'x' > /var/lib/bluetooth/00:00:5E:00:53:01/cache/00:00:5E:00:53:03
            chmod 600 "$device/info"
            chmod 700 /var/lib/bluetooth
            cd '\(root)/old'
            "$0" $options add bodyMass 70 kg
            chown -R 65534:65534 '\(root)/old' '\(root)/place'
            "$0" $options backup add '\(root)/place/vitalgate' --name usb > '\(root)/words' || exit 1
            grep -o '[a-z]*' '\(root)/words' | tr '\n' ' ' > '\(root)/key'
            umount /var/lib
            mount -t tmpfs tmpfs /var/lib
            \(Self.machine(root, "new"))
            mkdir -m 700 /var/lib/bluetooth
            chown -R 65534:65534 '\(root)/new'
            "$0" $options backup restore '\(root)/place/vitalgate' < '\(root)/key' || exit 2
            cd /var/lib/bluetooth
            find . -mindepth 1 -printf '%P %m %u\n' | sort
            cat 00:00:5E:00:53:01/00:00:5E:00:53:02/info
            find '\(root)/new' -not -user nobody
            """
        chmod(root, 0o755)
        mkdir(folder.path("place"), 0o755)
        let run = try RunningVitalgate(
            [], environment: Vitalgate.environment(home: root),
            wrapper: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script]
        ).wait()
        // Without the privilege to mount, nothing was tested.
        guard run.status != 99, !run.errors.contains("unshare") else { return }
        #expect(
            run.status == 0
                && run.output == """
                    00:00:5E:00:53:01 700 root
                    00:00:5E:00:53:01/00:00:5E:00:53:02 700 root
                    00:00:5E:00:53:01/00:00:5E:00:53:02/info 600 root
                    [LinkKey]
                    Key=00112233445566778899AABBCCDDEEFF

                    """,
            "\(run)")
        #expect(run.errors.contains("systemctl restart bluetooth"), "\(run)")
    }

    /// The user of the service has put links into its folder. Root restores a backup that only root can read.
    @Test(.enabled(if: geteuid() == 0), arguments: ["none", "missing", "store", "folder"])
    func followsNoLinkOfTheService(_ link: String) throws {
        let words = try added()
        chmod(place, 0o700)
        chmod(folder.root, 0o755)
        let (victim, hub) = (folder.path("victim"), folder.path("hub"))
        for path in [victim, hub] { mkdir(path, 0o755) }
        if link == "folder" { symlink(victim, hub + "/data") } else { mkdir(hub + "/data", 0o755) }
        if link == "store" { try folder.write("victim/environment", "PATH=/bin\n") }
        if link == "store" || link == "missing" { symlink(victim + "/environment", hub + "/data/store.db") }
        for path in [hub, hub + "/data", hub + "/data/store.db"] { lchown(path, 65534, 65534) }
        let key = try folder.write("words", words + "\n")
        let store = hub + "/data/store.db"
        func vitalgate(_ arguments: String...) throws -> Vitalgate.Run {
            try Vitalgate.run(
                try folder.options(store: store) + arguments, environment: Vitalgate.environment(home: folder.root))
        }
        let run = try vitalgate("backup", "restore", place, "--key-file", key)
        // A link to nothing is replaced.
        #expect((run.status == 0) == (link == "none" || link == "missing"), "\(run)")
        // Each other command of root that opens the store, too.
        _ = try vitalgate("backup", "run")
        _ = try vitalgate("export", "archive", "--once")
        _ = try vitalgate("targets", "restart", "archive")
        _ = try vitalgate("add", "bodyMass", "70", "kg")
        _ = try vitalgate("api", "certificate", "--folder", hub + "/data/tls", "127.0.0.1")
        #expect(try Vitalgate.find(victim) == (link == "store" ? [victim + "/environment"] : []))
        #expect(link != "store" || folder.text("victim/environment") == "PATH=/bin\n")
        let find = ["/usr/bin/find", hub, "-not", "-user", "nobody"]
        let found = try RunningVitalgate(command: find, environment: Vitalgate.environment(home: folder.root)).wait()
        #expect(found.output == "", "\(found.output)")
    }

    /// The folder of a machine, and the options of its programs.
    private static func machine(_ root: String, _ name: String) -> String {
        """
        mkdir '\(root)/\(name)'; echo '{}' > '\(root)/\(name)/config.json5'
        options="--store \(root)/\(name)/store.db --config \(root)/\(name)/config.json5 --profiles \(Repository.profiles)"
        """
    }

    // MARK: Erased people

    @Test func anErasedPersonIsErasedFromTheBackups() throws {
        try #require(try folder.vitalgate("people", "add", "Anna", "--id", Family.guest).status == 0)
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
        #expect(try !other.bytes("store.db").contains(Array(Family.guest.utf8)))
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
