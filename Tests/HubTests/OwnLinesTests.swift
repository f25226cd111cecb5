import Formats
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// Our own lines, written and read back: the same samples, or a reason that names the field.
@Suite struct OwnLinesTests {
    private static let me = "11111111-2222-4333-8444-555555555555"
    private static let now = Instant(seconds: 1_800_000_000)

    // MARK: Any sample

    /// Samples of all kinds on a coarse grid, so that times, numbers and ordinals collide.
    private struct Maker {
        var generator: SeededGenerator

        mutating func pick<Element>(_ list: [Element]) -> Element { list[Int.random(in: 0..<list.count, using: &generator)] }
        mutating func flag() -> Bool { Bool.random(using: &generator) }

        mutating func numeral() -> Numeral {
            let text = pick(["0", "1", "6.30", "-0.5", "98.60", "72", "1e2", "+5", "007"])
            return (try? Numeral(text)) ?? Numeral(coefficient: 0)
        }

        mutating func points(_ columns: [Points.Column]) throws -> (Points, PackedContent) {
            var writer = PointsWriter(columns: columns)
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                try writer.append(
                    columns.map { column in
                        if column.name != Points.time, flag() { return nil }
                        return Numeral(
                            coefficient: Int64.random(in: -2000...2000, using: &generator),
                            exponent: column.name == Points.time ? 0 : pick([0, -1, -6]))
                    })
            }
            return try writer.end()
        }

        /// Type, number, unit, body.
        mutating func meaning() throws -> (SampleType, Numeral, HealthModel.Unit, SampleBody?) {
            let unit = { (code: String) in (try? Unit(ucum: code)) ?? .one }
            func type(_ id: String) throws -> SampleType { try #require(SampleType(id)) }
            let zero = Numeral(coefficient: 0)
            let amount = Amount(try Numeral("5.20"), unit("km"))
            switch pick(SampleKind.allCases) {
            case .quantity:
                let choices = [
                    ("bodyTemperature", "[degF]"), ("bodyTemperature", "Cel"), ("heartRate", "/min"), ("bloodGlucose", "mmol/L"),
                ]
                let (id, code) = pick(choices)
                return (try type(id), numeral(), unit(code), nil)
            case .category:
                return (try type(pick(["sleepAnalysis", "headache"])), Numeral(coefficient: pick([0, 1, 2])), .one, nil)
            case .correlation:
                let object = SampleIdentity(milliseconds: 1, high: 2, low: 3)
                return (try type("food"), zero, .one, try SampleBody(encoding: Correlation(objects: [object])))
            case .workout:
                var workout = Workout(duration: amount, totalDistance: amount)
                workout.events = [.init(type: "pause", start: -5, end: 10, metadata: Metadata([("a\u{85}\"", .boolean(true))]))]
                workout.activities = [.init(uuid: nil, start: 0, end: nil, duration: nil)]
                workout.statistics = [.init(type: "HKQuantityTypeIdentifierOfTheFuture", sum: Amount(numeral(), nil))]
                return (try type("workout"), Numeral(coefficient: pick([13, 37])), .one, try SampleBody(encoding: workout))
            case .activitySummary:
                var summary = ActivitySummary(date: "2026-11-20")
                summary.standHours = Amount(numeral(), .one)
                return (try type("activitySummary"), zero, .one, try SampleBody(encoding: summary))
            case .workoutRoute:
                let (points, content) = try points(WorkoutRoute.columns)
                let route = WorkoutRoute(points: points, workout: nil, name: pick([nil, "a\nb"]))
                return (try type("workoutRoute"), zero, .one, try SampleBody(encoding: route, content: content))
            case .heartbeatSeries:
                let (points, content) = try points(HeartbeatSeries.columns)
                return (
                    try type("heartbeatSeries"), zero, .one,
                    try SampleBody(encoding: HeartbeatSeries(points: points), content: content)
                )
            case .electrocardiogram:
                let (points, content) = try points([Electrocardiogram.voltage])
                let recording = Electrocardiogram(points: points, samplingFrequency: amount, symptomsStatus: pick([nil, "none"]))
                return (
                    try type("electrocardiogram"), Numeral(coefficient: 1), .one,
                    try SampleBody(encoding: recording, content: content)
                )
            case .audiogram:
                let point = Audiogram.Point(frequency: amount, left: .init(sensitivity: amount, masked: true), right: nil)
                return (try type("audiogram"), zero, .one, try SampleBody(encoding: Audiogram(sensitivity: [point])))
            case .visionPrescription:
                let prescription = VisionPrescription(expiration: pick([nil, 5]), leftEye: ["sphere": amount])
                return (try type("visionPrescription"), Numeral(coefficient: 1), .one, try SampleBody(encoding: prescription))
            case .stateOfMind:
                let state = StateOfMind(kind: "dailyMood", labels: ["calm"], associations: ["family"])
                return (try type("stateOfMind"), try Numeral(pick(["-0.70", "0.5", "1"])), .one, try SampleBody(encoding: state))
            case .medicationDoseEvent:
                let dose = MedicationDoseEvent(
                    medication: "Ida’s <pill>", codes: [Coding(code: "1")], scheduled: -5, dose: amount)
                return (try type("medicationDoseEvent"), Numeral(coefficient: 4), .one, try SampleBody(encoding: dose))
            case .scoredAssessment:
                let assessment = ScoredAssessment(answers: [0, 1, 2, 3, 0, 1, 2], risk: "mild")
                return (try type("gad7"), Numeral(coefficient: 9), .one, try SampleBody(encoding: assessment))
            case .clinicalRecord:
                let record = ClinicalRecord(displayName: "x", resourceType: "Immunization", identifier: "1", version: "R4")
                let beginning = Array("{\"resourceType\":\"Immunization\",".utf8)
                let bytes = pick([
                    beginning + Array("\"a\" : 6.30,\n\t\"b\":\"\u{2028}\\u0041\"}".utf8),
                    beginning + Array("\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8),
                ])
                let content = try PackedContent(bytes)
                return (try type("immunizationRecord"), zero, .one, try SampleBody(encoding: record, content: content))
            case .document:
                let document = ClinicalDocument(title: "t", patient: "p", custodian: "", author: "", valid: flag())
                let content = try PackedContent(Array("<ClinicalDocument>\u{1}ü</ClinicalDocument>".utf8))
                return (try type("cda"), zero, .one, try SampleBody(encoding: document, content: content))
            }
        }

        mutating func reading() throws -> Reading {
            let (type, numeral, unit, body) = try meaning()
            let device = Device(key: "k|1", name: "Ida’s", serial: "S\"1")
            let origin = Origin(
                person: pick([OwnLinesTests.me, OwnLinesTests.me, "7f9c0000-0000-4000-8000-000000000001", Origin.unassigned]),
                type: type, source: SourceRevision(id: pick(["a", "b"]), name: "A", version: pick([nil, "1"])),
                device: pick([nil, device]))
            let start = Instant(seconds: 1_790_000_000 + Int64.random(in: 0...3, using: &generator) * 3600)
            let end = Instant(microseconds: start.microseconds + pick([0, 0, 3_600_000_001]))
            let zone: ZoneOffset? = pick([nil, .utc, ZoneOffset(seconds: 3600)])
            let wall = (start.wallTime(at: .utc), end.wallTime(at: .utc))
            let times: [ReadingTime] = [
                .instants(start: start, end: end, offset: zone), .wall(start: wall.0, end: wall.1, ticks: nil), .receipt,
            ]
            let metadata = Metadata([
                ("note", .string("a\u{7F}b\\")), ("n", .number(self.numeral())), ("q", .quantity(numeral, .one)),
            ])
            return Reading(
                origin: origin, numeral: numeral, unit: unit, time: pick(times), ordinal: pick([0, 0, 1, 300, 0x7FFF_FFFF]),
                group: pick([.none, .shared(77)]), metadata: pick([nil, metadata]),
                record: pick([nil, nil, RecordIdentifier(id: "Immunization/1\"", version: 3)]), body: body,
                timeResolution: pick([1, 60]), place: Place(.line, 1))
        }
    }

    private func samples(_ seed: UInt64, _ count: Int) throws -> [Sample] {
        var maker = Maker(generator: SeededGenerator(seed: seed))
        var samples: [Sample] = []
        while samples.count < count {
            let made = try ReadingPath.samples(
                of: [try maker.reading()], zone: TimeZoneRules(fixed: ZoneOffset(seconds: 7200)), received: Self.now)
            samples += made.map(\.sample)
        }
        return samples
    }

    private func line(_ sample: Sample) -> [UInt8] {
        var bytes: [UInt8] = []
        SampleLine(me: Self.me, withContent: true).append(sample, ingest: 1, seq: 2, to: &bytes)
        return bytes
    }

    private func read(_ bytes: some Collection<UInt8>, person: String = Self.me) throws(Refusal) -> Reading? {
        var readings: [Reading] = []
        let answer = Array(bytes).withUnsafeBytes { bytes -> Result<FrameOutcome, Refusal> in
            do throws(Refusal) {
                let frame = RawFrame(payload: .bytes(bytes), place: Place(.line, 1), received: Self.now)
                return .success(try LineInterpreter(registry: OriginRegistry(person: person)).interpret(frame, into: &readings))
            } catch {
                return .failure(error)
            }
        }
        _ = try answer.get()
        return readings.first
    }

    @Test(arguments: 1...4) func everySampleRoundTrips(seed: UInt64) throws {
        for sample in try samples(seed, 150) {
            let bytes = line(sample)
            let reading = try #require(try read(bytes), "\(sample.origin.type.id)")
            let made = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.now)
            let back = try #require(made.first?.sample)
            #expect(back.identity == sample.identity && back.value == sample.value && back.numeral.text == sample.numeral.text)
            #expect(back.unit == sample.unit && back.body?.bytes == sample.body?.bytes && back.origin == sample.origin)
            #expect(line(back) == bytes, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }

    /// Nothing of a line that was cut is taken, wherever it was cut.
    @Test func refusesTruncatedLines() throws {
        for sample in try samples(9, 14) {
            let bytes = line(sample).dropLast()
            for length in stride(from: 1, to: bytes.count, by: 5) {
                #expect(throws: Refusal.self) { try read(bytes.prefix(length)) }
            }
        }
    }

    /// If any single byte is changed, the line is refused, or it names a sample whose UUID follows from it.
    @Test func changedLineIsRefusedOrConsistent() throws {
        var generator = SeededGenerator(seed: 5)
        for sample in try samples(11, 30) {
            let bytes = Array(line(sample).dropLast())
            for _ in 0..<40 {
                var changed = bytes
                changed[Int.random(in: 0..<changed.count, using: &generator)] = UInt8.random(in: 0x20...0x7E, using: &generator)
                guard let reading = try? read(changed) else { continue }
                // In the year 9026 it is refused after the line was read.
                let made = try? ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Self.now)
                guard let back = made?.first?.sample, back.origin.person == sample.origin.person else { continue }
                // The identity of a sample does not change.
                #expect(
                    back.identity == sample.identity
                        || !String(decoding: changed, as: UTF8.self).contains("\"uuid\":\"\(sample.identity)\""))
            }
        }
    }

    // MARK: By hand

    @Test(arguments: [
        ("[]", "JSON object"), ("{\"type\":", "ends early"), ("{\"type\":\"heartRate\"} x", "after the line's object"),
        ("{\"type\":\"heartRate\",\"type\":\"bodyMass\"}", "one name"), ("{\"type\":\"nothing\"}", "type:"),
        ("{\"type\":\"heartRate\"}", "start: it is missing"),
        ("{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00\"}", "start:"),
        ("{\"kind\":\"category\",\"type\":\"heartRate\"}", "type:"),
        ("{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\"}", "value: it is missing"),
        ("{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\",\"value\":60}", "unit: it is missing"),
        (
            "{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\",\"value\":\"60\",\"unit\":\"/min\"}",
            "value: it is not a number"
        ),
        (
            "{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\",\"value\":60,\"unit\":\"/min\",\"original\":{\"value\":\"61\",\"unit\":\"/min\"}}",
            "value: it differs from"
        ),
        ("{\"type\":\"stateOfMind\",\"start\":\"2026-11-20T08:00:00Z\",\"valence\":0}", "stateOfMindKind"),
        (
            "{\"type\":\"stateOfMind\",\"start\":\"2026-11-20T08:00:00Z\",\"valence\":0,\"stateOfMindKind\":\"dailyMood\",\"labels\":[\"blue\"]}",
            "labels"
        ),
        ("{\"type\":\"gad7\",\"start\":\"2026-11-20T08:00:00Z\",\"answers\":[0,1]}", "answers: there must be 7"),
        ("{\"type\":\"workoutRoute\",\"start\":\"2026-11-20T08:00:00Z\"}", "body: it is missing"),
        ("{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\",\"end\":\"2026-11-20T07:00:00Z\"}", "end:"),
        (
            "{\"type\":\"heartRate\",\"start\":\"2026-11-20T08:00:00Z\",\"subject\":\"Ida\",\"value\":1,\"unit\":\"/min\"}",
            "subject:"
        ),
    ])
    func isRefused(line: String, reason: String) throws {
        let error = #expect(throws: Refusal.self) { try read(line.utf8) }
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }

    @Test func deepAndLong() throws {
        let deep = "{\"type\":" + String(repeating: "[", count: 100_000)
        #expect(throws: Refusal.self) { try read(deep.utf8) }
        let many = "{" + (0..<5000).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        #expect(throws: Refusal.self) { try read(many.utf8) }
    }

    /// A first line with another kind of object is not ours.
    @Test(arguments: [
        ("{\"uuid\":\"x\",\"kind\":\"quantity\",\"type\":\"heartRate\",\"start\":\"2026\"", true),
        ("{\"type\":\"gad7\",\"start\":\"2026-11-20T08:00:00Z\",\"answers\":[", true),
        ("{\"deleted\":\"018d0c90-4d00-8162-b24d-c2872498ae4c\",\"type\":\"heartRate\"}", true),
        ("{\"resourceType\":\"Immunization\",\"id\":\"1\"}", false), ("{\"type\":\"Feature\",\"start\":1}", false), ("[", false),
        ("", false), ("{}", false), ("{\"channel\":\"gatt:2A37\"", false),
    ])
    func recognises(text: String, isOurs: Bool) {
        Array(text.utf8).withUnsafeBytes { bytes in #expect(LineFile.recognises(bytes) == isOurs) }
    }
}
