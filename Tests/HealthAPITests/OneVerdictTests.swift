import FileSource
import HTTPServerTesting
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import HealthAPI

/// A file, a device and a client that report the same line get the same result, and a stored line can be read.
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
    private static let strange = [
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
        var octets = Array(line.utf8)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: octets.removeLast(Int.random(in: 1..<octets.count, using: &random))
        case 1: octets[Int.random(in: 0..<octets.count, using: &random)] = UInt8.random(in: 0x0B...255, using: &random)
        default:
            for _ in 0...Int.random(in: 0...1, using: &random) {
                guard let range = values(of: octets).randomElement(using: &random) else { break }
                octets.replaceSubrange(range, with: Array((strange.randomElement(using: &random) ?? "").utf8))
            }
        }
        return octets
    }

    /// Whether the line is stored if a file or a device reports it.
    private static func enters(_ line: [UInt8], _ kind: IngestKind, _ store: SampleStore) throws -> Bool {
        var readings: [Reading] = []
        do throws(Refusal) {
            let interpreter = LineInterpreter(registry: OriginRegistry(subject: ServedStore.person))
            let result: Result<FrameOutcome, Refusal> = line.withUnsafeBytes { octets in
                let frame = RawFrame(payload: .bytes(octets), place: Place(.line, 1), received: ServedStore.now)
                do throws(Refusal) {
                    return .success(try interpreter.interpret(frame, into: &readings))
                } catch { return .failure(error) }
            }
            _ = try result.get()
        } catch { return false }
        guard let samples = try? ReadingPath.samples(of: readings, zone: TimeZoneRules(fixed: .utc), received: ServedStore.now),
            !samples.isEmpty
        else { return false }
        let ingest = try store.beginIngest(IngestDescription(kind: kind, received: ServedStore.now.microseconds))
        let outcomes = try ingest.store(samples)
        _ = try ingest.finish(at: 0)
        return !outcomes.contains(.refused)
    }

    @Test func mutatedLines() throws {
        let served = try ServedStore()
        let types = [
            "bodyMass", "sleepAnalysis", "stateOfMind", "medicationDoseEvent", "gad7", "visionPrescription", "workout",
            "bloodPressure",
        ]
        for type in types { try served.grant(type) }
        let store = try SampleStore(
            path: served.folder.file("files.db"), access: .write, creation: .init(subject: ServedStore.person, time: 0))
        var random = SeededGenerator(seed: 37)
        var entered = 0
        for round in 0..<1000 {
            let base = Self.lines[round % Self.lines.count]
            let line = round < Self.lines.count ? Array(base.utf8) : Self.mutated(base, &random)
            let text = String(decoding: line, as: UTF8.self)
            // Whose source it is follows from who sends it.
            guard line == Array(text.utf8), !text.contains("\"uuid\"") else { continue }
            let verdicts = [
                try Self.enters(line, .import, store), try Self.enters(line, .live, store),
                try served.post("/v1/samples", text, type: "application/x-ndjson", token: served.otherToken).status == 200,
            ]
            #expect(Set(verdicts).count == 1, "\(verdicts): \(text.prefix(300))")
            if round < Self.lines.count { #expect(verdicts[0], "\(text)") }
            entered += verdicts[0] ? 1 : 0
        }
        // Both verdicts were seen.
        #expect(entered > 50 && entered < 900, "\(entered)")
        #expect(try store.check(deep: true) == [])
        #expect(try served.store.check(deep: true) == [])
    }
}
