import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

@Suite struct HealthAutoExportTests {
    static func export(_ metrics: String, headers: String = "Days") -> [UInt8] {
        Array(#"{"headers":{"Automation-Aggregation":"\#(headers)"},"body":{"data":{"metrics":[\#(metrics)]}}}"#.utf8)
    }

    static func steps(_ date: String, _ count: String = "100", source: String = "Watch") -> String {
        #"{"name":"step_count","units":"count","data":[{"date":"\#(date)","qty":\#(count),"source":"\#(source)"}]}"#
    }

    // MARK: The text

    /// A cut or malformed export is refused as a whole.
    @Test(arguments: ["08-special", "01-days"]) func refusesEveryTruncatedExport(name: String) throws {
        let bytes = try #require(try ReadExport.requests(of: name).first)
        let end = bytes.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for length in 0..<end {
            let read = ReadExport(Array(bytes[..<length]))
            #expect(read.error != nil, "\(length) bytes")
            #expect(read.readings.isEmpty && read.refused.isEmpty, "\(length) bytes")
        }
        #expect(ReadExport(bytes).error == nil)
    }

    /// No mutated export traps, and none with a fault in its text delivers a part.
    @Test func survivesMutatedExports() throws {
        var generator = SeededGenerator(seed: 62)
        for name in ["08-special", "11-workout-v2", "05-sleep-phases", "20-workout-two-exports", "02-unsummarised"] {
            let bytes = try #require(try ReadExport.requests(of: name).first)
            for _ in 0..<2000 {
                var mutated = bytes
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let index = Int.random(in: 0..<mutated.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: mutated[index] = UInt8.random(in: 0...255, using: &generator)
                    case 1: mutated.remove(at: index)
                    case 2: mutated.insert(mutated[Int.random(in: 0..<mutated.count, using: &generator)], at: index)
                    default: mutated[index] = Array("0123456789-+.eE\"{}[],:".utf8).randomElement(using: &generator) ?? 0x20
                    }
                }
                let read = ReadExport(mutated)
                if read.error != nil { #expect(read.readings.isEmpty) }
            }
        }
    }

    /// The members of an object come in any order.
    @Test func readsAMetricWithALaterName() {
        let metric = #"{"data":[{"qty":7,"source":"W","date":"2026-05-11 00:00:00 +0200"}],"units":"count","name":"step_count"}"#
        let text = #"{"body":{"data":{"metrics":[\#(metric)]}},"headers":{"automation-aggregation":"days"}}"#
        let read = ReadExport(Array(text.utf8))
        #expect(read.readings.map(\.origin.type) == [.stepCount])
        #expect(read.readings.first?.record?.isOpen == true)
    }

    @Test(arguments: [
        (#"{"data":{"metrics":[]}}"#, true), (#"{"data":{}}"#, true), (#" {"data" : {"workouts":["#, true),
        (#"{"headers":{"a":"b"},"body":{"data":{"metrics":["#, true), (#"{"data":[]}"#, false), (#"{"data":{"rows":[]}}"#, false),
        (#"{"resourceType":"Bundle"}"#, false), (#"[{"data":{}}]"#, false), ("", false), ("{", false),
    ]) func recognisesAnExport(text: String, isOne: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { HealthAutoExportFile.recognises($0) } == isOne)
    }

    // MARK: Periods

    /// A value of a period that is sent again has the same record, whatever its value, its sources and its unit.
    @Test func aPeriodIsOneRecord() {
        let morning = ReadExport(Self.export(Self.steps("2026-05-11 00:00:00 +0200", "1200"))).readings
        let evening = ReadExport(Self.export(Self.steps("2026-05-11 00:00:00 +0200", "8342.6", source: "Phone|Watch"))).readings
        #expect(morning.map(\.record) == evening.map(\.record))
        #expect(morning.map(\.origin) == evening.map(\.origin))
        let hour = ReadExport(Self.export(Self.steps("2026-05-11 00:00:00 +0200"), headers: "Hours")).readings
        #expect(hour.map(\.record) != morning.map(\.record))
    }

    /// Days last 23 or 25 hours when the clocks change, weeks and months likewise.
    @Test(arguments: [
        (PeriodGrouping.days, "2026-03-29 00:00:00 +0100", 23), (.days, "2026-10-25 00:00:00 +0200", 25),
        (.days, "2026-05-11 00:00:00 +0200", 24), (.days, "2026-05-11 00:00:00 -0700", 24),
        (.hours, "2026-10-25 02:00:00 +0200", 1),
        (.weeks, "2026-03-23 00:00:00 +0100", 167), (.months, "2026-02-01 00:00:00 +0100", 672),
    ]) func periodsEndByTheCalendar(grouping: PeriodGrouping, date: String, hours: Int64) throws {
        let zone = try TimeZoneRules(posix: "CET-1CEST,M3.5.0,M10.5.0/3")
        let time = try #require(HealthAutoExportTime(date))
        let end = try #require(grouping.end(of: time.instant, offset: time.offset, zone: zone))
        #expect(end.instant.microseconds - time.instant.microseconds == hours * 3_600_000_000)
        #expect(end.isElsewhere == date.hasSuffix("-0700"))
    }

    @Test func anUnknownPeriodIsNamed() {
        let read = ReadExport(Array(#"{"data":{"metrics":[\#(Self.steps("2026-05-11 00:00:00 +0200"))]}}"#.utf8))
        #expect(read.readings.first?.metadata?["period"] == .string("unknown"))
        #expect(read.notes.count == 1 && read.notes[0].contains("--grouping"))
        let single = ReadExport(Self.export(Self.steps("2026-05-11 07:00:03 +0200"), headers: "Default"))
        #expect(single.readings.first?.metadata?["period"] == .string("unknown"))
        let option = ReadExport(
            Array(#"{"data":{"metrics":[\#(Self.steps("2026-05-11 00:00:00 +0200"))]}}"#.utf8), grouping: .days)
        #expect(option.readings.first?.metadata?["statistic"] == .string("sum"))
    }

    /// A week that is not over is not stored as a whole week.
    @Test func aPeriodInTheFutureIsRefused() {
        let read = ReadExport(Self.export(Self.steps("2026-09-21 00:00:00 +0200"), headers: "Weeks"))
        #expect(read.readings.isEmpty && read.refused.count == 1)
    }

    // MARK: Words

    @Test(arguments: [
        ("2026-05-11 07:14:05 +0200", "2026-05-11T05:14:05.000000Z"),
        ("2026-05-11 7:14:05 AM +0200", "2026-05-11T05:14:05.000000Z"),
        ("2026-05-11 12:00:00\u{202F}AM +0000", "2026-05-11T00:00:00.000000Z"),
        ("2026-05-11 12:30:00 pm +0000", "2026-05-11T12:30:00.000000Z"), ("2026-05-11T05:14:05Z", "2026-05-11T05:14:05.000000Z"),
        ("٢٠٢٦-٠٥-١١ ٠٧:١٤:٠٥ +0200", "2026-05-11T05:14:05.000000Z"),
    ]) func readsATime(text: String, instant: String) { #expect(HealthAutoExportTime(text)?.instant.description == instant) }

    @Test(arguments: [
        "2026-05-11 07:14:05", "2026-05-11", "2026-02-30 07:14:05 +0200", "2026-05-11 24:00:00 +0200",
        "2026-05-11 13:00:00 PM +0200",
        "", "11.05.2026 07:14", "2026-05-11 07:14:05 +0200 x",
    ]) func refusesATimeWithoutAnOffset(text: String) { #expect(HealthAutoExportTime(text) == nil) }

    /// Every name and unit in the tables is one of the catalogue.
    @Test func theTablesAreComplete() throws {
        for (metric, unit) in [
            ("active_energy", "kJ"), ("dietary_water", "fl. oz."), ("stair_speed:_up", "ft/s"),
            ("six-minute_walking_test_distance", "m"),
            ("weight_&_body_mass", "lb"), ("vo2max", "ml/(kg·min)"), ("physical_effort", "MET"), ("body_mass_index", "count"),
            ("insulin_delivery", "IU"), ("environmental_audio", "dBASPL"), ("blood_alcohol_content", "%"),
            ("walking_speed", "km/hr"),
            ("apple_walking_steadiness", "%"), ("number_of_time_fallen", "falls"), ("electrodermal_activity", "S"),
        ] {
            guard case .quantity(let type)? = HealthAutoExportNames.shape(of: metric) else {
                Issue.record("\(metric) is unknown")
                continue
            }
            let reported = try #require(HealthAutoExportNames.unit(unit, of: type), "\(unit)")
            #expect(throws: Never.self) { try type.conversion(from: reported) }
        }
        #expect(HealthAutoExportNames.shape(of: "future_thing") == nil)
        #expect(HealthAutoExportNames.unit("widgets", of: .heartRate) == nil)
    }

    @Test func anUnknownUnitIsRefused() {
        let metric = Self.steps("2026-05-11 00:00:00 +0200").replacing("\"count\"", with: "\"widgets\"")
        let read = ReadExport(Self.export(metric))
        #expect(read.readings.isEmpty && read.refused == ["step_count: the unit is unknown"])
    }

    /// 0.97 % of oxygen is not a saturation that anybody has, and neither is it multiplied.
    @Test func aRatioUnderPercentIsDoubtful() {
        let metric = #"{"name":"blood_oxygen_saturation","units":"%","data":[{"date":"2026-05-11 07:00:03 +0200","qty":0.97}]}"#
        #expect(ReadExport(Self.export(metric, headers: "Default")).readings.first?.metadata?["unit"] == .string("unknown"))
    }

    /// The names of sources come in any order, with no-break spaces.
    @Test func sourcesAreASet() {
        func id(_ source: String) -> String? {
            let point = #"{"date":"2026-05-11 07:00:03 +0200","Min":60,"Avg":60,"Max":60,"source":"\#(source)"}"#
            let metric = #"{"name":"heart_rate","units":"bpm","data":[\#(point)]}"#
            return ReadExport(Self.export(metric, headers: "Default")).readings.first?.origin.source.id
        }
        #expect(id("Mara’s Apple\u{A0}Watch|Ring") == id("Ring|Mara’s Apple Watch"))
        #expect(id("Ring") == "health-auto-export/Ring")
    }

    /// A sample of this hub that its webhook sent and an app sends back.
    @Test func ownReadingsAreNotTakenAgain() throws {
        let uuid = try #require(SampleIdentity("01a1f7a6-b4a0-822c-a8e9-ad1497f5b98c"))
        let point = #"{"date":"2026-05-11 07:00:03 +0200","qty":71.4,"uuid":"\#(uuid)"}"#
        let metric = #"{"name":"weight_body_mass","units":"kg","data":[\#(point)]}"#
        let bytes = Array(#"{"data":{"metrics":[\#(metric)],"deleted":["\#(uuid)"]}}"#.utf8)
        let interpreter = HealthAutoExportInterpreter(registry: OriginRegistry(person: "me"))
        var (known, readings, skipped): (Set<SampleIdentity>, [Reading], [SkipKind]) = ([], [], [])
        interpreter.isOwn = { uuid, _ in known.contains(uuid) }
        func read() throws {
            try HealthAutoExportFileSource(bytes: bytes, received: ReadExport.received).forEachFrame { frame in
                if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) { skipped.append(kind) }
            }
        }
        // Another hub's sample is a reading, whose UUID identifies it.
        try read()
        #expect(readings.map(\.record?.id) == ["\(uuid)"])
        known.insert(uuid)
        try read()
        #expect(readings.count == 1 && skipped == [SkipKind("own reading")])
    }
}
