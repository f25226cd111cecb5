import Testing

/// `query --explain` with a type, and `--sort`.
@Suite struct QueryPlanCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    /// A range causes no full scan: rows outside of it are not read.
    @Test func aRangeIsNoFullScan() throws {
        let run = try folder.vitalgate(
            "query", "all", "--from", "2026-03-28T08:00:01Z", "--to", "2026-03-28T08:00:03Z", "--explain", "--format", "ndjson")
        let plan = try #require(try run.objects().first)
        #expect(plan["read"].double == 2 && plan["met"].double == 2)
        for series in plan["series"].list {
            #expect(
                series["starts"].list.map { [$0["from"].text, $0["through"].text] } == [
                    ["2026-03-28T08:00:01.000000Z", "2026-03-28T08:00:02.999999Z"]
                ])
        }
        let one = try #require(
            try folder.vitalgate(
                "query", "heartRate", "--where", "value > 61 and source.name = Strap", "--limit", "1", "--explain", "--format",
                "ndjson"
            ).objects().first)
        #expect(one["condition"].text == "type = heartRate and value > 61 and source.name = Strap")
        #expect(one["read"].double == 2 && one["met"].double == 1 && one["streamed"] == .boolean(true))
    }

    @Test(arguments: [
        ("-value", [80.0, 72, 63, 61]), ("value", [61, 63, 72, 80]), ("-start", [72, 80, 63, 61]), ("asc", [61, 63, 80, 72]),
        ("source.name,-value", [80, 63, 61, 72]), ("device.model,-end", [72, 80, 63, 61]),
    ])
    func sorts(order: String, values: [Double]) throws {
        let run = try folder.vitalgate("query", "heartRate", "--sort", order, "--format", "ndjson")
        #expect(try run.objects().compactMap { $0["value"].double } == values)
        let two = try folder.vitalgate("query", "heartRate", "--sort", order, "--limit", "2", "--format", "ndjson")
        #expect(two.output == run.lines.prefix(2).map { $0 + "\n" }.joined())
    }

    @Test func refusesInvalidOrder() throws {
        for order in ["height", "value,,start", "", "inCorrelation", "value,value,value,value,value,value,value,value,value"] {
            let run = try folder.vitalgate("query", "heartRate", "--sort", order)
            #expect(run.status == 64 && run.output.isEmpty && run.errors.contains("--sort"), "\(order): \(run.errors)")
        }
    }

    /// The unit only affects the output.
    @Test func aUnitChangesNothing() throws {
        let before = try folder.vitalgate("query", "all", "--format", "ndjson").output
        let shown = try folder.vitalgate("query", "bodyMass", "--unit", "kg", "--format", "ndjson").objects()
        #expect(shown.first?["unit"].text == "kg")
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output == before)
    }
}

/// Blood pressures of frames, and what takes no relations.
@Suite struct FrameCorrelationCommandTests {
    @Test func aFramesPressuresAreOne() throws {
        let folder = try TestFolder()
        let file = "\(Repository.root)/Examples/omron-blood-pressure.csv"
        #expect(try folder.vitalgate("import", file, "--time-zone", "Z", "--person", Family.person).status == 0)
        let all = try folder.vitalgate("query", "all", "--format", "ndjson").objects()
        let found = try folder.vitalgate("query", "bloodPressure", "--format", "ndjson").objects()
        #expect(found.count == all.filter { $0["type"].text == "bloodPressureSystolic" }.count && !found.isEmpty)
        #expect(!all.contains { $0["kind"].text == "correlation" })
        #expect(try folder.vitalgate("query", "all", "--kind", "correlation", "--format", "ndjson").objects() == found)
        let uuid = try #require(found[0]["uuid"].text)
        #expect(found[0]["objects"].list.count == 2)
        #expect(try folder.vitalgate("query", uuid, "--format", "ndjson").objects() == [found[0]])
        let explained = try folder.vitalgate("query", uuid, "--explain", "--format", "ndjson").objects()
        #expect(explained.first?["state"].text == "derived" && explained.first?["objects"] == found[0]["objects"])
        let halves = try folder.vitalgate("query", "all", "--where", "inCorrelation = \(uuid)", "--format", "ndjson").objects()
        #expect(Set(halves.map { $0["uuid"] }) == Set(found[0]["objects"].list))
        // By a condition, a half goes, and the whole with it.
        let deleted = try folder.vitalgate(
            "delete", "--where", "inCorrelation = \(uuid) and type = bloodPressureDiastolic", "--yes")
        #expect(deleted.status == 0 && deleted.errors.hasPrefix("1 sample deleted (this is ledger entry"), "\(deleted.errors)")
        #expect(try folder.vitalgate("query", "bloodPressure", "--format", "ndjson").objects().count == found.count - 1)
        #expect(try folder.vitalgate("show", uuid).status == 65)
    }

    @Test func whereASampleDecidesAlone() throws {
        let folder = try Family.folder()
        let repair = try folder.vitalgate(
            "repair", "plan", "--type", "heartRate", "--scale", "2", "--where", "inCorrelation = *")
        #expect(repair.status == 65 && repair.errors.contains("inCorrelation = UUID"), "\(repair.errors)")
    }
}
