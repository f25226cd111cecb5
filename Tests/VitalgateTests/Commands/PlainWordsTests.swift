import Testing

/// What people type is understood or answered with what was probably meant; what they read is in plain words.
@Suite struct PlainWordsTests {
    let folder: TestFolder

    init() throws { folder = try Household.folder() }

    @Test(arguments: [
        ("heart_rate", "heartRate"), ("heart rate", "heartRate"), ("Heart Rate", "heartRate"), ("weight", "bodyMass"),
        ("steps", "stepCount"),
        ("temperature", "bodyTemperature"), ("glucose", "bloodGlucose"), ("spo2", "oxygenSaturation"), ("hartrate", "heartRate"),
        ("heartrate", "heartRate"), ("bloodpressure", "bloodPressureSystolic"), ("pulse", "heartRate"),
        ("stepsCount", "stepCount"),
    ])
    func unknownTypesSuggest(typed: String, meant: String) throws {
        let run = try folder.vitalgate("query", typed)
        #expect(run.status == 64)
        #expect(run.errors.contains("such as \(meant);"), "\(run.errors)")
    }

    @Test func unitsAsTablesPrintThem() throws {
        let table = try folder.vitalgate("query", "stepCount", "--limit", "1")
        #expect(table.output.contains(" steps "))
        #expect(try folder.vitalgate("query", "stepCount", "--unit", "steps").lines.count == 4)
        #expect(try folder.vitalgate("stats", "stepCount", "--every", "1d", "--unit", "steps").status == 0)
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-04-01T08:00:00Z,stepCount,5,steps\n")
        #expect(try Account(try folder.vitalgate("import", file, "--format", "ndjson").last).stored == 1)
    }

    /// The zone that was asked for; else that of the reading.
    @Test func tablesShowTimesInTheZoneAskedFor() throws {
        let own = try folder.vitalgate("query", "bodyTemperature", "--limit", "1").output
        #expect(own.contains("2026-03-28 07:31:00 +01:00"))
        let tokyo = try folder.vitalgate("query", "bodyTemperature", "--limit", "1", "--time-zone", "Asia/Tokyo").output
        #expect(tokyo.contains("2026-03-28 15:31:00 +09:00"))
        let held = try folder.vitalgate("quarantine", "list", "--time-zone", "Asia/Tokyo").output
        #expect(held.contains("2026-03-28 18:05:00 +09:00"))
    }

    @Test func aPipeHasOneHeader() throws {
        let rows = (0..<2500).map {
            "2026-04-01T\(10 + $0 / 3000):\(10 + $0 / 50 % 50):\(10 + $0 % 50)Z,heartRate,\(60 + $0 % 7),/min\n"
        }
        let file = try folder.write("many.csv", "time,type,value,unit\n" + rows.joined())
        try folder.vitalgate("import", file)
        let table = try folder.vitalgate("query", "heartRate")
        #expect(table.lines.count > 2000)
        #expect(table.lines.filter { $0.hasPrefix("start ") }.count == 1)
    }

    @Test(arguments: [("-300", "degC", "healthkit"), ("-300", "Cel", "ucum"), ("-1", "K", "ucum"), ("-460", "[degF]", "ucum")])
    func belowAbsoluteZero(value: String, unit: String, dialect: String) throws {
        let run = try folder.vitalgate("unit", "convert", "--dialect", dialect, "--", value, unit, "K")
        #expect(run.status == 65)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("absolute zero"))
        #expect(try folder.vitalgate("unit", "convert", "--", "-273.15", "Cel", "K").output == "0 K\n")
    }

    /// No words of a library's, which speak of types that nobody here knows.
    @Test(arguments: [
        ("{ store: 5 }", "'store': expected a text"), ("{ profiles: 'x' }", "'profiles': expected a list"),
        ("{ hub: { inbox: 7 } }", "'hub.inbox'"), ("[1]", "expected an object in braces"), ("{ store: ", "not JSON5"),
        ("{ priority: [1] }", "'priority.0': expected a text"),
    ])
    func aWrongConfiguration(text: String, words: String) throws {
        try folder.write("config.json5", text)
        let run = try folder.vitalgate("query", "all")
        #expect(run.status == 64)
        #expect(run.errors.contains(words), "\(run.errors)")
        for foreign in ["Expected to", "Swift", "decode", "Debug", "Index", "Array<", "DecodingError"] {
            #expect(!run.errors.contains(foreign), "\(run.errors)")
        }
    }

    /// A spreadsheet takes a cell that begins so for a formula.
    @Test func cellsForSpreadsheets() throws {
        let file = try folder.write(
            "names.csv",
            """
            time,type,value,unit,source,device
            2026-04-02T08:00:00Z,waterTemperature,-1.5,Cel,=1+1,@SUM(A1)
            2026-04-03T08:00:00Z,bodyTemperature,37,Cel,-cmd|x,+49 170

            """)
        try folder.vitalgate("import", file)
        let plain = try folder.vitalgate("query", "all", "--from", "2026-04-01", "--format", "csv")
        let safe = try folder.vitalgate("query", "all", "--from", "2026-04-01", "--format", "csv", "--safe")
        #expect(plain.output.contains(",=1+1,") && plain.output.contains(",@SUM(A1),"))
        #expect(safe.status == 0)
        for cell in [",'=1+1,", ",'@SUM(A1),", ",'-cmd|x,", ",'+49 170,", ",-1.5,"] {
            #expect(safe.output.contains(cell), "\(cell)")
        }
        for cell in safe.lines.dropFirst().joined(separator: ",").split(separator: ",") where Double(cell) == nil {
            #expect(!"=+-@".contains(cell.first ?? "x"), "\(cell)")
        }
        let stats = try folder.vitalgate("stats", "bodyTemperature", "--every", "1d", "--by-source", "--format", "csv", "--safe")
        #expect(!stats.output.contains(",=") && !stats.output.contains(",@"))
    }
}
