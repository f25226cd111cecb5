import Testing

/// `stats`: sums for what adds up, average and extremes for the rest, by the calendar of a zone.
@Suite struct StatsCommandTests {
    let folder: TestFolder

    init() throws { folder = try Family.folder() }

    func stats(_ arguments: String...) throws -> [JSON] {
        let run = try folder.vitalgate(["stats"] + arguments + ["--format", "ndjson"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        return try run.objects()
    }

    @Test func ignoresRepeatedTypes() throws {
        let once = try folder.vitalgate("stats", "heartRate,bodyTemperature", "--every", "1d")
        let twice = try folder.vitalgate("stats", "heartRate,bodyTemperature,HKQuantityTypeIdentifierHeartRate", "--every", "1d")
        #expect(once.status == 0 && once.output == twice.output)
        #expect(try stats("heartRate,heartRate", "--every", "1d").count == stats("heartRate", "--every", "1d").count)
    }

    /// A limit of zero does not reveal how many there are.
    @Test func aLimitOfNone() throws {
        for command in [["stats", "heartRate", "--every", "1d"], ["query", "heartRate"]] {
            let run = try folder.vitalgate(command + ["--limit", "0"])
            #expect(run.status == 0)
            #expect(!run.errors.contains("no samples"), "\(command): \(run.errors)")
        }
    }

    /// The day on which clocks go forward has 23 hours, and a walk over midnight counts on both sides by its time.
    @Test func addsUpByDaysOfTheZone() throws {
        let days = try stats("stepCount", "--every", "1d", "--time-zone", "Europe/Berlin")
        #expect(
            days.map { $0["start"].text } == [
                "2026-03-27T23:00:00.000000Z", "2026-03-28T23:00:00.000000Z", "2026-03-29T22:00:00.000000Z",
            ])
        #expect(
            days.map { $0["end"].text } == [
                "2026-03-28T23:00:00.000000Z", "2026-03-29T22:00:00.000000Z", "2026-03-30T22:00:00.000000Z",
            ])
        #expect(days.map { $0["sum"].double } == [300, 1500, 200] as [Double?])
        #expect(days.allSatisfy { $0["type"].text == "stepCount" && $0["average"] == .null })
    }

    @Test func addsUpByDaysOfUTC() throws {
        let days = try stats("stepCount", "--every", "1d", "--time-zone", "UTC")
        #expect(days.map { $0["sum"].double } == [600, 1400])
    }

    @Test func describesDiscreteTypes() throws {
        let hours = try stats("heartRate", "--every", "1h", "--person", Family.person)
        #expect(hours.count == 1)
        #expect(hours[0]["count"].integer == 3)
        #expect(hours[0]["min"].double == 61)
        #expect(hours[0]["max"].double == 80)
        #expect(hours[0]["average"].double == 68)
        #expect(hours[0]["mostRecent"].double == 80)
        #expect(hours[0]["subject"].text == Family.person)
        #expect(hours[0]["unit"].text == "/min")
        #expect(hours[0]["sum"] == .null)
    }

    @Test func keepsSourcesApart() throws {
        let sources = try stats("heartRate", "--every", "1d", "--by-source")
        #expect(sources.map { $0["source"].text } == ["file.generic-csv.Strap", "file.generic-csv.Watch"])
        #expect(sources.map { $0["average"].double } == [68, 72])
    }

    @Test func convertsUnits() throws {
        let days = try stats("bodyTemperature", "--every", "1d", "--unit", "[degF]")
        #expect(days.map { $0["average"].double } == [98.6, 101.3])
        #expect(days.allSatisfy { $0["unit"].text == "[degF]" })
    }

    @Test func filtersByTimeAndPerson() throws {
        #expect(try stats("heartRate", "--every", "1d", "--person", "unassigned").map { $0["count"].integer } == [1])
        let late = try stats("heartRate", "--every", "1d", "--from", "2026-03-28T08:00:02Z")
        #expect(late.map { $0["count"].integer } == [1, 1])
        #expect(late.map { $0["subject"].text } == [Family.person, "unassigned"], "persons are never summed up together")
        #expect(try stats("heartRate", "--every", "1d", "--to", "2026-03-28T08:00:02Z").map { $0["max"].double } == [63])
    }

    @Test func beginsAtTheAnchor() throws {
        let days = try stats("heartRate", "--every", "1d", "--anchor", "2026-01-01T06:00:00Z", "--person", "unassigned")
        #expect(days.map { $0["start"].text } == ["2026-03-28T06:00:00.000000Z"])
    }

    @Test func weeksBeginOnMonday() throws {
        let weeks = try stats("heartRate", "--every", "1w", "--person", "unassigned")
        #expect(weeks.map { $0["start"].text } == ["2026-03-23T00:00:00.000000Z"])
        let months = try stats("heartRate", "--every", "1mo", "--person", "unassigned")
        #expect(months.map { $0["end"].text } == ["2026-04-01T00:00:00.000000Z"])
    }

    @Test func showsHourOfAnchorAndRepeatedHours() throws {
        let days = try folder.vitalgate("stats", "heartRate", "--every", "1d", "--anchor", "2026-01-01T06:00:00Z")
        #expect(days.output.contains("2026-03-28 06:00 "))
        let none = try folder.vitalgate("stats", "heartRate", "--every", "1d", "--from", "2030-01-01")
        #expect(none.status == 0 && none.errors == "no samples\n")
        let file = try folder.write(
            "autumn.csv",
            "time,type,value,unit\n2026-10-25T00:30:00Z,heartRate,60,/min\n2026-10-25T01:30:00Z,heartRate,61,/min\n")
        _ = try folder.vitalgate("import", file)
        let hours = try folder.vitalgate(
            "stats", "heartRate", "--every", "1h", "--from", "2026-10-01", "--time-zone", "Europe/Berlin")
        #expect(hours.output.contains("2026-10-25 02:00 +02:00") && hours.output.contains("2026-10-25 02:00 +01:00"))
    }

    @Test func printsCSV() throws {
        let run = try folder.vitalgate("stats", "stepCount", "--every", "1d", "--format", "csv")
        #expect(
            run.output == """
                type,start,end,subject,unit,count,sum,zone
                stepCount,2026-03-28T00:00:00.000000Z,2026-03-29T00:00:00.000000Z,\(Family.person),1{steps},1,600.0,UTC
                stepCount,2026-03-29T00:00:00.000000Z,2026-03-30T00:00:00.000000Z,\(Family.person),1{steps},2,1400.0,UTC

                """)
    }

    /// Values count for the time that they held, and the part within a range by the same time.
    @Test func percentilesAndRanges() throws {
        let file = try folder.write(
            "day.csv",
            """
            time,type,value,unit,source
            2026-06-01T06:00:00Z,bloodGlucose,95,mg/dL,CGM
            2026-06-01T06:05:00Z,bloodGlucose,65,mg/dL,CGM
            2026-06-01T06:10:00Z,bloodGlucose,150,mg/dL,CGM
            2026-06-01T06:15:00Z,bloodGlucose,180,mg/dL,CGM
            2026-06-01T06:00:00Z,heartRate,60,/min,Band
            2026-06-01T06:05:00Z,heartRate,90,/min,Band
            2026-06-01T06:06:00Z,heartRate,150,/min,Band

            """)
        _ = try folder.vitalgate("import", file)
        let glucose = try stats(
            "bloodGlucose", "--every", "1d", "--percentiles", "--in-range", "70..180 mg/dL", "--in-range", "..3.9 mmol/L")
        #expect(glucose.count == 1)
        #expect(["5", "25", "50", "75", "95"].map { glucose[0]["percentiles"][$0].double } == [65, 65, 95, 150, 180])
        let ranges = glucose[0]["inRange"].list
        #expect(ranges.map { $0["fraction"].double } == [0.75, 0.25])
        #expect(ranges.map { $0["count"].integer } == [3, 1] && ranges[0]["duration"] == .null)
        // Five minutes, one minute, and one minute again before the silence.
        let heart = try stats("heartRate", "--every", "1d", "--from", "2026-06-01", "--in-range", "80..", "--show", "average")
        #expect(heart[0]["average"].double == (60.0 * 5 + 90 + 150) / 7 && heart[0]["max"] == .null)
        #expect(heart[0]["inRange"].list.map { $0["duration"].double } == [120])
        let table = try folder.vitalgate("stats", "bloodGlucose", "--every", "1d", "--in-range", "4..10", "--unit", "mmol/L")
        #expect(table.status == 0 && table.output.contains("75 %") && table.output.contains("mmol/L"), "\(table.output)")
        let csv = try folder.vitalgate(
            "stats", "bloodGlucose,heartRate", "--every", "1d", "--percentiles", "--from", "2026-06-01", "--format", "csv")
        #expect(csv.lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count } == [16, 16, 16])
        for wrong in [
            ["--in-range", "70"], ["--in-range", "70..x"], ["--in-range", "180..70"], ["--show", "sum"], ["--show", "median"],
        ] {
            #expect(try folder.vitalgate(["stats", "bloodGlucose", "--every", "1d"] + wrong).status == 64, "\(wrong)")
        }
        #expect(try folder.vitalgate("stats", "bloodGlucose", "--every", "1d", "--in-range", "1..2 kg").status == 65)
        #expect(try folder.vitalgate("stats", "stepCount", "--every", "1d", "--percentiles").status == 64)
        #expect(try folder.vitalgate("stats", "stepCount", "--every", "1h", "--own-zone").status == 64)
        #expect(try folder.vitalgate("stats", "workout", "--every", "1d").status == 64)
        let whole = ["--every", "1m", "--empty", "--from", "2020-01-01", "--to", "2026-01-01"]
        #expect(try folder.vitalgate(["stats", "heartRate"] + whole).status == 64)
    }

    /// A preferred unit is for tables. Programs get the type's own unit.
    @Test func preferredUnits() throws {
        try folder.write("config.json5", "{ units: { bodyTemperature: \"[degF]\" } }")
        let command = ["stats", "bodyTemperature", "--every", "1d"]
        #expect(try folder.vitalgate(command).output.contains("98.6"))
        #expect(try folder.vitalgate(command + ["--unit", "Cel"]).output.contains(" 37 "))
        #expect(try folder.vitalgate(command + ["--format", "ndjson"]).objects().first?["unit"].text == "Cel")
        // The units of a region. A type's own setting takes precedence.
        try folder.write("config.json5", "{ locale: \"en-US\" }")
        #expect(try folder.vitalgate(command).output.contains("98.6"))
        try folder.write("config.json5", "{ locale: \"en-US\", units: { bodyTemperature: \"Cel\" } }")
        #expect(try folder.vitalgate(command).output.contains(" 37 "))
        for wrong in [
            "{ locale: \"english\" }", "{ units: { bodyTemperature: \"kg\" } }", "{ units: { warmth: \"Cel\" } }",
            "{ units: [] }",
        ] {
            try folder.write("config.json5", wrong)
            #expect(try folder.vitalgate("stats", "heartRate", "--every", "1d").status == 78, "\(wrong)")
        }
    }

    @Test func showsEmptyIntervalsOnRequest() throws {
        let days = try stats("stepCount", "--every", "1d", "--empty", "--from", "2026-03-27", "--to", "2026-03-31")
        #expect(days.map { $0["count"].integer } == [0, 1, 2, 0])
        #expect(days.map { $0["sum"] == .null } == [true, false, false, true])
        let table = try folder.vitalgate(
            "stats", "heartRate", "--every", "1d", "--empty", "--from", "2026-03-27", "--to", "2026-03-30", "--person",
            Family.person)
        #expect(table.lines.count == 4)
    }

    /// Gaps are bounded even if one end of the range is open.
    @Test func tooManyGaps() throws {
        for ends in [["--from", "1990-01-01"], ["--to", "2100-01-01"]] {
            let run = try folder.vitalgate(["stats", "heartRate", "--every", "1m", "--empty"] + ends)
            #expect(run.status == 64 && run.errors.contains("intervals, and the maximum is"), "\(run.errors)")
            let days = try folder.vitalgate(["stats", "heartRate", "--every", "1y", "--empty", "--format", "ndjson"] + ends)
            #expect(days.status == 0 && days.lines.count > 30, "\(days.errors)")
        }
    }

    /// Only the samples that meet a condition, by any field, source or device.
    @Test func countsMatchingSamples() throws {
        let all = try stats("stepCount", "--every", "1d", "--time-zone", "UTC")
        let few = try stats("stepCount", "--every", "1d", "--time-zone", "UTC", "--where", "value <= 300")
        #expect(all.map { $0["sum"].double } == [600, 1400] && few.map { $0["sum"].double } != all.map { $0["sum"].double })
        #expect(try stats("stepCount", "--every", "1d", "--source", "nobody").isEmpty)
        let bySource = try stats("stepCount", "--every", "1y", "--source", "Pedometer")
        #expect(bySource.count == 1)
        let wrong = try folder.vitalgate("stats", "stepCount", "--every", "1d", "--where", "valeu > 3")
        #expect(wrong.status == 64 && wrong.errors.contains("valeu"))
    }

    @Test func explains() throws {
        let run = try folder.vitalgate("stats", "stepCount", "--every", "1d", "--explain")
        #expect(run.status == 0)
        #expect(run.errors.contains("1 Pedometer, Clip 3") && run.errors.contains("2 Phone"), "\(run.errors)")
        let wrong = try folder.vitalgate("stats", "stepCount", "--every", "1d", "--follow")
        #expect(wrong.status == 64)
    }
}
