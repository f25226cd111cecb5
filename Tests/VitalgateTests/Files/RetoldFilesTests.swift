import Testing

/// Files of one source that tell the same readings in other units, through the program.
@Suite struct RetoldFilesTests {
    static func csv(_ unit: String, _ values: String...) -> String {
        "time,type,value,unit,end,source\n"
            + values.enumerated().map { index, value in
                "2026-11-20T08:\(10 + index):00Z,distanceWalkingRunning,\(value),\(unit),2026-11-20T08:\(10 + index):30Z,Phone\n"
            }.joined()
    }

    static func export(_ unit: String, _ values: String...) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n"
            + values.enumerated().map { index, value in
                """
                <Record type="HKQuantityTypeIdentifierDistanceWalkingRunning" sourceName="Phone" unit="\(unit)" \
                creationDate="2026-11-20 09:00:00 +0000" startDate="2026-11-20 08:\(10 + index):00 +0000" \
                endDate="2026-11-20 08:\(10 + index):30 +0000" value="\(value)"/>

                """
            }.joined() + "</HealthData>\n"
    }

    static func sum(_ folder: TestFolder) throws -> Double? {
        try folder.vitalgate("stats", "distanceWalkingRunning", "--every", "1d", "--unit", "km", "--format", "ndjson").objects()
            .first?["sum"].double
    }

    /// Kilometres, miles with all digits, miles with three: the sum stays what the first file says.
    @Test(arguments: ["csv", "xml"]) func threeExports(format: String) throws {
        let folder = try TestFolder()
        func file(_ unit: String, _ ucum: String, _ one: String, _ two: String) -> String {
            format == "csv" ? Self.csv(ucum, one, two) : Self.export(unit, one, two)
        }
        for (index, text) in [
            file("km", "km", "1.25", "0.8"), file("mi", "[mi_i]", "0.7767139902970651", "0.4970969537898672"),
            file("mi", "[mi_i]", "0.777", "0.497"),
        ].enumerated() {
            let run = try folder.vitalgate("import", try folder.write("\(index).\(format)", text), "--format", "ndjson")
            let account = try Account(run.last)
            #expect(account.addsUp)
            #expect(account.stored == (index == 0 ? 2 : 0) && account.duplicate == (index == 0 ? 0 : 2))
            #expect(try Self.sum(folder) == 2.05)
        }
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        #expect(try folder.vitalgate("ingest", "undo", "1").status == 0)
        let sum = try #require(try Self.sum(folder))
        #expect(abs(sum - 2.05) < 0.001)
    }
}
