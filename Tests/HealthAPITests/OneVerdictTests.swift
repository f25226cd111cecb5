import FileSource
import Foundation
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAPI
@testable import HealthStore

/// A line gets the same verdict from a file, a device, a client, and the library, and each accepted object can be read.
///
/// `VITALGATE_LINES` sets how many lines (1,000).
@Suite struct OneVerdictTests {
    /// A line of each kind that a client may save.
    private static let lines = [
        #"{"type":"bodyMass","start":"2026-11-20T07:00:00+01:00","value":71.40,"unit":"kg","metadata":{"HKWasUserEntered":true}}"#,
        #"{"type":"sleepAnalysis","start":"2026-11-19T23:00:00+01:00","end":"2026-11-20T06:30:00+01:00","case":"asleepCore"}"#,
        #"{"type":"stateOfMind","start":"2026-11-20T08:15:00+01:00","valence":0.70,"stateOfMindKind":"momentaryEmotion","#
            + #""labels":["calm"],"associations":["family"]}"#,
        #"{"type":"medicationDoseEvent","start":"2026-11-20T08:00:00+01:00","status":"taken","medication":"Ibuprofen","#
            + #""scheduleType":"schedule","scheduled":"2026-11-20T07:55:00+01:00","dose":{"value":2},"doseUnit":"tablet"}"#,
        #"{"type":"gad7","start":"2026-11-20T09:00:00+01:00","answers":["severalDays","notAtAll","severalDays","notAtAll","#
            + #""moreThanHalfTheDays","notAtAll","notAtAll"],"risk":"noneToMinimal"}"#,
        #"{"type":"visionPrescription","start":"2026-11-20T00:00:00+01:00","prescription":"glasses","#
            + #""rightEye":{"sphere":{"value":-1.25,"unit":"[diop]"},"axis":{"value":180,"unit":"deg"}}}"#,
        #"{"type":"workout","start":"2026-11-20T17:00:00+01:00","end":"2026-11-20T17:30:00+01:00","activity":"running","#
            + #""duration":1742.5,"totalDistance":{"value":5.20,"unit":"km"}}"#,
        #"{"type":"bloodPressure","start":"2026-11-20T07:00:00+01:00","objects":["0195fb5a-0000-8000-8000-000000000001"]}"#,
    ]

    /// Values that a careless or hostile sender may use.
    private static let unusual = [
        "null", "true", "0", "-1", "1e400", "-1e308", "99999999999999999999", "\"\"", "\"x\"", "\"\\u0000\"", "[]", "[null]",
        "{}",
        #"{"value":1}"#, #"{"value":"1","unit":"kg"}"#, #"["calm","calm"]"#, #""2026-11-20T07:00:00""#,
        #""1200-01-01T00:00:00Z""#,
        #""2999-01-01T00:00:00Z""#, "\"\(String(repeating: "é", count: 70_000))\"", "[" + String(repeating: "[", count: 200),
    ]

    /// Positions of values: after a colon, up to the comma or brace of the same depth.
    private static func values(of line: [UInt8]) -> [Range<Int>] {
        line.indices.filter { line[$0] == UInt8(ascii: ":") && line[$0 - 1] == UInt8(ascii: "\"") }.compactMap { colon in
            var (depth, isText) = (0, false)
            for index in (colon + 1)..<line.count {
                switch line[index] {
                case UInt8(ascii: "\""): isText.toggle()
                case UInt8(ascii: "{"), UInt8(ascii: "["): if !isText { depth += 1 }
                case UInt8(ascii: ","): if !isText, depth == 0 { return colon + 1..<index }
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if !isText, depth == 0 { return colon + 1..<index }
                    if !isText { depth -= 1 }
                default: break
                }
            }
            return nil
        }
    }

    private static func mutated(_ line: String, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(line.utf8)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        case 1: bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0x0B...255, using: &random)
        default:
            for _ in 0...Int.random(in: 0...1, using: &random) {
                guard let range = values(of: bytes).randomElement(using: &random) else { break }
                bytes.replaceSubrange(range, with: Array((unusual.randomElement(using: &random) ?? "").utf8))
            }
        }
        return bytes
    }

    /// The readings of a line, or `nil` if it is refused.
    private static func readings(_ line: [UInt8]) -> [Reading]? {
        var readings: [Reading] = []
        do throws(Refusal) {
            let interpreter = LineInterpreter(registry: OriginRegistry(person: ServedStore.person))
            let result: Result<FrameOutcome, Refusal> = line.withUnsafeBytes { bytes in
                let frame = RawFrame(payload: .bytes(bytes), place: Place(.line, 1), received: ServedStore.now)
                do throws(Refusal) {
                    return .success(try interpreter.interpret(frame, into: &readings))
                } catch { return .failure(error) }
            }
            _ = try result.get()
        } catch { return nil }
        return readings
    }

    /// Whether the readings of a line enter when a file or a device sends it.
    private static func enters(_ readings: [Reading], _ kind: IngestKind, _ store: SampleStore) throws -> Bool {
        guard let samples = try? ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ServedStore.now),
            !samples.isEmpty
        else { return false }
        let ingest = try store.beginIngest(IngestDescription(kind: kind, received: ServedStore.now.microseconds))
        let outcomes = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
        return !outcomes.contains(.refused)
    }

    /// The line as an object of the library, or `nil` where its types cannot express it: they name a correlation's objects, not UUIDs.
    private static func object(_ readings: [Reading]) -> HealthObject? {
        guard readings.count == 1, let reading = readings.first, case .complete(let time) = reading.time else { return nil }
        let (type, amount) = (reading.origin.type, Amount(reading.numeral, reading.unit))
        let metadata = Dictionary(
            (reading.metadata?.entries ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
        var object: HealthObject
        switch (type.kind, reading.body) {
        case (.quantity, nil), (.category, nil):
            object = .quantity(type, amount, from: time.start, to: time.end, metadata: metadata)
        case (.correlation, _): return nil
        case (.workout, let body?):
            guard let workout = try? body.decoded(as: Workout.self), let number = Int(reading.numeral.canonicalText),
                let activity = type.categoryValues?.name(of: number)
            else { return nil }
            object = .workout(
                activity, from: time.start, to: time.end, duration: workout.duration, events: workout.events,
                activities: workout.activities, statistics: workout.statistics, metadata: metadata)
        case (_, let body?):
            object = HealthObject(type, time.start, time.end, nil, metadata, .body(number: reading.numeral) { _ in body })
        default: return nil
        }
        object.offset = time.zone
        return object
    }

    @Test func mutatedLines() async throws {
        let served = try ServedStore()
        let types = [
            "bodyMass", "sleepAnalysis", "stateOfMind", "medicationDoseEvent", "gad7", "visionPrescription", "workout",
            "bloodPressure",
        ]
        for type in types { try served.grant(type) }
        let store = try SampleStore(
            path: served.folder.file("files.db"), access: .write, creation: .init(person: ServedStore.person, time: 0))
        let library = try HealthStore(
            path: served.folder.file("library.db"),
            access: .write(as: SourceRevision(id: "org.example.library", name: "Library")), creating: true,
            now: { ServedStore.now })
        var random = SeededGenerator(seed: 37)
        var (entered, expressed) = (0, [true: 0, false: 0])
        let rounds = ProcessInfo.processInfo.environment["VITALGATE_LINES"].flatMap { Int($0) } ?? 1000
        for round in 0..<rounds {
            let base = Self.lines[round % Self.lines.count]
            let line = round < Self.lines.count ? Array(base.utf8) : Self.mutated(base, &random)
            let text = String(decoding: line, as: UTF8.self)
            // Whose source it is follows from who sends it.
            guard line == Array(text.utf8), !text.contains("\"uuid\"") else { continue }
            let readings = Self.readings(line)
            var verdicts = [
                try readings.map { try Self.enters($0, .import, store) } ?? false,
                try readings.map { try Self.enters($0, .live, store) } ?? false,
                try served.post("/v1/samples", text, type: "application/x-ndjson", token: served.otherToken).status == 200,
            ]
            if let object = readings.flatMap(Self.object) {
                let verdict = await (try? library.save(object)) != nil
                verdicts.append(verdict)
                expressed[verdict, default: 0] += 1
            }
            #expect(Set(verdicts).count == 1, "\(verdicts): \(text.prefix(300))")
            if round < Self.lines.count { #expect(verdicts[0], "\(text)") }
            entered += verdicts[0] ? 1 : 0
        }
        // Both verdicts were seen.
        #expect(entered > rounds / 50 && entered < rounds * 9 / 10, "\(entered)")
        #expect(expressed[true, default: 0] > rounds / 50, "\(expressed)")
        #expect(try store.check(deep: true) == [])
        let saved = try SampleStore(path: served.folder.file("library.db"), access: .read)
        #expect(try saved.check(deep: true) == [])
        #expect(try served.store.check(deep: true) == [])
    }
}
