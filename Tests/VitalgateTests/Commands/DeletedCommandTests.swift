import Testing

/// The list of deleted samples.
@Suite struct DeletedCommandTests {
    @Test func listsDeletedSamplesWithEntry() throws {
        let folder = try TestFolder()
        #expect(try folder.vitalgate("deleted", "list").status == 66)
        for (type, value, unit, day) in [
            ("weight", "71.5", "kg", 18), ("weight", "72.5", "kg", 19), ("heart rate", "61", "/min", 20),
            ("weight", "9", "kg", 20),
        ] {
            #expect(try folder.vitalgate("add", type, value, unit, "--at", "2026-11-\(day)T07:30:00Z").status == 0)
        }
        #expect(try folder.vitalgate("deleted", "list").errors.contains("no deleted samples"))
        #expect(try folder.vitalgate("delete", "--type", "weight", "--where", "value < 20 kg", "--yes").status == 0)
        #expect(try folder.vitalgate("delete", "--type", "heart rate", "--yes").status == 0)
        let lines = try folder.vitalgate("deleted", "list", "--format", "ndjson").objects()
        #expect(lines.map { $0["ingest"].integer } == [5, 6] && lines.map { $0["kind"].text } == ["delete", "delete"])
        #expect(lines.map { $0["sample"]["type"].text } == ["bodyMass", "heartRate"])
        #expect(lines[0]["sample"]["original"]["value"].text == "9" && lines[0]["deleted"].text?.hasSuffix("Z") == true)
        let uuid = try #require(lines[0]["sample"]["uuid"].text)
        let table = try folder.vitalgate("deleted", "list", "--type", "Weight")
        #expect(table.lines.count == 2 && table.output.contains(uuid) && table.output.contains(" 9 "), "\(table.output)")
        let csv = try folder.vitalgate("deleted", "list", "--format", "csv").lines
        #expect(csv.count == 3 && csv[0] == "deleted,ledger,by,start,type,value,unit,uuid,replaced by", "\(csv)")

        func count(_ options: String...) throws -> Int {
            try folder.vitalgate(["deleted", "list", "--format", "ndjson"] + options).lines.count
        }
        #expect(try count("--limit", "1") == 1 && count("--limit", "0") == 0)
        #expect(try count("--until", "2026-11-20") == 0 && count("--from", "2026-11-20", "--to", "2026-11-21") == 2)
        #expect(try count("--person", "me") == 2 && count("--person", "unassigned") == 0)
        #expect(try folder.vitalgate("deleted", "list", "--limit", "-1").status == 64)
        #expect(try folder.vitalgate("deleted", "list", "--type", "nosuch").status == 64)

        // It is restored, which can be undone.
        #expect(try folder.vitalgate("store", "restore", uuid).errors.contains("'vitalgate ledger undo 7' reverts it"))
        #expect(try count() == 1)
        #expect(try folder.vitalgate("ledger", "undo", "7").status == 0)
        #expect(try count() == 2)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }

    /// A repair deletes the readings that it replaces.
    @Test func replacedSampleNamesReplacement() throws {
        let folder = try TestFolder()
        #expect(try folder.vitalgate("add", "weight", "71.5", "kg", "--at", "2026-11-20T07:30:00Z").status == 0)
        #expect(try folder.vitalgate("repair", "apply", "--type", "bodyMass", "--shift", "+1h").status == 0)
        let line = try JSON(try #require(try folder.vitalgate("deleted", "list", "--format", "ndjson").lines.first))
        let now = try folder.vitalgate("query", "bodyMass", "--format", "ndjson").objects().first?["uuid"].text
        #expect(line["replacedBy"].text == now && now != nil)
    }
}
