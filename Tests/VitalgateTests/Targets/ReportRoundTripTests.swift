import Testing

/// A report for a doctor, read back into an empty store and into the same store.
@Suite struct ReportRoundTripTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try folder.write("config.json5", "{ timeZone: 'Europe/Berlin' }\n")
        // Two sources, one of them with a device, and rows without a source. The clocks change on October 25.
        let rows = """
            time,type,value,unit,end,source,device
            2026-10-24T23:30:00+02:00,bodyTemperature,98.60,[degF],,Thermometer,TD1242
            2026-10-25T02:30:00+02:00,heartRate,61,/min,,Strap,
            2026-10-25T02:30:00+01:00,heartRate,62,/min,,Strap,
            2026-10-25T02:30:01.25+01:00,heartRate,62,/min,,Strap,
            2026-10-25T02:00:00+02:00,stepCount,512,{steps},2026-10-25T02:15:00+01:00,"Clip ""3"", red",Clip
            2026-10-25T12:00:00+01:00,bloodGlucose,5.30,mmol/L,,,
            2026-10-25T12:00:00+01:00,oxygenSaturation,97,%,,,

            """
        for file in [
            try folder.write("own.csv", rows), Repository.root + "/Examples/omron-blood-pressure.csv",
            Repository.root + "/Examples/withings-weight.csv", Repository.root + "/Examples/libreview-glucose.csv",
            Repository.root + "/Examples/steps.csv",
        ] {
            let run = try folder.vitalgate("import", file)
            #expect(run.status == 0, "\(run)")
        }
        #expect(try folder.vitalgate("add", "weight", "74.5", "kg", "--at", "2026-11-20T07:00:00+01:00").status == 0)
    }

    private struct Reading: Hashable {
        var type, value, unit, start, end, zone, source, device: String?
    }

    /// The quantities of a store, with the numbers and units as received.
    private func readings(_ store: String) throws -> [Reading] {
        try folder.vitalgate(["query", "all", "--format", "ndjson"], store: store).lines.compactMap { line in
            let object = try JSON(line)
            guard object["kind"].text == "quantity" else { return nil }
            return Reading(
                type: object["type"].text, value: object["original"]["value"].text, unit: object["original"]["unit"].text,
                start: object["start"].text, end: object["end"].text, zone: object["zone"].text,
                source: object["source"]["name"].text, device: object["device"]["name"].text)
        }
    }

    /// The numbers of a ledger entry.
    private func imported(_ file: String, _ store: String) throws -> (read: Int?, stored: Int?, duplicate: Int?) {
        let run = try folder.vitalgate(["import", file, "--format", "ndjson"], store: store)
        #expect(run.status == 0, "\(run)")
        let entry = try JSON(try #require(run.lines.first))
        return (entry["read"].integer, entry["stored"].integer, entry["duplicate"].integer)
    }

    @Test func itIsReadBack() throws {
        let original = try readings(folder.store)
        #expect(original.count > 1000 && Set(original.compactMap(\.type)).count > 8)
        let path = folder.path("doctor.csv")
        let run = try folder.vitalgate("export", "--to", path, "--format", "report")
        #expect(
            run.status == 0 && run.errors.replacing(",", with: "").contains("doctor.csv: \(original.count) samples"), "\(run)")
        let text = folder.text("doctor.csv")
        #expect(text.hasPrefix("time,type,value,unit,end,source,device\r\n"))
        #expect(text.contains("2026-10-25T02:30:00+01:00,heartRate,62,/min,,Strap,\r\n"))
        #expect(text.contains("2026-10-25T12:00:00+01:00,bloodGlucose,5.30,mmol/L,,,\r\n"))

        let other = folder.path("other.db")
        let first = try imported(path, other)
        #expect((first.read, first.stored, first.duplicate) == (original.count, original.count, 0))
        #expect(try Set(readings(other)) == Set(original))
        #expect(try readings(other).count == original.count)
        // Nothing is doubled, in either store, and the blood pressures of the first one are still pairs.
        for store in [folder.store, other] {
            let again = try imported(path, store)
            #expect((again.read, again.stored, again.duplicate) == (original.count, 0, original.count), "\(store)")
            #expect(try readings(store).count == original.count)
        }
        #expect(try folder.vitalgate("query", "blood pressure").output.contains("118/75"))
    }

    /// Only the chosen types, days, and person.
    @Test func aPartIsWritten() throws {
        let path = folder.path("pressure.csv")
        let run = try folder.vitalgate(
            "export", "--to", path, "--format", "report", "--types", "Blood Pressure,weight", "--from", "2026-11-15", "--until",
            "2026-11-16")
        #expect(run.status == 0, "\(run)")
        let types = folder.text("pressure.csv").split(whereSeparator: \.isNewline).dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)[1]
        }
        #expect(Set(types) == ["bloodPressureSystolic", "bloodPressureDiastolic", "bodyMass"], "\(types)")
        #expect(types.count == 5)
        let refused = try folder.vitalgate(
            "export", "--to", folder.path("b.csv"), "--format", "report", "--types", "workout,sleepAnalysis")
        #expect(refused.status == 64 && refused.errors.contains("quantities"), "\(refused)")
    }
}
