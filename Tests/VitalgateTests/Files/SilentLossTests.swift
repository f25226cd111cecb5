import FoundationEssentials
import Testing

/// Files whose readings were once lost, doubled, or stored as another value, without a message. Sources: `BadInput/silent/SOURCE.md`.
@Suite struct SilentLossTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    static func file(_ name: String) -> String { BadInputTests.corpus + "/silent/" + name }

    static func bytes(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: file(name))))
    }

    private func add(_ path: String, _ options: String...) throws -> (run: Vitalgate.Run, account: Account) {
        let run = try folder.vitalgate(["import", path] + options + ["--format", "ndjson"])
        return (run, try Account(run.last))
    }

    private func count(_ type: String) throws -> Int {
        try folder.vitalgate("query", type, "--format", "ndjson").lines.count
    }

    private func skipped(_ run: Vitalgate.Run, _ name: String) throws -> Int? { try JSON(run.last)["skipped"][name].integer }

    // MARK: Databases

    /// SQLite reads missing bytes as zeros, so a truncated database had steps of 0, which the complete file did not correct.
    @Test(arguments: [1, 3, 100, 4096, 5000, 32700]) func refusesTruncatedDatabases(missing: Int) throws {
        let whole = try Self.bytes("health_connect_export.db")
        let cut = try folder.write("cut.db", whole.dropLast(missing))
        let run = try folder.vitalgate("import", cut)
        #expect(run.status == 65 && run.errors.contains("the database is truncated"), "\(run.errors)")
        #expect(try add(Self.file("health_connect_export.db")).account.stored == 300)
        let sum = try folder.vitalgate("stats", "stepCount", "--every", "1d", "--format", "ndjson").objects().first?["sum"].double
        #expect(sum == 35650)
    }

    @Test func readsWriteAheadLogOfDatabase() throws {
        let (database, log) = (try Self.bytes("Gadgetbridge.db"), try Self.bytes("Gadgetbridge.db-wal"))
        let path = try folder.write("Gadgetbridge.db", database)
        let logPath = try folder.write("Gadgetbridge.db-wal", log)
        let (run, account) = try add(path)
        #expect(account.stored == 20 && run.errors.contains("read together with its log"), "\(run.errors)")
        // The originals are unchanged.
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == database)
        #expect(try [UInt8](Data(contentsOf: URL(filePath: logPath))) == log)
        let alone = try folder.vitalgate("import", logPath)
        #expect(alone.status == 65 && alone.errors.contains("the write-ahead log of a database"), "\(alone.errors)")
    }

    @Test func notesAMissingLog() throws {
        let path = try folder.write("alone.db", try Self.bytes("Gadgetbridge.db"))
        let (run, account) = try add(path)
        #expect(account.stored == 10 && run.errors.contains("no log lies beside it"), "\(run.errors)")
        let shown = try folder.vitalgate("ledger", "show", "1")
        #expect(shown.output.contains("no log lies beside it"), "\(shown.output)")
    }

    // MARK: Activities

    /// The FIT file of a watch and the TCX file of its maker's site, in any order: equal serial numbers are one device.
    @Test(arguments: [["run.fit", "run.tcx"], ["run.tcx", "run.fit"], ["run.fit.gz", "run.tcx", "run.fit"]])
    func storesOneActivity(of files: [String]) throws {
        for name in files { #expect(try add(Self.file(name)).account.addsUp) }
        #expect(try count("heartRate") == 61)
        #expect(try count("workout") == 1)
    }

    @Test func readsTheNumberOfASport() throws {
        _ = try add(Self.file("ride.gpx"))
        for type in ["heartRate", "cyclingPower", "cyclingCadence"] { #expect(try count(type) == 4) }
    }

    /// The archive of an account at Strava: files in any of the formats, most of them compressed.
    @Test func readsAnArchiveOfActivities() throws {
        let packed = try Self.bytes("run.fit.gz")
        let archive = ZIPFile(members: [
            .init(name: "activities/1.fit.gz", packed), .init(name: "activities/2.gpx", try Self.bytes("ride.gpx")),
            .init(name: "activities/3.tcx", try Self.bytes("run.tcx")),
            .init(name: "activities/4.gpx", Array("<gpx><trk>".utf8)), .init(name: "activities/5.fit.gz", packed.dropLast(9)),
            .init(name: "activities.csv", Array("a,b\n".utf8)), .init(name: "media/1.jpg", [0xFF]),
        ])
        let (run, account) = try add(folder.write("export_1.zip", archive.bytes))
        #expect(account.addsUp && account.refused == 2 && run.status == 65)
        #expect(run.errors.contains("activities/4.gpx") && run.errors.contains("activities/5.fit.gz"), "\(run.errors)")
        #expect(try skipped(run, "file.csv") == 1)
        #expect(try skipped(run, "file.jpg") == 1)
        #expect(try count("heartRate") == 65)
        #expect(try count("workout") == 1)
        #expect(try folder.vitalgate("ledger", "undo", "1").status == 0)
        #expect(try count("all") == 0)
    }

    @Test func refusesADamagedGzipFile() throws {
        let packed = try Self.bytes("run.fit.gz")
        var changed = packed
        changed[packed.count - 6] ^= 1
        for bytes in [packed.dropLast(9), packed.prefix(20), changed[...]] {
            let run = try folder.vitalgate("import", folder.write("run.fit.gz", bytes))
            #expect(run.status == 65 && run.errors.contains("the gzip file is damaged"), "\(run.errors)")
        }
    }

    @Test(arguments: [true, false]) func readsAnActivityInUTF16(hasMark: Bool) throws {
        let text = String(decoding: try Self.bytes("run.tcx"), as: UTF8.self).replacing("UTF-8", with: "UTF-16")
        var wide: [UInt8] = hasMark ? [0xFF, 0xFE] : []
        for unit in text.utf16 { wide += [UInt8(unit & 0xFF), UInt8(unit >> 8)] }
        #expect(try add(folder.write("wide.tcx", wide)).account.stored == 62)
    }

    // MARK: Tables

    /// A spreadsheet's line with the separator, blank lines and lines of separators before the header. Places are those of the file.
    @Test func skipsLinesBeforeTheHeader() throws {
        let text =
            "sep=;\r\n\r\n;;;\r\ntime;type;value;unit\r\n2026-03-01T10:00:00Z;heartRate;61;/min\r\nbad;heartRate;61;/min\r\n"
        let (run, account) = try add(folder.write("sheet.csv", text))
        #expect(account.stored == 1 && account.refused == 1 && run.errors.contains("line 6"), "\(run.errors)")
    }

    /// A heart rate of 0 means that a device had no contact. A file may have one for each second.
    @Test func countsHeartRatesOfZero() throws {
        let rows = (0..<60).map { "2026-03-01T10:00:\($0 / 10)\($0 % 10)Z,heartRate,\($0 % 2 == 0 ? "0" : "61"),/min\n" }
        let (run, account) = try add(folder.write("zeros.csv", BadInputTests.header + rows.joined()))
        #expect(account.addsUp && account.stored == 30 && account.quarantined == 0 && run.status == 0)
        #expect(try skipped(run, "heart rate of 0") == 30)
        #expect(run.errors.contains("30 heart rates of 0"), "\(run.errors)")
        #expect(try folder.vitalgate("quarantine", "list", "--format", "ndjson").output.isEmpty)
    }

    /// The draft that the import suggests for a table without a header.
    @Test func draftsAProfileForATableWithoutHeader() throws {
        let path = try folder.write("scale.csv", "2026-11-20 06:31;71,3\n2026-11-21 06:32;71,4\n")
        #expect(try folder.vitalgate("import", path).errors.contains("vitalgate profile suggest"))
        let run = try folder.vitalgate("profile", "suggest", path)
        #expect(run.status == 0 && run.errors.contains("Insert this line at its beginning: time;column2"), "\(run.errors)")
        #expect(run.output.contains("columns: [\"time\"]") && !run.output.contains("71,3"))
    }

    // MARK: Exports of Apple Health, clinical records

    @Test func countsBeatsWithUnknownTimes() throws {
        let text = String(decoding: try Self.bytes("beats.xml"), as: UTF8.self)
        _ = try add(folder.write("export.xml", text))
        #expect(try count("heartbeatSeries") == 1)
        for word in ["07.28.01,34 Uhr", "07:28"] {
            let run = try add(folder.write("export.xml", text.replacing("07.28.01,34", with: word))).run
            #expect(try skipped(run, "InstantaneousBeatsPerMinute") == 2)
        }
    }

    @Test func storesRecordsWithConditionalReferences() throws {
        let (_, account) = try add(Self.file("conditional.json"))
        #expect(account.refused == 0 && account.stored == 3)
    }
}
