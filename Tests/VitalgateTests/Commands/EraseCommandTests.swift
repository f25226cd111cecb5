import Glibc
import Pipeline
import PipelineTesting
import Testing

/// `people erase`: previewed, announced to others, done, and continued.
@Suite struct EraseCommandTests {
    let folder: TestFolder

    init() throws {
        folder = try Family.folder()
        try #require(try folder.vitalgate("people", "add", "Anna", "--id", Family.guest).status == 0)
    }

    private func lines(_ person: String) throws -> [String] {
        try folder.vitalgate("query", "all", "--person", person, "--format", "ndjson").lines
    }

    /// Whether any file of the store has the text.
    private func isThere(_ text: String) throws -> Bool {
        let needle = Array(text.utf8)
        for suffix in ["", "-wal", "-shm", "-hub"] where folder.exists("store.db" + suffix) {
            let isFound = try folder.bytes("store.db" + suffix).contains(needle)
            if isFound { return true }
        }
        return false
    }

    @Test func itIsShownFirstAndThenDone() throws {
        try folder.vitalgate("medications", "set", "Ibuprofen 400 mg", "--person", "Anna")
        try folder.vitalgate("store", "backup", folder.path("copy.db"))
        let mine = try lines(Family.person)
        let shown = try folder.vitalgate("people", "erase", "Anna")
        #expect(shown.status == 0 && shown.output.contains("samples") && shown.output.contains("medications"), "\(shown)")
        #expect(shown.errors.contains("confirm with --yes") && shown.errors.contains(folder.path("copy.db")))
        #expect(try lines("Anna").count == 1)
        for word in [Family.guest, "Anna", "Ibuprofen"] { #expect(try isThere(word), "\(word)") }
        let done = try folder.vitalgate("people", "erase", "Anna", "--yes")
        #expect(done.status == 0 && done.errors.contains("is erased") && done.errors.contains("copy.db"), "\(done)")
        for word in [Family.guest, "Anna", "Ibuprofen"] { #expect(try !isThere(word), "\(word)") }
        #expect(try lines(Family.person) == mine && lines(Family.guest).isEmpty)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        #expect(try folder.vitalgate("ledger", "list").output.contains("erase"))
        // They are unknown now, by name and by UUID.
        #expect(try folder.vitalgate("people", "erase", "Anna", "--yes").status == 64)
        #expect(try folder.vitalgate("people", "erase", Family.guest).errors == "the store has no data of this person\n")
        for word in ["unassigned", "Zoe"] { #expect(try folder.vitalgate("people", "erase", word, "--yes").status == 64) }
    }

    /// An update that is undone would bring the person back from its copy, or from its lines.
    @Test(arguments: ["store.db.before-update", "store.db.after-update"]) func waitsForAnUpdate(trace: String) throws {
        try folder.write(trace, "")
        let before = try lines("Anna")
        let prune = ["store", "prune", "--type", "bodyMass", "--before", "2026-11-25", "--yes"]
        for words in [["people", "erase", "Anna", "--yes"], prune] {
            let run = try folder.vitalgate(words)
            #expect(run.status == 75 && run.errors.contains("an update has not ended"), "\(run)")
        }
        #expect(try lines("Anna") == before)
        unlink(folder.path(trace))
        #expect(try folder.vitalgate(prune).status == 0)
        #expect(try folder.vitalgate("people", "erase", "Anna", "--yes").status == 0)
    }

    /// The file has the readings that an undone update could not store again.
    @Test func removesTheLinesOfAnUndoneUpdate() throws {
        let name = "store.db.from-2.0.ndjson"
        let mine = "{\"uuid\":\"1\",\"subject\":\"me\"}\n"
        try folder.write(name, mine + "{\"uuid\":\"2\",\"subject\":\"\(Family.guest)\"}\n")
        #expect(try folder.vitalgate("update", "status").output.contains("kept       \(folder.path(name)) has readings"))
        #expect(try folder.vitalgate("people", "erase", "Anna", "--yes").status == 0)
        #expect(folder.text(name) == mine)
        #expect(try folder.vitalgate("people", "erase", "me", "--yes").status == 0)
        #expect(!folder.exists(name))
    }

    /// Files that were uploaded on the page and not imported yet contain readings of the person.
    @Test func removesUploadsOfThePerson() throws {
        try folder.write("config.json5", "{ hub: { inbox: '\(folder.path("inbox"))' } }\n")
        let upload = "5b1f0000-0000-4000-8000-000000000001"
        for path in [
            "", "/.page-upload-own-\(Family.guest)-\(Family.guest)-\(upload)",
            "/.page-upload-all-\(Family.guest)-\(Family.person)-\(upload)",
            "/.page-upload-own-\(Family.person)-\(Family.person)-\(upload)",
        ] {
            try #require(mkdir(folder.path("inbox" + path), 0o700) == 0)
            if !path.isEmpty { try folder.write("inbox" + path + "/weight.csv", "time") }
        }
        for person in [Family.guest, Family.person] { try folder.write("inbox/.page-draft-\(person)-\(upload)", "time") }
        #expect(try folder.vitalgate("people", "erase", "Anna", "--yes").status == 0)
        let left = Set(Folder.names(folder.path("inbox")) ?? [])
        #expect(
            left == [
                ".page-upload-own-\(Family.person)-\(Family.person)-\(upload)", ".page-draft-\(Family.person)-\(upload)",
            ])
    }

    @Test func aRunningHubHasToStop() throws {
        let hub = try RunningHub.started(folder)
        let run = try folder.vitalgate("people", "erase", "Anna", "--yes")
        #expect(run.status == 75 && run.errors.contains("stop it first"), "\(run)")
        try hub.stop()
        #expect(try lines("Anna").count == 1)
        #expect(try folder.vitalgate("people", "erase", "Anna", "--yes").status == 0)
    }

    /// One target receives the deletion. One that refuses it is waited for or left out.
    @Test func notifiesTargetsFirst() throws {
        let line = try #require(try lines("Anna").first)
        let uuid = try #require(try JSON(line)["uuid"].text)
        let targets = ["archive", "hook"].map { "\($0): { kind: 'files', folder: '\(folder.path($0))' }" }
        try folder.write("config.json5", "{ targets: { \(targets.joined(separator: ", ")) } }\n")
        for name in ["archive", "hook"] { #expect(try folder.vitalgate("export", name, "--once").status == 0) }
        // The folder was moved away.
        #expect(rename(folder.path("hook"), folder.path("away")) == 0)
        try folder.write("hook", "no folder")
        #expect(try folder.vitalgate("people", "erase", "Anna").errors.contains("archive would delete its copy first"))
        let first = try folder.vitalgate("people", "erase", "Anna", "--yes")
        #expect(first.status == 75 && first.errors.contains("--without hook"), "\(first)")
        // The data is no longer visible, and not erased yet.
        #expect(try lines("Anna").isEmpty && isThere(Family.guest))
        let archive = folder.text("archive/archive.ndjson")
        #expect(archive.contains("\"deleted\":\"\(uuid)\""), "\(archive.suffix(300))")
        let second = try folder.vitalgate("people", "erase", "Anna", "--yes", "--without", "hook")
        #expect(second.status == 0, "\(second)")
        #expect(try !isThere(Family.guest) && !isThere(uuid))
        // A target that was notified continues, and one that was not gets an error.
        #expect(try folder.vitalgate("export", "archive", "--once").status == 0)
        #expect(unlink(folder.path("hook")) == 0 && rename(folder.path("away"), folder.path("hook")) == 0)
        let after = try folder.vitalgate("export", "hook", "--once")
        #expect(after.status == 69 && after.errors.contains("have been removed permanently"), "\(after)")
        #expect(try folder.vitalgate("people", "erase", "me", "--without", "nobody").status == 64)
    }

    /// A hub whose configuration names an unknown person does not start. The command therefore names the configuration before and after the
    /// erasure.
    @Test func namesConfigurationWithPerson() throws {
        try folder.write("config.json5", "{ bodyComposition: { Anna: ['sun-2003'] } }\n")
        let words = "names this person in 'bodyComposition'"
        #expect(try folder.vitalgate("people", "erase", "Anna").errors.contains(words))
        let run = try folder.vitalgate("people", "erase", "Anna", "--yes")
        #expect(run.status == 0 && run.errors.contains(words), "\(run)")
        let hub = try folder.vitalgate("run", "--once", "--inbox", folder.path("inbox"))
        #expect(hub.status != 0 && hub.errors.contains("bodyComposition: there is no such person"), "\(hub)")
    }

    @Test func oneselfCanBeErased() throws {
        let folder = try TestFolder()
        try folder.write("config.json5", "{ subject: '\(Family.person)' }\n")
        try folder.vitalgate("import", folder.write("all.csv", Family.csv))
        func lines(_ person: String) throws -> [String] {
            try folder.vitalgate("query", "all", "--person", person, "--format", "ndjson").lines
        }
        let guests = try lines(Family.guest)
        #expect(try lines("me").count > 5 && guests.count == 1)
        let run = try folder.vitalgate("people", "erase", "me", "--yes")
        #expect(run.status == 0 && run.errors.contains("'me' is a new, unknown person now"), "\(run)")
        #expect(run.errors.contains("the configuration file still has this person's UUID"))
        #expect(try lines("me").isEmpty && lines(Family.guest) == guests)
        #expect(try !folder.bytes("store.db").contains(Array(Family.person.utf8)))
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        let file = try folder.write("new.csv", "time,type,value,unit\n2026-03-30T08:00:00Z,heartRate,61,/min\n")
        #expect(try folder.vitalgate("import", file).status == 0)
        #expect(try lines("me").count == 1)
    }

    /// Killed at many moments, each time with a new store: either all data is there, or none except what the same command removes.
    @Test func resumesKilledErasure() throws {
        var text = "time,type,value,unit,source,subject\n"
        for second in 0..<6000 {
            let time = "2026-03-\(10 + second / 3600)T\(10 + second / 600 % 6):\(10 + second / 60 % 10):\(10 + second % 50)Z"
            text += "\(time),heartRate,\(60 + second % 40).\(100 + second % 900),/min,Belt,\(Family.guest)\n"
        }
        try folder.vitalgate("import", folder.write("much.csv", text))
        let (hers, mine) = (try lines("Anna").count, try lines(Family.person))
        try #require(hers > 1000)
        let whole = try folder.bytes("store.db")
        for round in 0..<15 {
            for suffix in ["-wal", "-shm", "-hub"] { unlink(folder.store + suffix) }
            try folder.write("store.db", whole)
            let run = try folder.start("people", "erase", Family.guest, "--yes")
            usleep(UInt32(round) * 12_000)
            run.signal(SIGKILL)
            _ = try run.wait()
            let check = try folder.vitalgate("store", "check").output
            let left = try lines(Family.guest).count
            #expect(check == "ok\n" || (check.contains("interrupted") && left == 0), "\(check)")
            #expect(left == 0 || left == hers)
            #expect(try folder.vitalgate("people", "erase", Family.guest, "--yes").status == 0)
            #expect(try !isThere(Family.guest) && !isThere("Belt") && lines(Family.person) == mine)
            #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        }
    }
}
