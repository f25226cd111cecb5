import FileSource
import FoundationEssentials
import HealthModel
import Pipeline
import Profiles
import Testing

/// What became of a text's rows, to the sample.
struct Account {
    var samples: [GatedSample] = []
    var refused: [Int: String] = [:]
    var skipped: [Int: String] = [:]
    var notes: [String] = []

    init(_ profile: Profile, _ text: String, zone: String = "Europe/Berlin", options: InterpreterOptions = InterpreterOptions())
        throws
    {
        let received = Instant(seconds: 1_800_000_000)
        let match = try ProfileLibrary([profile]).match(firstLines: text)
        let source = open(Array(text.utf8), match.form)
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: "me"), options: options)
        let normaliser = Normaliser(zone: try VendorFilesTests.zone(zone), received: received)
        var output = Normaliser.Output()
        if let delimited = source as? DelimitedFileSource { try interpreter.survey(delimited) }
        try source.forEachFrame { frame in
            var readings: [Reading] = []
            do throws(Refusal) {
                if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) {
                    skipped[frame.place.number] = kind.name
                }
                normaliser.normalise(readings, into: &output)
            } catch {
                #expect(readings.isEmpty)
                refused[frame.place.number] = error.reason
            }
        }
        normaliser.finish(into: &output)
        for refusal in output.refusals { refused[refusal.place.number] = refusal.reason }
        samples = output.samples
        notes = interpreter.notes
    }

    var starts: [String] { samples.map { $0.sample.start.description } }
    var values: [String] { samples.map { $0.sample.numeral.text } }
}

@Suite struct InterpreterTests {
    @Test func numbersThatAreNoneAreRefused() throws {
        let account = try Account(
            profile(),
            "Time,Weight\n"
                + ["NaN", "inf", "1e400", "0x10", "81,3", "8 1", "--", "81.3kg", "1e-400"].map {
                    "2026-01-01T08:00:00,\"\($0)\"\n"
                }.joined())
        #expect(account.samples.isEmpty)
        #expect(account.refused.keys.sorted() == Array(2...10))
        for reason in account.refused.values { #expect(reason.contains("Weight") && !reason.contains("81")) }
    }

    @Test func datesOutsideTheTimeOfSensorsAreRefused() throws {
        let account = try Account(
            profile(),
            "Time,Weight\n1970-01-01T08:00:00,81\n2094-05-06T08:00:00,81\n2026-02-30T08:00:00,81\n2026-01-01T08:00:00,81\n")
        #expect(account.samples.count == 1)
        #expect(account.refused[2]?.contains("1971") == true)
        #expect(account.refused[3]?.contains("future") == true)
        #expect(account.refused[4]?.contains("Time is not an ISO 8601 date and time") == true)
    }

    @Test func localTimesInGapAndOverlap() throws {
        let gap = try Account(profile(), "Time,Weight\n2026-03-29T01:30:00,81\n2026-03-29T02:30:00,82\n2026-03-29T03:30:00,83\n")
        #expect(gap.values == ["81", "83"])
        #expect(gap.refused[3]?.contains("does not exist in Europe/Berlin") == true)
        let alone = try Account(
            profile(), "Time,Weight\n2025-10-26T01:30:00,81\n2025-10-26T02:30:00,82\n2025-10-26T03:30:00,83\n")
        #expect(alone.values == ["81", "83"])
        #expect(alone.refused[3]?.contains("occurs twice") == true)
        let twice = try Account(
            profile(),
            "Time,Weight\n2025-10-26T02:20:00,81\n2025-10-26T02:50:00,82\n2025-10-26T02:20:00,83\n2025-10-26T02:50:00,84\n"
                + "2025-10-26T03:10:00,85\n"
        )
        #expect(
            twice.starts.map { String($0.prefix(16)) } == [
                "2025-10-26T00:20", "2025-10-26T00:50", "2025-10-26T01:20", "2025-10-26T01:50", "2025-10-26T02:10",
            ])
    }

    static let orders =
        "{ columns: [\"time\"], patterns: [\"dd-MM-yyyy HH:mm\", \"MM-dd-yyyy HH:mm\", \"yyyy-MM-dd HH:mm\"], zone: \"local\" }"

    @Test(arguments: [
        ("03-04-2026 08:00", "13-04-2026 08:00", "2026-04-03T06:00:00.000000Z"),
        ("03-04-2026 08:00", "04-13-2026 08:00", "2026-03-04T07:00:00.000000Z"),
        ("05-05-2026 08:00", "05-05-2026 08:00", "2026-05-05T06:00:00.000000Z"),
    ])
    func oneDayAboveTwelveResolvesOrder(first: String, second: String, start: String) throws {
        let account = try Account(profile(times: Self.orders), "Time,Weight\n\(first),81\n\(second),82\n")
        #expect(account.starts.first == start)
        #expect(account.refused.isEmpty)
    }

    @Test func refusesAmbiguousOrderWithoutOption() throws {
        let text = "Time,Weight\n03-04-2026 08:00,81\n04-04-2026 08:00,82\n"
        let open = try Account(profile(times: Self.orders), text)
        #expect(open.refused[2]?.contains("--date-order DMY, MDY or YMD") == true)
        #expect(open.values == ["82"])
        let recorded = try Account(profile(times: Self.orders), text, options: InterpreterOptions(dateOrder: .monthDayYear))
        #expect(recorded.starts.first == "2026-03-04T07:00:00.000000Z")
        // Two rows that exclude each other: a spreadsheet rewrote some. Only what can be read in one way is taken.
        let torn = try Account(
            profile(times: Self.orders), "Time,Weight\n13-04-2026 08:00,81\n04-14-2026 08:00,82\n03-04-2026 08:00,83\n")
        #expect(torn.values == ["81", "82"])
        #expect(torn.refused[4]?.contains("contradict") == true)
    }

    @Test func detectsDecimalSignFromValues() throws {
        let auto = try profile(more: "decimal: \"auto\"")
        func values(_ cells: [String], _ options: InterpreterOptions = InterpreterOptions()) throws -> Account {
            try Account(
                auto, "Time;Weight\n" + cells.enumerated().map { "2026-01-01T08:00:0\($0);\($1)\n" }.joined(), options: options)
        }
        #expect(try values(["81,3", "81,255"]).values == ["81.3", "81.255"])
        #expect(try values(["81.3", "81.255"]).values == ["81.3", "81.255"])
        #expect(try values(["81,255", "81,5"]).values == ["81.255", "81.5"])
        let open = try values(["81,255", "81"])
        #expect(open.values == ["81"])
        #expect(open.refused[2]?.contains("--decimal") == true)
        #expect(try values(["81,255"], InterpreterOptions(decimal: .comma)).values == ["81.255"])
        #expect(try values(["1.234,5", "1,2,3"]).samples.isEmpty)
        #expect(try values(["0,512", "1234,512"]).values == ["0.512", "1234.512"])
    }

    @Test func assumedUnitsAreNotedAndOverridable() throws {
        let assuming = try profile(
            readings: "{ column: \"value\", type: \"bodyMass\", unit: { assume: \"kg\", instead: \"[lb_av]\" } }")
        let text = "Time,Weight\n2026-01-01T08:00:00,145\n"
        #expect(
            try Account(assuming, text).notes == [
                "Weight is read as kg, because the file has no unit: use --unit Weight=[lb_av] to change it"
            ]
        )
        let pounds = try Account(assuming, text, options: InterpreterOptions(units: ["WEIGHT": Unit(ucum: "[lb_av]")]))
        #expect(pounds.samples.first?.sample.unit.code == "[lb_av]")
        #expect(pounds.notes == ["Weight is read as [lb_av] (--unit)"])
        for (name, code, part) in [("Height", "cm", "no such column"), ("Weight", "Cel", "cannot be converted")] {
            do {
                _ = try Account(assuming, text, options: InterpreterOptions(units: [name: Unit(ucum: code)]))
                Issue.record("\(name) was taken")
            } catch {
                #expect("\(error)".contains(part), "\(error)")
            }
        }
        #expect(throws: ProfileErrors.self) {
            try Account(profile(), text, options: InterpreterOptions(units: ["Weight": Unit(ucum: "g")]))
        }
    }

    @Test func readingsOfRowAreAllOrNothing() throws {
        let two = try profile(
            "time: { names: [\"Time\"] }, s: { names: [\"S\"] }, d: { names: [\"D\"] }",
            readings:
                "{ column: \"s\", type: \"bloodPressureSystolic\", unit: \"mm[Hg]\" }, "
                + "{ column: \"d\", type: \"bloodPressureDiastolic\", unit: \"mm[Hg]\" }"
        )
        let account = try Account(
            two,
            "Time,S,D\n2026-01-01T08:00:00,120,80\n2026-01-01T09:00:00,120,abc\n2026-01-01T10:00:00,,\n2026-01-01T11:00:00,121,\n"
        )
        #expect(account.values == ["120", "80", "121"])
        #expect(account.samples[0].sample.group != nil && account.samples[0].sample.group == account.samples[1].sample.group)
        #expect(account.samples[2].sample.group == nil)
        #expect(account.refused[3] == "D: not a number: unexpected character at position 1")
        #expect(account.skipped == [4: "no-value"])
    }

    @Test func aHeaderInTheMiddleIsNoRow() throws {
        let account = try Account(profile(), "Time,Weight\n2026-01-01T08:00:00,81\nTime,Weight\n2026-01-02T08:00:00,82\n")
        #expect(account.values == ["81", "82"])
        #expect(account.refused.isEmpty)
    }

    /// The generic CSV's short way and its long one give the same readings.
    @Test func bothWaysOfAPlainRowAgree() throws {
        let generic = try ProfileLibrary.check(file: deviceProfiles + "/generic-csv.json5")
        let types = ["heartRate", "HKQuantityTypeIdentifierBodyMass", " bodyMass"]
        let units = ["/min", "kg", "kg "]
        let rows = (0..<600).map { index in
            let time = [
                "2026-01-0\(1 + index % 9)T08:00:\(10 + index % 50)Z", "2026-01-02 08:00:00", "2026-01-02T08:00:00.25+01:00",
                " 2026-01-02T08:00Z ",
            ][index % 4]
            return
                "\(time),\(types[index % 3]),\(index % 300),\(units[index % 3]),,s\(index % 400),d,"
        }
        let header = "time,type,value,unit,end,source,device,subject\n"
        let together = try Account(generic, header + rows.joined(separator: "\n") + "\n" + rows.joined(separator: "\n"))
        #expect(together.refused.isEmpty && together.samples.count == 1200)
        for index in stride(from: 0, to: 600, by: 37) {
            let alone = try Account(generic, header + rows[index])
            #expect(alone.samples.first?.sample.identity == together.samples[index].sample.identity)
            #expect(alone.samples.first?.sample.identity == together.samples[index + 600].sample.identity)
        }
    }

    @Test(
        arguments: [
            ("MMM d yyyy h:mm a", "Sep 9 2025 12:05 AM", "2025-09-09T00:05:00.000000"),
            ("MMM d, yyyy h:mm a", "sept. 9, 2025 12:05\u{202F}PM", "2025-09-09T12:05:00.000000"),
            ("dd/MM/yy H:mm:ss.SSS", "01/02/94 7:05:06.5", "2094-02-01T07:05:06.500000"),
            ("yyyy-MM-dd'T'HH:mmX", "2025-09-09T12:05+01:00", "2025-09-09T12:05:00.000000"),
            ("MMM d yyyy h:mm a", "Sep 9 2025 13:05 AM", nil), ("MMM d yyyy h:mm a", "Sep 31 2025 1:05 AM", nil),
            ("dd-MM-yyyy HH:mm", "9-9-2025 12:05", nil),
            ("dd-MM-yyyy HH:mm", "09-09-2025 12:05 ", "2025-09-09T12:05:00.000000"),
            ("dd-MM-yyyy HH:mm", "09-09-2025 24:00", nil), ("MMM d yyyy HH:mm", "Mai 9 2025 10:00", nil),
        ] as [(String, String, String?)])
    func patterns(pattern: String, text: String, wall: String?) throws {
        let account = try Account(
            profile(times: "{ columns: [\"time\"], patterns: [\"\(pattern)\"] }"), "Time,Weight\n\"\(text)\",81\n", zone: "UTC")
        let found = account.samples.first.map { WallTime(microseconds: $0.sample.nominalStart).description }
        // 2094 is in the future, so the normaliser refuses it. The pattern has read it.
        if wall?.hasPrefix("2094") == true {
            #expect(account.refused[2]?.contains("future") == true)
        } else if pattern.hasSuffix("X") {
            #expect(account.samples.first?.sample.start.description == "2025-09-09T11:05:00.000000Z")
        } else {
            #expect(found == wall)
        }
    }
}
