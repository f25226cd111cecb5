import Testing

/// Files of one source with the same readings in other units, through the program.
@Suite struct RepeatedFilesTests {
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

    /// Kilometers, miles with all digits, miles with three: each reading counts once. The last file is the most precise: a number with all
    /// digits comes from a conversion.
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
            #expect(account.stored == (index == 1 ? 0 : 2) && account.duplicate == (index == 1 ? 2 : 0))
            let sum = try #require(try Self.sum(folder))
            #expect(abs(sum - (index == 2 ? 1.274 * 1.609344 : 2.05)) < 1e-9)
        }
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        #expect(try folder.vitalgate("ledger", "undo", "1").status == 0)
        let sum = try #require(try Self.sum(folder))
        #expect(abs(sum - 2.05) < 0.001)
    }

    /// A store whose readings are there twice, because `--exact` compares nothing.
    @Test(arguments: ["csv", "xml"]) func aDoubledStore(format: String) throws {
        let folder = try TestFolder()
        let files = [
            try folder.write("km.\(format)", format == "csv" ? Self.csv("km", "1.25", "0.8") : Self.export("km", "1.25", "0.8")),
            try folder.write(
                "mi.\(format)", format == "csv" ? Self.csv("[mi_i]", "0.777", "0.497") : Self.export("mi", "0.777", "0.497")),
        ]
        for file in files { #expect(try folder.vitalgate("import", file, "--exact").status == 0) }
        let before = try folder.vitalgate("query", "all", "--format", "ndjson").lines
        let doubled = try #require(try Self.sum(folder))
        #expect(doubled > 4)
        let check = try folder.vitalgate("store", "check", "--deep")
        #expect(check.status == 65)
        #expect(
            check.output.contains("2 samples are duplicates of a reading stored")
                && check.output.contains("vitalgate store merge"))
        #expect(try folder.vitalgate("store", "check").output == "ok\n")

        let shown = try folder.vitalgate("store", "merge")
        #expect(shown.status == 0 && shown.lines.count == 2 && shown.lines.allSatisfy { $0.contains(" is a duplicate of ") })
        #expect(shown.errors.contains("Nothing was changed"))
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").lines == before)
        let anchor = try #require(try folder.vitalgate("changes").objects().last?["anchor"].text)

        let merged = try folder.vitalgate("store", "merge", "--yes")
        #expect(merged.status == 0 && merged.errors.contains("'vitalgate ledger undo 3'"))
        let sum = try #require(try Self.sum(folder))
        #expect(abs(sum - 1.274 * 1.609344) < 1e-9)
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
        let reported = try folder.vitalgate("changes", "--after", anchor).objects().compactMap { $0["deleted"].text }
        #expect(Set(reported) == Set(shown.lines.map { String($0.prefix(36)) }))
        #expect(try folder.vitalgate("store", "merge", "--yes").errors.contains("there is nothing to merge"))
        for file in files { #expect(try Account(folder.vitalgate("import", file, "--format", "ndjson").last).stored == 0) }
        #expect(try Self.sum(folder) == sum)

        #expect(try folder.vitalgate("ledger", "undo", "3").errors.contains("2 samples restored"))
        #expect(try Self.sum(folder) == doubled)
        #expect(try folder.vitalgate("store", "check").output == "ok\n")
    }

    /// An impossible weight in two units is quarantined once, and is one sample after it was accepted.
    @Test func quarantinesWeightInTwoUnitsOnce() throws {
        let folder = try TestFolder()
        for (index, reported) in ["3000.0,kg", "6613.87,[lb_av]"].enumerated() {
            let file = try folder.write(
                "\(index).csv", "time,type,value,unit,end,source\n2026-11-20T08:10Z,bodyMass,\(reported),,Scale\n")
            let account = try Account(folder.vitalgate("import", file, "--format", "ndjson").last)
            #expect(account.addsUp)
            #expect(account.quarantined == 1 - index && account.duplicate == index)
        }
        #expect(try folder.vitalgate("quarantine", "accept", "1").status == 0)
        let again = try Account(folder.vitalgate("import", folder.path("1.csv"), "--format", "ndjson").last)
        #expect(again.duplicate == 1 && again.addsUp)
        #expect(try folder.vitalgate("query", "all", "--format", "ndjson").objects().compactMap { $0["value"].double } == [3000])
        #expect(try folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }
}
