import Testing

/// `query --explain` with a type, and `--sort`.
@Suite struct QueryPlanCommandTests {
    let folder: TestFolder

    init() throws { folder = try Household.folder() }

    /// No full scan where a range is given: what lies outside of it is not read.
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

    @Test func whatIsNoOrderIsRefused() throws {
        for order in ["height", "value,,start", "", "inCorrelation", "value,value,value,value,value,value,value,value,value"] {
            let run = try folder.vitalgate("query", "heartRate", "--sort", order)
            #expect(run.status == 64 && run.output.isEmpty && run.errors.contains("--sort"), "\(order): \(run.errors)")
        }
    }

    /// A unit is of what is printed.
    @Test func aUnitChangesNothing() throws {
        let before = try folder.vitalgate("query", "all", "--format", "ndjson").output
        let shown = try folder.vitalgate("query", "bodyMass", "--unit", "kg", "--format", "ndjson").objects()
        #expect(shown.first?["unit"].text == "kg")
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").output == before)
    }
}
