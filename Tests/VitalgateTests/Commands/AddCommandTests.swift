import Testing

/// Readings that a person types.
@Suite struct AddCommandTests {
    private static let at = ["--at", "2026-11-20T07:30:00Z"]

    private func add(_ folder: TestFolder, _ arguments: String...) throws -> Vitalgate.Run {
        try folder.vitalgate(["add"] + arguments + Self.at)
    }

    @Test func aReadingIsStoredOnce() throws {
        let folder = try TestFolder()
        let run = try add(folder, "bodyMass", "157.6", "[lb_av]")
        #expect(run.status == 0 && run.errors.contains("stored: bodyMass 157.6 [lb_av]"), "\(run.errors)")
        let again = try add(folder, "bodyMass", "157.6", "[lb_av]")
        #expect(again.status == 0 && again.errors.hasPrefix("a duplicate"), "\(again.errors)")
        let lines = try folder.vitalgate("query", "bodyMass", "--format", "ndjson").lines
        #expect(lines.count == 1)
        let sample = try JSON(try #require(lines.first))
        #expect(sample["original"]["value"].text == "157.6" && sample["original"]["unit"].text == "[lb_av]")
        #expect(abs((sample["value"].double ?? 0) - 71.486) < 0.001)
        #expect(sample["source"]["id"].text == "vitalgate.hand")
        #expect(lines[0].contains("\"wasUserEntered\":true") && lines[0].contains("\"start\":\"2026-11-20T07:30:00.000000Z\""))
        #expect(try folder.vitalgate("ledger", "undo", "1").status == 0)
        #expect(try folder.vitalgate("query", "bodyMass", "--format", "ndjson").lines.isEmpty)
    }

    @Test func aBloodPressureIsOneMeasurement() throws {
        let folder = try TestFolder()
        #expect(try add(folder, "bloodPressure", "124/79").status == 0)
        let csv = try folder.vitalgate("query", "bloodPressure", "--format", "csv").lines
        #expect(csv.count == 2 && csv[1].contains(",124/79,mm[Hg],"), "\(csv)")
        let kilopascals = try folder.vitalgate("query", "bloodPressure", "--unit", "kPa", "--format", "csv").lines
        #expect(kilopascals.last?.contains(",16.5/10.5,kPa,") == true, "\(kilopascals)")
        #expect(try folder.vitalgate("query", "bloodPressure").output.contains("124/79"))
        #expect(try add(folder, "bloodPressure", "124").status == 64)
    }

    @Test func quarantinesImpossibleValuesAndRefusesWrongNames() throws {
        let folder = try TestFolder()
        let beat = try add(folder, "heartRate", "900", "/min")
        #expect(beat.status == 65 && beat.errors.hasPrefix("quarantined"), "\(beat.errors)")
        #expect(try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.isEmpty)
        #expect(try add(folder, "bodyMass", "71.5", "s").status == 65)
        #expect(try add(folder, "bodyMass", "heavy").status == 64)
        #expect(try add(folder, "sleepAnalysis", "3").status == 64)
        #expect(try folder.vitalgate("add", "bodyMass", "70", "--at", "2999-01-01T00:00:00Z").status == 64)
        #expect(try folder.vitalgate("ledger", "list", "--format", "ndjson").lines.count == 1)
    }
}
