import Testing

/// `changes`, `delete`, `restore`, `ledger undo` and `quarantine`: what happened, in order, and how to take it back.
@Suite struct LedgerCommandsTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    func content() throws -> [String] { try folder.vitalgate("query", "all", "--format", "ndjson").lines }

    /// Without `seq` and `ingest`, which may change after a restoration.
    func readings() throws -> [String] {
        try content().map { $0.replacing(#/,"ingest":\d+,"seq":\d+\}$/#, with: "") }
    }

    func uuids(_ type: String = "all") throws -> [String] {
        try folder.vitalgate("query", type, "--format", "ndjson").objects().compactMap { $0["uuid"].text }
    }

    func changes(after anchor: String = "0", _ more: String...) throws -> [JSON] {
        let run = try folder.vitalgate(["changes", "--after", anchor] + more)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        return try run.objects()
    }

    @Test func changesComeOnceAndInOrder() throws {
        let all = try changes()
        #expect(all.count == 10)
        let seqs = all.compactMap { $0["seq"].integer }
        #expect(seqs == seqs.sorted() && Set(seqs).count == 10)
        let anchors = all.compactMap { $0["anchor"].text }
        #expect(try changes(after: anchors[5]).compactMap { $0["seq"].integer } == Array(seqs[6...]))
        #expect(try changes(after: anchors[9]).isEmpty)
        #expect(try changes(after: "0", "--types", "heartRate,bodyMass").count == 5)
        // An addition is the line that `query` prints, and its anchor.
        let printed = try content()
        let lines = try folder.vitalgate("changes").lines
        #expect(Set(lines.map { $0.replacing(#/,"anchor":"[^"]+"\}$/#, with: "}") }) == Set(printed))
    }

    @Test func aDeletionIsAChange() throws {
        let last = try #require(try changes().last)
        let uuid = try #require(try uuids("heartRate").first)
        let run = try folder.vitalgate("delete", uuid)
        #expect(run.status == 0)
        #expect(run.output.isEmpty)
        let more = try changes(after: try #require(last["anchor"].text))
        #expect(more.count == 1)
        #expect(more[0]["deleted"].text == uuid)
        #expect(more[0]["type"].text == "heartRate")
        #expect(try #require(more[0]["seq"].integer) == (last["seq"].integer ?? 0) + 1)
        // A reader from the start either sees both the addition and the deletion, or neither.
        let added = try changes().filter { $0["uuid"].text == uuid }.count
        let deleted = try changes().filter { $0["deleted"].text == uuid }.count
        #expect(added <= deleted)
    }

    @Test func deletedStaysDeletedUntilRestored() throws {
        let before = try readings()
        let uuid = try #require(try uuids("bodyMass").first)
        try folder.vitalgate("delete", uuid)
        #expect(try uuids("bodyMass").isEmpty)
        let deleted = try folder.vitalgate("query", uuid)
        #expect(deleted.status == 65)
        #expect(deleted.output.isEmpty)
        #expect(deleted.errors.contains("restore"))
        let again = try folder.vitalgate(
            "import", folder.path("household.csv"), "--person", Family.person, "--format", "ndjson")
        #expect(try Account(again.last).stored == 0)
        #expect(try uuids("bodyMass").isEmpty)
        #expect(try folder.vitalgate("restore", uuid).status == 0)
        #expect(try readings() == before)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
        // Twice is an error, and changes nothing.
        #expect(try folder.vitalgate("restore", uuid).status == 65)
        #expect(try readings() == before)
    }

    /// Without --yes a condition only counts.
    @Test func deletesByConditionWithYes() throws {
        let before = try content()
        let shown = try folder.vitalgate("delete", "--type", "heartRate", "--where", "value > 70")
        #expect(shown.status == 0)
        #expect(shown.errors.contains("2 samples"))
        #expect(try content() == before)
        let done = try folder.vitalgate("delete", "--type", "heartRate", "--where", "value > 70", "--yes")
        #expect(done.status == 0)
        #expect(done.output.isEmpty)
        #expect(try uuids("heartRate").count == 2)
    }

    @Test func undoesADeletion() throws {
        let before = try readings()
        try folder.vitalgate("delete", "--type", "all", "--yes")
        #expect(try content().isEmpty)
        #expect(try folder.vitalgate("ledger", "undo", "2").status == 0)
        #expect(try readings() == before)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    @Test func undoesAnImport() throws {
        #expect(try folder.vitalgate("ledger", "undo", "1").status == 0)
        #expect(try content().isEmpty)
        let again = try folder.vitalgate(
            "import", folder.path("household.csv"), "--person", Family.person, "--format", "ndjson")
        let account = try Account(again.last)
        #expect(account.stored == 0)
        #expect(account.addsUp)
        #expect(try Account(folder.vitalgate("ledger", "show", "1", "--format", "ndjson").last).state == "undone")
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    /// After an import in the wrong zone: forget it and import it again.
    @Test func undoesAnImportWithoutATrace() throws {
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,height,1.80,m\n")
        try folder.vitalgate("import", file, "--time-zone", "Europe/Berlin")
        #expect(try folder.vitalgate("ledger", "undo", "2", "--forget").status == 0)
        let again = try folder.vitalgate("import", file, "--time-zone", "Asia/Tokyo", "--format", "ndjson")
        #expect(try Account(again.last).stored == 1)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    /// After an import in the wrong zone: other instants are other readings, in any pair of zones.
    @Test(arguments: [
        ("UTC", "Europe/Berlin", "06:30"), ("Europe/Berlin", "UTC", "07:30"), ("Europe/Berlin", "Asia/Tokyo", "22:30"),
    ])
    func storesReadingsOfAnotherZoneAfterUndo(wrong: String, right: String, time: String) throws {
        let folder = try TestFolder()
        let file = try folder.write("local.csv", "time,type,value,unit\n2026-03-28T07:30:00,height,1.80,m\n")
        try folder.vitalgate("import", file, "--time-zone", wrong)
        #expect(try folder.vitalgate("ledger", "undo", "1").status == 0)
        let again = try folder.vitalgate("import", file, "--time-zone", right, "--format", "ndjson")
        #expect(try Account(again.last).stored == 1)
        // The wrong zone brings nothing back, and neither does undoing the undo.
        #expect(
            try Account(folder.vitalgate("import", file, "--time-zone", wrong, "--format", "ndjson").last).duplicate == 1)
        #expect(try folder.vitalgate("ledger", "undo", "2").status == 0)
        let lines = try folder.vitalgate("query", "height", "--format", "ndjson").objects()
        #expect(lines.count == 1 && lines.first?["start"].text?.contains("T\(time):00") == true)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        #expect(try folder.vitalgate("ledger", "undo", "3").status == 0)
        #expect(try folder.vitalgate("query", "height", "--format", "ndjson").lines.isEmpty)
    }

    @Test func decidesOnQuarantinedReadings() throws {
        let quarantined = try folder.vitalgate("quarantine", "list", "--format", "ndjson")
        #expect(quarantined.lines.count == 1)
        let entry = try JSON(quarantined.last)
        #expect(entry["sample"]["original"]["value"].text == "198")
        #expect(entry["place"].text == "line 12")
        let number = try #require(entry["quarantine"].integer)
        #expect(try folder.vitalgate("quarantine", "accept", "\(number)").status == 0)
        #expect(try uuids("oxygenSaturation").count == 1)
        let accepted = try JSON(folder.vitalgate("query", "oxygenSaturation", "--format", "ndjson").last)
        #expect(accepted["time"] == entry["sample"]["time"])
        #expect(try folder.vitalgate("quarantine", "list", "--format", "ndjson").output.isEmpty)
        #expect(try folder.vitalgate("quarantine", "accept", "\(number)").status == 65)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    @Test func rejectedStaysRejected() throws {
        #expect(try folder.vitalgate("quarantine", "reject", "1").status == 0)
        let again = try folder.vitalgate(
            "import", folder.path("household.csv"), "--person", Family.person, "--format", "ndjson")
        let account = try Account(again.last)
        #expect(account.stored == 0)
        #expect(account.quarantined == 0)
        #expect(account.addsUp)
        #expect(try uuids("oxygenSaturation").isEmpty)
    }

    /// Every line of the ledger adds up, whatever was done.
    @Test func theLedgerAddsUp() throws {
        try folder.vitalgate("delete", "--type", "heartRate", "--yes")
        try folder.vitalgate("ledger", "undo", "2")
        try folder.vitalgate("quarantine", "accept", "1")
        try folder.vitalgate("import", "\(Repository.files)/omron_connect_3.csv")
        for line in try folder.vitalgate("ledger", "list", "--format", "ndjson").lines {
            #expect(try Account(line).addsUp, "\(line)")
        }
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    @Test func copiesTheStore() throws {
        let copy = folder.path("copy.db")
        let run = try folder.vitalgate("store", "backup", copy)
        #expect(run.status == 0)
        #expect(run.output.isEmpty)
        #expect(folder.mode("copy.db") == 0o600)
        #expect(try folder.vitalgate(["query", "all", "--format", "ndjson"], store: copy).lines == (try content()))
        #expect(try folder.vitalgate(["store", "check"], store: copy).output == "ok\n")
        #expect(try folder.vitalgate("store", "backup", copy).status != 0)
    }
}
