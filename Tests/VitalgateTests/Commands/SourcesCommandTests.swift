import Testing

/// `sources`: the sources of samples, and which of several counts.
@Suite struct SourcesCommandTests {
    let folder: TestFolder

    init() throws {
        folder = try Family.folder()
        let file = try folder.write(
            "walk.csv",
            """
            time,type,value,unit,end,source
            2026-06-01T06:00:00Z,stepCount,100,1,2026-06-01T07:00:00Z,Watch
            2026-06-01T06:00:00Z,stepCount,90,1,2026-06-01T07:00:00Z,iPhone

            """)
        let run = try folder.vitalgate("import", file, "--person", Family.person)
        try #require(run.status == 0, "\(run.errors)")
    }

    private func steps(_ arguments: String...) throws -> [Double?] {
        let command = ["stats", "stepCount", "--every", "1d", "--from", "2026-06-01", "--format", "ndjson"]
        return try folder.vitalgate(command + arguments).objects().map { $0["sum"].double }
    }

    @Test func lists() throws {
        let rows = try folder.vitalgate("sources", "list", "stepCount", "--format", "ndjson").objects()
        #expect(rows.map { $0["source"]["name"].text } == ["Watch", "Pedometer", "Phone", "iPhone"])
        #expect(rows.map { $0["place"].integer } == [1, 2, 3, 4])
        let all = try folder.vitalgate("sources", "list", "--format", "csv")
        #expect(all.lines.count == 9 && all.lines[0] == "source,id,device,person,types,first,last")
        #expect(try folder.vitalgate("sources", "list", "bodyFatPercentage").errors == "no samples\n")
        #expect(try folder.vitalgate("sources", "list", "stepCount", "--person", Family.guest).output.isEmpty)
    }

    @Test func prefers() throws {
        #expect(try steps() == [100])
        #expect(try folder.vitalgate("sources", "priority", "stepCount", "iphone").status == 0)
        #expect(try steps() == [90])
        #expect(try folder.vitalgate("sources", "priority", "all", "Watch", "--person", Family.person).status == 0)
        #expect(try steps() == [100])
        let output = try folder.vitalgate("sources", "priority", "--format", "ndjson").objects()
        #expect(
            output.map { $0["type"].text } == [nil, "stepCount"] && output.map { $0["subject"].text } == [Family.person, nil])
        let table = try folder.vitalgate("sources", "priority")
        #expect(table.output.contains("everybody") && table.output.contains("all"))
        #expect(try folder.vitalgate("sources", "priority", "all", "--person", Family.person, "--clear").status == 0)
        #expect(try steps() == [90])
        let unknown = try folder.vitalgate("sources", "priority", "stepCount", "Watch", "Belt")
        #expect(unknown.status == 0 && unknown.errors.contains("'Belt'"))
        #expect(try steps() == [100])
        for wrong in [["nothing", "Watch"], ["stepCount", "Watch", "--clear"]] {
            #expect(try folder.vitalgate(["sources", "priority"] + wrong).status == 64, "\(wrong)")
        }
        #expect(try folder.vitalgate("sources", "priority", "stepCount", "two\nlines").status == 65)
    }
}
