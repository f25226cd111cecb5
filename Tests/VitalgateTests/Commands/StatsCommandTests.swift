import Testing

/// `stats`: sums for what adds up, average and extremes for the rest, by the calendar of a zone.
@Suite struct StatsCommandTests {
    let folder: TestFolder

    init() throws { folder = try Household.folder() }

    func stats(_ arguments: String...) throws -> [JSON] {
        let run = try folder.vitalgate(["stats"] + arguments + ["--format", "ndjson"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.isEmpty)
        return try run.objects()
    }

    @Test func aTypeThatIsNamedTwiceIsToldOnce() throws {
        let once = try folder.vitalgate("stats", "heartRate,bodyTemperature", "--every", "1d")
        let twice = try folder.vitalgate("stats", "heartRate,bodyTemperature,HKQuantityTypeIdentifierHeartRate", "--every", "1d")
        #expect(once.status == 0 && once.output == twice.output)
        #expect(try stats("heartRate,heartRate", "--every", "1d").count == stats("heartRate", "--every", "1d").count)
    }

    /// None are asked for, which says nothing about how many there are.
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
        let hours = try stats("heartRate", "--every", "1h", "--subject", Household.subject)
        #expect(hours.count == 1)
        #expect(hours[0]["count"].integer == 3)
        #expect(hours[0]["min"].double == 61)
        #expect(hours[0]["max"].double == 80)
        #expect(hours[0]["average"].double == 68)
        #expect(hours[0]["mostRecent"].double == 80)
        #expect(hours[0]["subject"].text == Household.subject)
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

    @Test func choosesByTimeAndSubject() throws {
        #expect(try stats("heartRate", "--every", "1d", "--subject", "unassigned").map { $0["count"].integer } == [1])
        let late = try stats("heartRate", "--every", "1d", "--from", "2026-03-28T08:00:02Z")
        #expect(late.map { $0["count"].integer } == [1, 1])
        #expect(late.map { $0["subject"].text } == [Household.subject, "unassigned"], "persons are never summed up together")
        #expect(try stats("heartRate", "--every", "1d", "--to", "2026-03-28T08:00:02Z").map { $0["max"].double } == [63])
    }

    @Test func beginsAtTheAnchor() throws {
        let days = try stats("heartRate", "--every", "1d", "--anchor", "2026-01-01T06:00:00Z", "--subject", "unassigned")
        #expect(days.map { $0["start"].text } == ["2026-03-28T06:00:00.000000Z"])
    }

    @Test func weeksBeginOnMonday() throws {
        let weeks = try stats("heartRate", "--every", "1w", "--subject", "unassigned")
        #expect(weeks.map { $0["start"].text } == ["2026-03-23T00:00:00.000000Z"])
        let months = try stats("heartRate", "--every", "1mo", "--subject", "unassigned")
        #expect(months.map { $0["end"].text } == ["2026-04-01T00:00:00.000000Z"])
    }

    @Test func showsTheHourOfAnAnchorAndOfHoursThatOccurTwice() throws {
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
                stepCount,2026-03-28T00:00:00.000000Z,2026-03-29T00:00:00.000000Z,\(Household.subject),1{steps},1,600.0,UTC
                stepCount,2026-03-29T00:00:00.000000Z,2026-03-30T00:00:00.000000Z,\(Household.subject),1{steps},2,1400.0,UTC

                """)
    }
}
