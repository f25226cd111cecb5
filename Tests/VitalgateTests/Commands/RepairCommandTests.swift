import Testing

/// `migrate` at the command line: what would make fewer readings waits for a word, and lists fit.
@Suite struct RepairCommandTests {
    static func hourly() throws -> TestFolder {
        let folder = try TestFolder()
        let rows = (0..<9).map { "2026-01-01T0\($0):00:00Z,2026-01-01T0\($0):10:00Z,stepCount,10,1,Phone" }
        _ = try folder.write("steps.csv", (["time,end,type,value,unit,source"] + rows).joined(separator: "\n") + "\n")
        try folder.vitalgate("import", folder.path("steps.csv"))
        return folder
    }

    static func count(_ folder: TestFolder) throws -> Int {
        try folder.vitalgate("query", "stepCount", "--format", "ndjson").lines.count
    }

    @Test func shiftOntoTheNextHourKeepsAll() throws {
        let folder = try Self.hourly()
        let done = try folder.vitalgate("repair", "apply", "--type", "stepCount", "--shift", "+1h")
        #expect(done.errors.contains("9 samples repaired (this is repair 1"))
        #expect(try Self.count(folder) == 9)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }

    @Test func fewerReadingsWantMerge() throws {
        let folder = try Self.hourly()
        let one = ["repair", "apply", "--type", "stepCount", "--to", "2026-01-01T00:30:00Z", "--shift", "+1h"]
        let refused = try folder.vitalgate(one)
        #expect(
            refused.status == 65 && refused.errors.contains("so the repair would remove 1: ")
                && refused.errors.contains("--merge"))
        #expect(try Self.count(folder) == 9)
        let done = try folder.vitalgate(one + ["--merge"])
        #expect(done.status == 0 && done.errors.contains("0 samples repaired, 1 merged"))
        #expect(try Self.count(folder) == 8)
        try folder.vitalgate("repair", "undo", "1")
        #expect(try Self.count(folder) == 9)
    }

    @Test func listDescribesRepairs() throws {
        let folder = try Self.hourly()
        try folder.vitalgate("repair", "apply", "--type", "stepCount", "--shift", "+1h")
        let list = try folder.vitalgate("repair", "list").lines
        #expect(list.count == 2 && list.allSatisfy { $0.count <= 80 }, "\(list)")
        #expect(list.last?.contains("moved by +1h  type stepCount") == true, "\(list)")
    }

    @Test func undoReportsReadings() throws {
        let folder = try Self.hourly()
        #expect(try folder.vitalgate("ledger", "undo", "1").errors.contains("ledger entry 1 is undone: 9 samples deleted"))
        let back = try folder.vitalgate("ledger", "undo", "2").errors
        #expect(back.contains("ledger entry 2 is undone (ledger entry 1 applies again): 9 samples restored"), "\(back)")
        try folder.vitalgate("repair", "apply", "--type", "stepCount", "--shift", "+1h")
        #expect(try folder.vitalgate("ledger", "undo", "4").errors.contains("'vitalgate repair apply' repeats the repair"))
    }

    @Test func undoReportsRestoredDecision() throws {
        let folder = try TestFolder()
        _ = try folder.write("hr.csv", "time,type,value,unit,source\n2026-01-01T00:00:00Z,heartRate,255,/min,Strap\n")
        try folder.vitalgate("import", folder.path("hr.csv"))
        try folder.vitalgate("quarantine", "reject", "1")
        #expect(
            try folder.vitalgate("ledger", "undo", "2").errors.contains("1 reading quarantined again (see 'quarantine list')"))
        #expect(try folder.vitalgate("ledger", "undo", "3").errors.contains("1 quarantine decision restored"))
    }
}
