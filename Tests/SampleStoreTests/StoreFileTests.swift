import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// Other files at the store's path, and damage to its files.
@Suite struct StoreFileTests {
    private static func kind(_ path: String, _ access: SampleStore.Access = .write, create: Bool = true) -> StoreError.Kind? {
        let creation = SampleStore.Creation(person: "me", time: 0)
        do throws(StoreError) {
            _ = try SampleStore(path: path, access: access, creation: create ? creation : nil)
            return nil
        } catch {
            return error.kind
        }
    }

    /// A closed store with this many samples.
    private static func folder(samples: Int) throws -> (folder: TemporaryFolder, samples: [GatedSample]) {
        let test = try TestStore()
        let retained = try (0..<samples).map { try SampleMaker()("\(60 + $0 % 40)", at: Double($0)) }
        try test.keep(retained)
        try test.close()
        return (test.folder, retained)
    }

    /// A hub's commits are small, and a card is written in pages. A store keeps its page size forever, whichever process opens it.
    @Test func aHubsStoreHasSmallPages() throws {
        let folder = try TemporaryFolder()
        for (name, takesStreams, size) in [("hub.db", true, Int64(1024)), ("file.db", false, 4096)] {
            let creation = SampleStore.Creation(person: "me", time: 0, takesStreams: takesStreams)
            var store: SampleStore? = try SampleStore(path: folder.file(name), access: .write, creation: creation)
            let ingest = try store?.beginIngest(IngestDescription(kind: .live, received: 0))
            _ = try ingest?.store(try (0..<5000).map { try SampleMaker()("\(60 + $0 % 40)", at: Double($0)) })
            _ = try ingest?.finish(at: 1)
            store = nil
            let other = SampleStore.Creation(person: "me", time: 0, takesStreams: !takesStreams)
            let again = try SampleStore(path: folder.file(name), access: .write, creation: other)
            #expect(try again.connection.integer("PRAGMA page_size") == size)
            #expect(try again.check(deep: true).isEmpty)
            #expect(try again.connection.integer("SELECT count(*) FROM sample") == 5000)
        }
    }

    @Test func aNewStoreIsPrivate() throws {
        let before = umask(0)
        defer { umask(before) }
        try TestStore.with { test in
            try test.keep([try SampleMaker()("72", at: 0)])
            for name in test.folder.names() { #expect(test.folder.mode(name) == 0o600, "\(name)") }
            #expect(test.folder.names().first == "store.db")
            #expect(try test.store.owner == TestStore.person)
        }
    }

    @Test func refusesOtherFiles() throws {
        let folder = try TemporaryFolder()
        #expect(Self.kind(folder.file("none.db"), create: false) == .missing)
        #expect(Self.kind(folder.file("none.db"), .read) == .missing)
        #expect(Self.kind(folder.file("no/such/folder.db")) == .missing)
        #expect(Self.kind(folder.path) == .foreign)
        try folder.write(Array("time,type,value,unit\n2026-01-01,heartRate,72,/min\n".utf8), to: "text.csv")
        let text = try folder.read("text.csv")
        #expect(Self.kind(folder.file("text.csv")) == .foreign)
        try folder.write([UInt8](repeating: 0x53, count: 100_000), to: "noise")
        #expect(Self.kind(folder.file("noise")) == .foreign)
        // Only a command that may create a store uses an empty file as one.
        try folder.write([], to: "empty.db")
        #expect(Self.kind(folder.file("empty.db"), .read) == .foreign)
        #expect(Self.kind(folder.file("empty.db"), create: false) == .foreign)
        #expect(try folder.read("empty.db").isEmpty)
        #expect(Self.kind(folder.file("empty.db")) == nil)
        #expect(Self.kind(folder.file("empty.db"), .read) == nil)
        // A refused file does not change.
        #expect(try folder.read("text.csv") == text)
        #expect(!folder.names().contains { $0.hasPrefix("text.csv-") || $0.hasPrefix("none") })
    }

    @Test func anotherProgramsDatabase() throws {
        let folder = try TemporaryFolder()
        for (name, sql) in [("tables.db", "CREATE TABLE sample(x)"), ("id.db", "PRAGMA application_id = 252006674")] {
            try folder.write([], to: name)
            try Connection(path: folder.file(name), writable: true).execute(sql)
            let before = try folder.read(name)
            #expect(Self.kind(folder.file(name)) == .foreign)
            #expect(Self.kind(folder.file(name), .read) == .foreign)
            #expect(try folder.read(name) == before)
        }
    }

    @Test func newerSchema() throws {
        let (folder, _) = try Self.folder(samples: 1)
        try Connection(path: folder.file("store.db"), writable: true).execute("PRAGMA user_version = 99")
        #expect(Self.kind(folder.file("store.db")) == .newer)
        #expect(Self.kind(folder.file("store.db"), .read) == .newer)
        let error = thrown(StoreError.self) { _ = try SampleStore(path: folder.file("store.db"), access: .read) }
        #expect(error?.message.contains("schema 99, this one supports \(Schema.steps.count)") == true)
    }

    /// Unknown kinds of objects and types of quantities are not damage.
    @Test(arguments: ["UPDATE series SET kind = 1", "UPDATE series SET type = 'auraStrength'"])
    func seriesOfANewerVersion(change: String) throws {
        let (folder, _) = try Self.folder(samples: 1)
        try Connection(path: folder.file("store.db"), writable: true).execute(change)
        let store = try SampleStore(path: folder.file("store.db"), access: .read)
        let refusals: [() throws -> Void] = [
            { _ = try store.samples.cursor(matching: SampleQuery()) }, { _ = try store.check() },
            { try store.changes.read(after: 0, types: nil) { _ in } },
        ]
        for refused in refusals {
            let error = thrown(StoreError.self) { try refused() }
            #expect(error?.kind == .newer && error?.description.contains("update this program") == true)
        }
    }

    /// Story 34: a log that outlived its database is not replayed into a new one.
    @Test func leftoverLog() throws {
        let test = try TestStore()
        try test.keep([try SampleMaker()("72", at: 0)])
        let folder = try TemporaryFolder()
        try folder.write(try test.folder.read("store.db-wal"), to: "store.db-wal")
        #expect(Self.kind(folder.file("store.db")) == .foreign)
        #expect(folder.names() == ["store.db-wal"])
        try test.close()
    }

    /// Story 34 again: a backup was copied to the place of a store whose log is still there. SQLite would replay the log over the backup.
    @Test func staleLogNextToBackup() throws {
        let test = try TestStore()
        try test.keep(try (0..<500).map { try SampleMaker()("72", at: Double($0)) })
        let other = try TestStore()
        try other.keep(try (0..<3000).map { try SampleMaker(source: "other")("80", at: Double($0)) })
        try other.store.backup(to: other.folder.file("backup.db"))
        let backup = try other.folder.read("backup.db")
        let folder = try TemporaryFolder()
        for (name, bytes) in [("backup.db", backup), ("empty.db", [])] {
            try folder.write(bytes, to: name)
            try folder.write(try test.folder.read("store.db-wal"), to: "\(name)-wal")
            #expect(Self.kind(folder.file(name)) == .foreign)
            #expect(Self.kind(folder.file(name), .read) == .foreign)
            #expect(try folder.read(name) == bytes)
            #expect(folder.names().contains("\(name)-wal"))
            // Moved away, as the error suggests, the log does no harm.
            unlink(folder.file("\(name)-wal"))
            #expect(Self.kind(folder.file(name)) == nil)
        }
        try test.close()
        try other.close()
    }

    /// The state after a power cut: the database and its log between two commits.
    @Test func opensAfterPowerCut() throws {
        let test = try TestStore()
        let ingest = try test.store.beginIngest(TestStore.description())
        var retained: [GatedSample] = []
        for round in 0..<12 {
            let batch = try (0..<100).map { try SampleMaker().local(round % 2)("\(60 + $0)", at: Double(round * 100 + $0)) }
            _ = try ingest.store(batch)
            retained += batch
            guard round % 4 == 3 else { continue }
            let copy = try TemporaryFolder()
            try copy.write(try test.folder.read("store.db"), to: "store.db")
            var log = try test.folder.read("store.db-wal")
            // The next commit was on its way.
            if round == 11 { log += log.suffix(5000) }
            try copy.write(log, to: "store.db-wal")
            let recovered = try TestStore(folder: copy)
            #expect(try recovered.lines() == Set(retained.map { TestStore.line($0.sample) }))
            #expect(try recovered.store.ledger.account(of: ingest.id)?.state == "running")
            #expect(try recovered.store.ledger.account(of: ingest.id)?.stored == retained.count)
            #expect(try recovered.keep(retained).account.duplicate == retained.count)
            try recovered.close()
            // A log that was cut in a commit: that commit is missing whole, those before it are there.
            try copy.write(try test.folder.read("store.db"), to: "store.db")
            try copy.write(Array(log.prefix(log.count - 3000)), to: "store.db-wal")
            let cut = try TestStore(folder: copy)
            #expect(try cut.samples().count % 100 == 0)
            try cut.close()
        }
        _ = try ingest.finish(at: 0)
        try test.close()
    }

    // MARK: full disks and folders that cannot be written

    /// SQLite's own page limit simulates the disk. The whole batch fails, earlier ones are stored, and the store continues later.
    @Test func fullDisk() throws {
        try TestStore.with { test in
            let ingest = try test.store.beginIngest(TestStore.description())
            let first = try (0..<500).map { try SampleMaker()("72", at: Double($0)) }
            #expect(try ingest.store(first).count == 500)
            let pages = try #require(try test.store.connection.integer("PRAGMA page_count"))
            _ = try test.store.connection.integer("PRAGMA max_page_count = \(pages + 1)")
            ingest.refuse(Refusal("no number", at: Place(.line, 1)))
            let second = try (500..<5000).map { try SampleMaker(source: "other")("72", at: Double($0)) }
            let error = thrown(StoreError.self) { _ = try ingest.store(second) }
            #expect(error?.kind == .full)
            #expect(error?.description.contains("no space left") == true)
            #expect(try test.samples().count == 500)
            #expect(try test.store.check() == [])
            _ = try test.store.connection.integer("PRAGMA max_page_count = 1000000")
            #expect(try ingest.store(second).allSatisfy { $0 == .stored })
            let account = try ingest.finish(at: 0)
            #expect((account.stored, account.refused) == (5000, 1))
        }
    }

    /// A user without write permission for the file or its folder gets an error with the reason. Root always has permission, so SQLite's
    /// read-only mode is used if root runs the tests.
    @Test func readOnly() throws {
        let (folder, samples) = try Self.folder(samples: 3)
        let error = thrown(StoreError.self) {
            let reader = try SampleStore(path: folder.file("store.db"), access: .read)
            #expect(try reader.summary().samples == 3)
            _ = try reader.samples.delete([samples[0].sample.identity], description: TestStore.description(.delete))
        }
        #expect(error?.kind == .readOnly)
        guard geteuid() != 0 else { return }
        chmod(folder.file("store.db"), 0o400)
        #expect([.readOnly, .permission].contains(Self.kind(folder.file("store.db"))))
        chmod(folder.file("store.db"), 0)
        #expect([.inputOutput, .permission].contains(Self.kind(folder.file("store.db"))))
        chmod(folder.file("store.db"), 0o600)
        chmod(folder.path, 0o500)
        #expect([.readOnly, .permission].contains(Self.kind(folder.file("new.db"))))
        chmod(folder.path, 0o700)
        // SQLite creates files beside a store even to read it.
        let (closed, _) = try Self.folder(samples: 1)
        chmod(closed.path, 0o500)
        #expect(Self.kind(closed.file("store.db"), .read) == .permission)
        chmod(closed.path, 0o700)
    }

    // MARK: damage

    @Test func truncatedDatabase() throws {
        let (folder, samples) = try Self.folder(samples: 2000)
        let whole = Set(samples.map { TestStore.line($0.sample) })
        let bytes = try folder.read("store.db")
        for count in [1, 50, 99, 100, 512, 4095, 4096, 8192, bytes.count / 2, bytes.count - 4096, bytes.count - 1] {
            try folder.write(Array(bytes.prefix(count)), to: "cut.db")
            switch Self.read(folder.file("cut.db")) {
            case .failed(let error):
                #expect([.corrupt, .foreign].contains(error.kind), "cut at \(count): \(error.kind) \(error)")
            case .damaged: break
            // The bytes that are missing were zeros.
            case .sound(let lines): #expect(lines == whole, "cut at \(count)")
            }
        }
    }

    private enum Outcome {
        case sound(lines: Set<String>)
        case damaged
        case failed(StoreError)
    }

    private static func read(_ path: String) -> Outcome {
        do throws(StoreError) {
            let store = try SampleStore(path: path, access: .read)
            guard try store.check().isEmpty else { return .damaged }
            let cursor = try store.samples.cursor(matching: SampleQuery())
            var lines: Set<String> = []
            while let next = try cursor.next() { lines.insert(TestStore.line(next.sample)) }
            return .sound(lines: lines)
        } catch {
            return .failed(error)
        }
    }

    /// A byte changed in every page: reported, or of no consequence (free space), and never a crash or a wrong sample.
    @Test func flippedBytes() throws {
        let (folder, samples) = try Self.folder(samples: 600)
        let bytes = try folder.read("store.db")
        var random = SeededGenerator(seed: 600)
        var found = 0
        for page in 0..<bytes.count / 4096 {
            for offset in [page == 0 ? 105 : 3, 8, Int.random(in: 100..<4096, using: &random)] {
                var damaged = bytes
                damaged[page * 4096 + offset] ^= 0x5A
                try folder.write(damaged, to: "flipped.db")
                let outcome = Self.read(folder.file("flipped.db"))
                switch outcome {
                case .failed(let error):
                    found += 1
                    #expect(error.kind != .defect || page == 0, "page \(page), byte \(offset): \(error)")
                case .damaged: found += 1
                // What identity does not cover may differ: receipt, zone, origin.
                case .sound(let lines): #expect(lines.count == samples.count, "page \(page), byte \(offset)")
                }
            }
        }
        #expect(found > bytes.count / 4096)
    }

    /// The damage that the check must find.
    @Test(arguments: [
        ("UPDATE sample SET value = value + 1 WHERE start = (SELECT min(start) FROM sample)", "UUID"),
        ("UPDATE sample SET numeral = '61.0' WHERE start = (SELECT min(start) FROM sample)", "UUID"),
        ("UPDATE sample SET hash = zeroblob(10) WHERE start = (SELECT max(start) FROM sample)", "UUID"),
        ("UPDATE sample SET start = start + 1 WHERE start = (SELECT max(start) FROM sample)", "UUID"),
        ("UPDATE sample SET duration = 5 WHERE start = (SELECT max(start) FROM sample)", "UUID"),
        ("UPDATE deleted SET value = 7", "UUID"), ("UPDATE sample SET value = 7 WHERE numeral IS NOT NULL", "value"),
        ("DELETE FROM sample WHERE start = (SELECT max(start) FROM sample)", "ledger"),
        ("DELETE FROM deleted", "ledger"), ("UPDATE ingest SET stored = stored + 1 WHERE id = 1", "ledger"),
        ("UPDATE ingest SET refused = 4 WHERE id = 1", "refused"), ("UPDATE sample SET seq = 1000", "change"),
        ("UPDATE sample SET metadata = 77 WHERE start = (SELECT max(start) FROM sample)", "metadata"),
        ("UPDATE sample SET context = 77 WHERE start = (SELECT max(start) FROM sample)", "context"),
        ("UPDATE series SET device = 'other'", "UUID"), ("UPDATE context SET unit = '/h'", "UUID"),
        (
            "INSERT INTO deleted SELECT series, start, hash, value, numeral, context, duration, received, grp, metadata, seq, 9, 1, NULL, 0 "
                + "FROM sample WHERE start = (SELECT max(start) FROM sample)", "both"
        ),
    ])
    func damageThatTheCheckFinds(sql: String, word: String) throws {
        try TestStore.with { test in
            let samples = try (0..<20).map { try SampleMaker()("\(60 + $0)", at: Double($0)) }
            try test.keep(samples + [try SampleMaker(.bodyTemperature, unit: "[degF]")("98.60", at: 10)])
            try test.delete(samples[4])
            #expect(try test.store.check() == [])
            try test.execute(sql)
            test.isSound = false
            let problems = try test.store.check()
            #expect(problems.contains { $0.contains(word) }, "\(problems)")
        }
    }

    /// Equal readings of one frame, in the second pass of an hour too, and intervals that a change of clocks falls into.
    @Test func soundSamplesThatLookDifferent() throws {
        try TestStore.with { test in
            let berlin = try TimeZoneRules.berlin
            let normaliser = Normaliser(zone: berlin, received: TestStore.received)
            var output = Normaliser.Output()
            let origin = try SampleMaker(.stepCount).origin
            func frame(_ start: String, _ end: String, line: Int) throws -> [Reading] {
                let time = ReadingTime.wall(start: try WallTime(start), end: try WallTime(end), ticks: nil)
                return try (0..<3).map {
                    Reading(
                        origin: origin, numeral: try Numeral("40.0"), unit: origin.type.canonicalUnit, time: time,
                        ordinal: UInt32($0),
                        group: .frame, place: Place(.line, line))
                }
            }
            for (index, times) in [
                ("2026-03-29T01:30:00", "2026-03-29T03:30:00"), ("2026-10-25T01:30:00", "2026-10-25T03:30:00"),
                ("2026-10-25T02:30:00", "2026-10-25T02:30:00"), ("2026-10-25T02:10:00", "2026-10-25T02:10:00"),
                ("2026-10-25T02:30:00", "2026-10-25T02:30:00"), ("2026-10-25T05:00:00", "2026-10-25T05:30:00"),
            ].enumerated() { normaliser.normalise(try frame(times.0, times.1, line: index), into: &output) }
            normaliser.finish(into: &output)
            #expect(output.refusals.isEmpty)
            #expect(try test.keep(output.samples).account.stored == 18)
            #expect(try test.store.check() == [])
        }
    }

    /// A meter that measured the same five thousand times in a minute: no search finds such an ordinal, so it is kept.
    @Test func storesOrdinals() throws {
        try TestStore.with { test in
            let sample = try SampleMaker(.bloodGlucose, unit: "mg/dL")
            try test.keep([sample("106", at: 0, ordinal: 5000), sample("106", at: 0), sample("106", at: 0, ordinal: 0x8000_1000)])
            #expect(try test.store.check() == [])
            #expect(Set(try test.samples().map(\.sample.ordinal)) == [5000, 0, 0x8000_1000])
        }
    }

    /// If two programs create the store at the same time, the result is one store.
    @Test func madeTwiceAtOnce() throws {
        let folder = try TemporaryFolder()
        let one = try TestStore.open(folder.file("store.db"))
        let other = try TestStore.open(folder.file("store.db"))
        #expect(one.owner == other.owner)
        #expect(try one.summary().schema == Schema.steps.count)
        try folder.write([], to: "empty.db")
        let empty = try TestStore.open(folder.file("empty.db"))
        #expect(try empty.summary().samples == 0)
    }

    /// Errors name files, SQL and counts, and never a value.
    @Test func errorsHoldNoValues() throws {
        try TestStore.with { test in
            try test.execute("CREATE TEMP TRIGGER no BEFORE INSERT ON sample BEGIN SELECT RAISE(ABORT, 'no'); END")
            let ingest = try test.store.beginIngest(TestStore.description())
            let error = thrown(StoreError.self) {
                _ = try ingest.store([try SampleMaker(device: Device(key: "Grandma's cuff"))("123.25", at: 0)])
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(!text.isEmpty && !text.contains("123") && !text.contains("Grandma"))
            try test.execute("DROP TRIGGER no")
        }
    }
}
