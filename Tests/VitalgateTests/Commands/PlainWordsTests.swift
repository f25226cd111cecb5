import Testing

/// Input is understood or answered with the probable intention. Output is in plain words.
@Suite struct PlainWordsTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    /// A type may be given by its display name or a short name.
    @Test(arguments: [
        ("heart_rate", "heartRate"), ("heart rate", "heartRate"), ("Heart Rate", "heartRate"), ("heartrate", "heartRate"),
        ("pulse", "heartRate"), ("steps", "stepCount"), ("Steps, pulse", "stepCount,heartRate"),
    ])
    func displayNamesAreTypes(typed: String, id: String) throws {
        let run = try folder.vitalgate("query", typed, "--format", "ndjson")
        #expect(run.status == 0 && !run.lines.isEmpty, "\(run.errors)")
        #expect(run.output == (try folder.vitalgate("query", id, "--format", "ndjson").output))
    }

    @Test(arguments: ["temperature", "energy", "sugar"]) func ambiguousNameListsTypes(typed: String) throws {
        for line in [["query", typed], ["add", typed, "1"], ["stats", typed, "--every", "1d"]] {
            let run = try folder.vitalgate(line)
            #expect(run.status == 64 && run.errors.contains("expected one of "), "\(run.errors)")
        }
        #expect(try folder.vitalgate("query", "temperature").errors.contains("bodyTemperature (Body Temperature), "))
    }

    @Test(arguments: [("hartrate", "heartRate"), ("stepsCount", "stepCount"), ("bodymas", "bodyMass")])
    func unknownTypesSuggest(typed: String, intended: String) throws {
        let run = try folder.vitalgate("query", typed)
        #expect(run.status == 64)
        #expect(run.errors.contains("did you mean '\(intended)'?"), "\(run.errors)")
    }

    /// Each unknown type in a list is named, with a suggestion.
    @Test(arguments: [
        ["stats", "hartrate,nosuch,bodymas,stepCount", "--every", "1d"], ["query", "hartrate,nosuch,bodymas,stepCount"],
        ["changes", "--types", "hartrate,nosuch,bodymas,stepCount"],
    ])
    func everyUnknownTypeIsNamed(line: [String]) throws {
        let run = try folder.vitalgate(line)
        #expect(run.status == 64)
        for part in ["'hartrate'", "heartRate", "'nosuch'", "'bodymas'", "bodyMass"] {
            #expect(run.errors.contains(part), "\(part): \(run.errors)")
        }
        #expect(!run.errors.contains("stepCount"), "\(run.errors)")
    }

    /// A stretch that ends before it begins has nothing in it, and was not meant.
    @Test(arguments: [
        ["query", "heartRate"], ["stats", "heartRate", "--every", "1d"], ["delete", "--type", "heartRate"],
        ["delete", "--type", "heartRate", "--yes"], ["repair", "plan", "--type", "heartRate", "--shift", "+1h"],
    ])
    func refusesFromAfterTo(line: [String]) throws {
        let run = try folder.vitalgate(line + ["--from", "2026-04-02", "--to", "2026-04-01"])
        #expect(run.status == 64, "\(run.errors)")
        #expect(run.errors.contains("2026-04-02") && run.errors.contains("2026-04-01"), "\(run.errors)")
        #expect(try folder.vitalgate(line + ["--from", "2026-04-01", "--to", "2026-04-02"]).status == 0)
    }

    @Test func anEmptyFileName() throws {
        let run = try folder.vitalgate("import", "")
        #expect(run.status == 66)
        #expect(run.errors.contains("the file name is empty"), "\(run.errors)")
    }

    @Test func acceptsPrintedUnits() throws {
        let table = try folder.vitalgate("query", "stepCount", "--limit", "1")
        #expect(table.output.contains(" steps "))
        #expect(try folder.vitalgate("query", "stepCount", "--unit", "steps").lines.count == 4)
        #expect(try folder.vitalgate("stats", "stepCount", "--every", "1d", "--unit", "steps").status == 0)
        let file = try folder.write("more.csv", "time,type,value,unit\n2026-04-01T08:00:00Z,stepCount,5,steps\n")
        #expect(try Account(try folder.vitalgate("import", file, "--format", "ndjson").last).stored == 1)
    }

    /// The requested zone, otherwise that of the reading.
    @Test func tablesUseRequestedZone() throws {
        let own = try folder.vitalgate("query", "bodyTemperature", "--limit", "1").output
        #expect(own.contains("2026-03-28 07:31:00 +01:00"))
        let tokyo = try folder.vitalgate("query", "bodyTemperature", "--limit", "1", "--time-zone", "Asia/Tokyo").output
        #expect(tokyo.contains("2026-03-28 15:31:00 +09:00"))
        let quarantined = try folder.vitalgate("quarantine", "list", "--time-zone", "Asia/Tokyo").output
        #expect(quarantined.contains("2026-03-28 18:05:00 +09:00"))
    }

    /// The same in every table and report that shows a reading's time.
    @Test func reportsUseRequestedZone() throws {
        let tokyo = ["--time-zone", "Asia/Tokyo"]
        let quarantined = try folder.vitalgate(["quarantine", "show", "1"] + tokyo).output
        #expect(quarantined.contains("> 2026-03-28 18:05:00 +09:00"), "\(quarantined)")
        let uuid = try uuid(of: try folder.vitalgate("query", "bodyTemperature", "--limit", "1", "--format", "ndjson").last)
        for command in [["query", uuid], ["query", uuid, "--explain"]] {
            let own = try folder.vitalgate(command).output
            #expect(own.contains("2026-03-28 07:31:00 +01:00"), "\(own)")
            let asked = try folder.vitalgate(command + tokyo).output
            #expect(asked.contains("2026-03-28 15:31:00 +09:00"), "\(asked)")
            #expect(!asked.contains("+01:00"), "\(asked)")
        }
        let repair = ["--type", "bodyTemperature", "--shift", "+1h"]
        // Output for programs has instants without a zone.
        let lines = try folder.vitalgate(["repair", "plan", "--format", "ndjson"] + repair + tokyo).output
        #expect(lines.contains("\"start\":\"2026-03-28T06:31:00.000000Z\"") && lines.contains("\"zone\":\"+01:00\""), "\(lines)")
        for command in ["plan", "apply"] {
            let report = try folder.vitalgate(["repair", command] + repair + tokyo).output
            #expect(report.contains("2026-03-28 15:31:00 +09:00"), "\(report)")
            #expect(report.contains("moved to 2026-03-28 16:31:00 +09:00"), "\(report)")
            #expect(!report.contains("+01:00") && !report.contains("+02:00"), "\(report)")
        }
    }

    private func uuid(of line: String) throws -> String {
        String(try #require(line.firstMatch(of: #/"uuid":"([0-9a-f-]{36})"/#)).output.1)
    }

    /// Wherever a unit can be given, an unknown one is answered with a suggestion.
    @Test(arguments: [
        ("bodyMass", "lbs", "[lb_av]"), ("bodyMass", "kgs", "kg"), ("heartRate", "bpm", "/min"), ("bodyTemperature", "°C", "Cel"),
        ("bodyTemperature", "celsius", "Cel"), ("bodyTemperature", "C", "Cel"), ("bodyTemperature", "F", "[degF]"),
        ("bloodPressureSystolic", "mmhg", "mm[Hg]"), ("activeEnergyBurned", "kcals", "kcal"), ("height", "ft", "[ft_i]"),
        ("oxygenSaturation", "percent", "%"),
    ])
    func unknownUnitsSuggest(type: String, typed: String, intended: String) throws {
        for command in [
            ["query", type, "--unit", typed], ["stats", type, "--every", "1d", "--unit", typed],
            ["query", type, "--where", "value > 1 \(typed)"], ["repair", "plan", "--type", type, "--read-as", typed],
            ["repair", "apply", "--type", type, "--read-as", typed, "--ambiguous"],
        ] {
            let run = try folder.vitalgate(command)
            #expect(run.status == 64 || run.status == 65, "\(command)")
            #expect(run.errors.contains("did you mean \(intended)?"), "\(command): \(run.errors)")
            #expect(run.output.isEmpty)
        }
        let rows = "time,type,value,unit\n2026-05-01T08:00:00Z,\(type),1,\(typed)\n"
        let run = try folder.vitalgate("import", try folder.write("row.csv", rows))
        #expect(run.status == 65)
        #expect(run.errors.contains("line 2: ") && run.errors.contains("did you mean \(intended)?"), "\(run.errors)")
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

    /// Messages contain no text of a library with its internal types.
    @Test(arguments: [
        ("{ store: 5 }", "'store': expected a text"), ("{ profiles: 'x' }", "'profiles': expected a list"),
        ("{ hub: { inbox: 7 } }", "'hub.inbox'"), ("[1]", "expected an object in braces"), ("{ store: ", "not JSON5"),
        ("{ priority: [1] }", "'priority.0': expected a text"),
    ])
    func aWrongConfiguration(text: String, words: String) throws {
        try folder.write("config.json5", text)
        let run = try folder.vitalgate("query", "all")
        #expect(run.status == 78)
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
        // A number or a zone's offset is not a formula with an effect.
        for cell in safe.lines.dropFirst().joined(separator: ",").split(separator: ",")
        where Double(cell) == nil && cell != "+00:00" {
            #expect(!"=+-@".contains(cell.first ?? "x"), "\(cell)")
        }
        let stats = try folder.vitalgate("stats", "bodyTemperature", "--every", "1d", "--by-source", "--format", "csv", "--safe")
        #expect(!stats.output.contains(",=") && !stats.output.contains(",@"))
    }
}
