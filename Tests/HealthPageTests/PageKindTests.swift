import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import SampleStore
import Testing

@testable import HealthPage

/// A renderer for each kind of object. "Now" is 2027-01-15 08:00 UTC.
@Suite struct PageKindTests {
    private let served: ServedStore
    private let cookie: String
    private static let midnight: Int64 = 1_800_000_000 - 8 * 3600

    init() throws {
        served = try ServedStore()
        cookie = try PageTests.cookie(served)
    }

    private func get(_ target: String) throws -> String {
        let answer = try #require(try served.client().get(target, cookie))
        #expect(answer.status == 200, "\(target): \(answer.text)")
        for text in ["style=", "onclick", "<script>", "HTML("] { #expect(!answer.text.contains(text), "\(target): \(text)") }
        return answer.text
    }

    @discardableResult
    private func keep(
        _ name: String, value: String = "0", _ seconds: Int64, to end: Int64? = nil, body: SampleBody? = nil,
        group: UInt64? = nil
    ) throws -> SampleIdentity {
        let type = try #require(SampleType(name))
        func instant(_ seconds: Int64) -> Instant { Instant(seconds: Self.midnight + seconds) }
        let reading = Reading(
            origin: Origin(
                person: ServedStore.person, type: type, source: SourceRevision(id: "watch", name: "watch", version: nil),
                device: nil),
            numeral: try Numeral(value), unit: type.kind == .quantity ? type.canonicalUnit : .one,
            time: .instants(start: instant(seconds), end: instant(end ?? seconds), offset: .utc),
            group: group.map { .shared($0) } ?? .none, body: body, place: Place(.line, 1))
        let identities = try served.keep([reading])
        return try #require(identities.first)
    }

    private func object(_ identity: SampleIdentity) throws -> String { try get("/page/sample/\(identity)") }

    @Test func aWorkoutIsDrawn() throws {
        var writer = PointsWriter(columns: Array(WorkoutRoute.columns.prefix(4)))
        for minute in 0..<12 {
            try writer.append([
                Numeral("\(minute * 60_000_000)"), Numeral("52.\(510 + minute * 2)"), Numeral("13.4"), Numeral("\(40 + minute)"),
            ])
            try keep("heartRate", value: "\(100 + minute)", Int64(minute) * 60)
        }
        let (points, content) = try writer.end()
        let route = try keep(
            "workoutRoute", 0, to: 660, body: SampleBody(encoding: WorkoutRoute(points: points), content: content))
        let workout = Workout(
            events: [.init(type: "lap", start: 0, end: 300_000_000), .init(type: "lap", start: 300_000_000, end: 660_000_000)],
            routes: [route.description])
        let text = try object(try keep("workout", value: "37", 0, to: 660, body: SampleBody(encoding: workout)))
        #expect(text.contains("<h1>Workout: Running") || text.contains("Running"))
        #expect(text.contains("class=\"way\"") && text.contains("Map of a route of 2.45 km"))
        #expect(text.contains(">11:00 <small>without pauses</small></dd>"))
        #expect(text.contains(">2.45 km <small>from the route</small></dd>"))
        // Each drawing has its figure and its ends in words.
        #expect(text.contains("<small>/min on average</small>") && text.contains("In 11:00: lowest 100, highest 11"))
        #expect(text.contains("<div class=\"card heart\">") && text.contains("<p class=\"num\">40–51 <small>m</small></p>"))
        #expect(text.contains("4:30 /km"))
        for heading in ["Heart rate", "Elevation in meters", "Laps", "Splits"] {
            #expect(text.contains("<h2>\(heading)</h2>"), "\(heading)")
        }
        #expect(text.contains("<summary>Statistics</summary>"))
        #expect(try object(route).contains("class=\"way\""))
        // The workouts of the last four weeks are in words, and each is a row.
        let list = try get("/page/type/workout")
        #expect(list.contains("<p class=\"num\">11\u{a0}min</p>") && list.contains("19 Dec 2026 – 15 Jan: 1 workout"))
        #expect(list.contains(">Running</a>") && list.contains("<details class=\"behind\"><summary>Readings</summary>"))
    }

    @Test func anElectrocardiogramIsATraceOnPaper() throws {
        var writer = PointsWriter(columns: [Electrocardiogram.voltage])
        // Eleven seconds at 100 Hz with a spike of one millivolt each second.
        for index in 0..<1100 { try writer.append([try Numeral(index % 100 == 50 ? "1000" : "0")]) }
        let (points, content) = try writer.end()
        let reported = Electrocardiogram(
            points: points, samplingFrequency: Amount(try Numeral("100"), try Unit(ucum: "Hz")), lead: "Lead I")
        let text = try object(
            try keep("electrocardiogram", value: "1", 0, to: 11, body: SampleBody(encoding: reported, content: content)))
        // A strip has ten seconds, 250 mm. A millivolt has ten millimetres.
        #expect(text.components("class=\"ecg\"") == 2 && text.contains("width=\"250mm\" height=\"30mm\""))
        #expect(text.contains("L12.50 10L") && text.contains("25 mm/s, 10 mm/mV") && text.contains("Lead I"))
    }

    @Test func anAudiogramHasBothEars() throws {
        let decibel = try Unit(ucum: "dB")
        func ear(_ level: String) throws -> Audiogram.Ear { Audiogram.Ear(sensitivity: Amount(try Numeral(level), decibel)) }
        let points = try ["250", "1000", "8000"].map {
            Audiogram.Point(frequency: Amount(try Numeral($0), try Unit(ucum: "Hz")), left: try ear("15"), right: try ear("40"))
        }
        let text = try object(try keep("audiogram", 0, body: SampleBody(encoding: Audiogram(sensitivity: points))))
        #expect(text.contains("aria-label=\"Audiogram\"") && text.contains("Left ear") && text.contains("1,000 Hz"))
    }

    @Test func aLaboratoryValueIsReadable() throws {
        func lab(_ value: String, _ second: Int64) throws -> SampleIdentity {
            let resource = """
                {"resourceType":"Observation","id":"\(second)","code":{"coding":[{"system":"http://loinc.org","code":"4548-4"}]},\
                "valueQuantity":{"value":\(value),"unit":"%"},\
                "referenceRange":[{"low":{"value":4,"unit":"%"},"high":{"value":5.6,"unit":"%"}}]}
                """
            func percent(_ value: String) -> ClinicalResult.Quantity { .init(value: value, unit: "%") }
            let record = ClinicalRecord(
                displayName: "HbA1c", resourceType: "Observation", identifier: "\(second)", version: "R4",
                dates: ["issued": "2027-01-14"], codes: [Coding(system: "http://loinc.org", code: "4548-4")],
                result: ClinicalResult(
                    quantity: percent(value),
                    ranges: [ClinicalResult.ReferenceRange(low: percent("4"), high: percent("5.6"))]))
            return try keep(
                "labResultRecord", second, body: SampleBody(encoding: record, content: try PackedContent(Array(resource.utf8))))
        }
        let first = try object(try lab("5.1", 0))
        #expect(
            first.contains("<dd>5.1 %</dd>") && first.contains("<dd>4–5.6 %</dd>") && first.contains("Within the reference range")
        )
        #expect(!first.contains("<h2>Trend</h2>"))
        // The date is that of the test, not of the import.
        let today = try get("/page/")
        #expect(first.contains("14 Jan 2027") && today.contains("<span data-time>14 Jan 2027</span>"))
        let second = try object(try lab("6.2", 60))
        #expect(second.contains("Outside the reference range") && second.contains("<h2>Trend</h2>"))
        #expect(second.contains("class=\"range\"") && !second.contains("valueQuantity"))
        #expect(second.contains("<p class=\"num\">6.2 <small>% on 14 Jan</small></p>"))
        #expect(second.contains("14 Jan: 2 results, lowest 5.1, highest 6.2. The reference range is 4–5.6 %."))
        // The records show the latest value with its range and the one before.
        let records = try get("/page/records")
        #expect(records.contains("6.2 %") && records.contains("5.1 % on 14 Jan"))
        #expect(records.contains("Above the range") && records.contains("class=\"knob off\""))
    }

    @Test func aDocumentIsReadable() throws {
        let xml = """
            <ClinicalDocument xmlns="urn:hl7-org:v3"><title>Summary</title><component><structuredBody><component><section>\
            <title>Allergies</title><text><table><tbody><tr><td>Penicillin &amp; others</td><td>Rash</td></tr></tbody></table></text>\
            </section></component></structuredBody></component></ClinicalDocument>
            """
        let reported = ClinicalDocument(title: "Summary", patient: "Ada", custodian: "Clinic", author: "Dr. B", valid: true)
        let text = try object(
            try keep("cda", 0, body: SampleBody(encoding: reported, content: try PackedContent(Array(xml.utf8)))))
        #expect(text.contains("<h2>Allergies</h2>") && text.contains("<li>Penicillin &amp; others · Rash</li>"))
        #expect(text.contains("<dd>Ada</dd>") && !text.contains("structuredBody"))
    }

    @Test func aStateOfMindIsReadable() throws {
        let state = StateOfMind(kind: "dailyMood", labels: ["calm", "hopeful"], associations: ["selfCare"])
        let text = try object(try keep("stateOfMind", value: "0.5", 0, body: SampleBody(encoding: state)))
        #expect(
            text.contains("<dd>Daily mood</dd>") && text.contains("<dd>Calm, Hopeful</dd>") && text.contains("<dd>Self care</dd>")
        )
    }

    @Test func nightsHaveAHistory() throws {
        let values = try #require(SampleType("sleepAnalysis")?.categoryValues)
        let deep = try #require(values.value(of: "asleepDeep"))
        for night in 0..<3 as Range<Int64> {
            try keep("sleepAnalysis", value: "\(deep)", -night * 86_400, to: -night * 86_400 + 3600 * (6 + night))
        }
        let text = try get("/page/type/sleepAnalysis")
        #expect(text.contains("Nights (3)") && text.components("class=\"level3\"") >= 4)
        #expect(text.contains("<td>8\u{a0}h</td>") && text.contains("00:00–06:00"))
        // A bar for each day is at the place of its day, and every tenth day has one label.
        for label in ["15 Jan", "5 Jan", "26 Dec 2026"] {
            #expect(text.components(">\(label)</text>") == 1, "\(label)")
        }
        #expect(text.contains("class=\"level3\" x=\"97%\"") && text.contains("class=\"level3\" x=\"93.67%\""))
        // The last night is in words above its drawing.
        #expect(text.contains("<p class=\"num\">6\u{a0}h</p>"))
        #expect(text.contains("13 Jan – 15 Jan: the average of each stage") && text.contains(">Deep 7\u{a0}h</span>"))
    }

    /// A night of the spring has its drawing, its own usual length, and links to the nights beside it.
    @Test func aNightOfAnyDayIsReachable() throws {
        let values = try #require(SampleType("sleepAnalysis")?.categoryValues)
        let deep = try #require(values.value(of: "asleepDeep"))
        for night in 250..<270 as Range<Int64> {
            let hours: Int64 = night == 252 ? 5 : 7
            try keep("sleepAnalysis", value: "\(deep)", -night * 86_400, to: -night * 86_400 + 3600 * hours)
        }
        // 2026-05-08.
        let text = try get("/page/type/sleepAnalysis?date=2026-05-08")
        #expect(text.contains("<p class=\"num\">5\u{a0}h</p>") && text.contains("Usually 7\u{a0}h"))
        for link in ["2026-05-07", "2026-05-09"] {
            #expect(text.contains("href=\"/page/type/sleepAnalysis?date=\(link)\""), "\(link)")
        }
        #expect(text.contains("30 days to 8 May 2026") && text.contains("Nights (18)"))
        // Without a day, the page shows the last night.
        #expect(try get("/page/type/sleepAnalysis").contains("30 days to 10 May 2026"))
        #expect(try get("/page/type/sleepAnalysis?date=2026-06-01").contains("No sleep was recorded for this day."))
    }

    @Test func aNightHasHoursAndALegend() throws {
        let values = try #require(SampleType("sleepAnalysis")?.categoryValues)
        for (stage, from, to) in [("asleepCore", -1, 3), ("asleepREM", 3, 4), ("awake", 4, 5), ("asleepDeep", 5, 6)]
            as [(String, Int64, Int64)]
        {
            try keep("sleepAnalysis", value: "\(try #require(values.value(of: stage)))", from * 3600, to: to * 3600)
        }
        let text = try get("/page/type/sleepAnalysis")
        let parts = text.split(separator: "<svg class=\"night\"")
        let strip = try #require(parts.last?.split(separator: "</svg>").first)
        for hour in ["00:00", "02:00", "04:00", "06:00"] { #expect(strip.contains(">\(hour)</text>"), "\(hour)") }
        #expect(strip.contains("x=\"14.29%\"") && !strip.contains(">01:00<") && !strip.contains("preserveAspectRatio"))
        for (level, name) in ["Awake 1\u{a0}h", "REM 1\u{a0}h", "Core 4\u{a0}h", "Deep 1\u{a0}h"].enumerated() {
            #expect(text.contains("<span class=\"key level\(level)\">\(name)</span>"), "\(name)")
        }
    }

    @Test func pressuresWithoutPairAreListed() throws {
        try keep("bloodPressureSystolic", value: "124", 60)
        try keep("bloodPressureDiastolic", value: "79", 120)
        let text = try get("/page/type/bloodPressure")
        #expect(
            text.contains("<td>Systolic Blood Pressure: 124 mmHg</td>")
                && text.contains("<td>Diastolic Blood Pressure: 79 mmHg</td>"))
    }

    @Test func aPressureIsOneChart() throws {
        try keep("bloodPressureSystolic", value: "124", 60, group: 7)
        try keep("bloodPressureDiastolic", value: "79", 60, group: 7)
        let text = try get("/page/type/bloodPressure")
        #expect(text.contains("data-chart=\"bloodPressure\"") && text.contains("<td>124/79</td>"))
        let data = try get("/page/data/series?types=bloodPressure&range=week&width=300")
        #expect(data.contains("\"kind\":\"range\"") && data.contains(",79.0,124.0,124.0]]"))
        #expect(data.contains("\"family\":\"vitals\""))
    }

    /// A chart of a year has each measurement, and not averages.
    @Test func aYearHasEachPressure() throws {
        for day in 0..<90 as Range<Int64> {
            try keep("bloodPressureSystolic", value: "\(120 + day % 7)", -day * 4 * 86_400 + 60, group: UInt64(day + 7))
            try keep("bloodPressureDiastolic", value: "79", -day * 4 * 86_400 + 60, group: UInt64(day + 7))
        }
        let data = try get("/page/data/series?types=bloodPressure&range=year&width=200")
        let points = data.matches(of: #/\[(\d+),(\d+),79\.0,12\d\.0,12\d\.0\]/#)
        #expect(points.count == 90 && points.allSatisfy { $0.output.1 == $0.output.2 })
    }

    /// 132/88 and 141/73 were measured, and 132/73 never was.
    @Test func theLowestPressureIsOneReading() throws {
        for (index, pair) in [("132", "88"), ("141", "73")].enumerated() {
            try keep("bloodPressureSystolic", value: pair.0, Int64(index) * 600 + 60, group: UInt64(index + 7))
            try keep("bloodPressureDiastolic", value: pair.1, Int64(index) * 600 + 60, group: UInt64(index + 7))
        }
        let text = try get("/page/type/bloodPressure?range=week")
        #expect(text.contains("<td>132/88</td><td>141/73</td>") && !text.contains("132/73"))
    }

    @Test func mindfulSessionShowsDuration() throws {
        try keep("mindfulSession", 60, to: 660)
        let text = try get("/page/")
        #expect(text.contains("10\u{a0}min") && !text.contains("applicable"))
    }

    /// The goal of yesterday's summary, and one that was set on the page.
    @Test func ringsHaveGoals() throws {
        var summary = ActivitySummary(date: "2027-01-14")
        summary.activeEnergyBurned = Amount(try Numeral("310"), try Unit(ucum: "kcal"))
        summary.activeEnergyBurnedGoal = Amount(try Numeral("500"), try Unit(ucum: "kcal"))
        try keep("activitySummary", -86_400, body: SampleBody(encoding: summary))
        try keep("activeEnergyBurned", value: "120", 60, to: 120)
        try keep("appleExerciseTime", value: "10", 60, to: 120)
        let type = try #require(SampleType("appleExerciseTime"))
        let unit = try Unit(ucum: "min").conversion(to: type.canonicalUnit, molarMass: nil)
        try served.store.people.save(Goal(type: type, span: .day, value: unit(30)), of: ServedStore.person)
        let text = try get("/page/")
        #expect(text.contains("Move 120 / 500 kcal") && text.contains("10 / 30 min"))
        #expect(text.contains("stroke-dasharray"))
    }

    @Test func medicationsAndCharacteristicsHaveAPage() throws {
        #expect(try get("/page/characteristics").contains("No characteristics are recorded."))
        try served.store.people.save(
            UserAnnotatedMedication(name: "Ibuprofen 400 mg", generalForm: .tablet), of: ServedStore.person)
        let born = try #require(Characteristic(.dateOfBirth, "1990-01-16"))
        try served.store.people.set(.dateOfBirth, to: born, of: ServedStore.person, from: "1990-01-16", recorded: ServedStore.now)
        let text = try get("/page/characteristics")
        #expect(text.contains("16 Jan 1990 (36 years)") && text.contains("Ibuprofen 400 mg") && text.contains("Tablet"))
        let other = try #require(
            try served.client().get("/page/characteristics", try PageTests.cookie(served, as: PageTests.other)))
        #expect(!other.text.contains("1990") && !other.text.contains("Ibuprofen"))
    }

    @Test func aRangeIsInTheAddress() throws {
        try served.add([61, 72], from: Self.midnight + 3600)
        try served.add([50], from: Self.midnight - 40 * 86_400)
        let week = try get("/page/type/heartRate?range=week")
        #expect(
            week.contains("data-range=\"week\" aria-current=\"true\"") && week.contains("<td>72</td>")
                && !week.contains("<td>50</td>"))
        let before = try get("/page/type/heartRate?range=month&back=1")
        #expect(before.contains("<td>50</td>") && !before.contains("<td>72</td>"))
        let data = try get("/page/data/series?types=heartRate&range=day&previous=yes&width=300")
        #expect(data.contains("\"from\":\(Self.midnight * 1000),\"to\":\((Self.midnight + 86_400) * 1000)"))
        #expect(data.contains("\"previous\":[]"))
        #expect(try get("/page/type/heartRate?range=all").contains("<td>50</td>"))
        for target in ["from=5", "from=9&to=5", "from=a&to=b"] {
            let answer = try #require(try served.client().get("/page/type/heartRate?" + target, cookie))
            #expect(answer.status == 400, "\(target)")
        }
    }
}

extension String {
    /// The number of times that a text occurs.
    fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
