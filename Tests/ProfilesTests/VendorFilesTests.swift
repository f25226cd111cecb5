import FileSource
import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Profiles
import Testing

/// Walks the vendors' files: every expected sample and every skip of `<file>.expected.json` must come out of source,
/// interpreter and normaliser, and nothing else.
@Suite struct VendorFilesTests {
    static let directory = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/FileSourceTests/Files"

    static let kinds = ["patient_or_device_row": "patientOrDeviceRow"]

    /// The delimited files and the JSON. Apple's exports have their own reader and tests.
    static var files: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".csv") || ($0.hasSuffix(".json") && !$0.hasSuffix(".expected.json")) }.sorted()
    }

    @Test func thereAreFiles() { #expect(Self.files.count >= 22) }

    @Test(arguments: files) func everyExpectedSampleIsRead(file: String) throws {
        let path = "\(Self.directory)/\(file)"
        let expected = try VendorExpectation(of: path)
        let zone = try Self.zone(expected.zone)
        let library = shippedLibrary
        let received = Instant(seconds: 1_900_000_000)
        let match = try library.match(firstLines: TextFileHead.read(path: path).text)
        let input = try InputFile(path: path)
        let source: any FrameSource =
            switch match.form {
            case .delimited(let delimiter): DelimitedFileSource(input, delimiter: delimiter, received: received)
            case .jsonArray(let paths, let rows, _): JSONArrayFileSource(input, paths: paths, rows: rows, received: received)
            case .database: throw SourceError(.malformed, "none of these is a database")
            }
        let interpreter = try ProfileInterpreter(match, registry: OriginRegistry(person: "me"))
        try interpreter.survey(source)
        let normaliser = Normaliser(zone: zone, received: received)
        var output = Normaliser.Output()
        var outcomes: [Int: String] = [:]
        var readings: [Reading] = []
        try source.forEachFrame { frame in
            do throws(Refusal) {
                readings.removeAll(keepingCapacity: true)
                switch try interpreter.interpret(frame, into: &readings) {
                case .characteristics, .notData: outcomes[frame.place.number] = "header"
                case .skipped(let kind): outcomes[frame.place.number] = kind.name
                case .readings:
                    // The expectations speak of quantities alone.
                    let quantities = readings.filter { $0.origin.type.kind == .quantity }
                    if quantities.isEmpty { outcomes[frame.place.number] = "no-value" }
                    normaliser.normalise(quantities, into: &output)
                }
            } catch {
                outcomes[frame.place.number] = "bad-value"
            }
        }
        normaliser.finish(into: &output)
        for refusal in output.refusals { Issue.record("\(refusal.place): \(refusal.reason)") }

        // A repeated row is found by its identity, as the store will.
        var seen: Set<SampleIdentity> = []
        var samples: [GatedSample] = []
        for gated in output.samples {
            if seen.insert(gated.sample.identity).inserted {
                samples.append(gated)
            } else {
                outcomes[gated.place.number] = "duplicate"
            }
        }
        for skip in expected.skipped {
            let reason = skip.reason == "preamble" ? "header" : Self.kinds[skip.reason] ?? skip.reason
            // A summary may be a workout, which these expectations do not speak of.
            #expect(outcomes[skip.row] == reason || (reason == "summary" && outcomes[skip.row] == "no-value"), "row \(skip.row)")
        }
        #expect(Set(outcomes.keys) == Set(expected.skipped.map(\.row)))
        #expect(samples.count == expected.samples.count)
        var lastOffset: [Int: ZoneOffset] = [:]
        for wanted in expected.samples {
            let found = samples.first { $0.place.number == wanted.row && $0.sample.origin.type.id == wanted.type }
            guard let sample = found?.sample else {
                Issue.record("row \(wanted.row): no \(wanted.code)")
                continue
            }
            #expect(sample.numeral.doubleValue == wanted.value, "row \(wanted.row)")
            #expect(sample.unit.code == wanted.unit, "row \(wanted.row)")
            let offset = try #require(sample.zone)
            #expect(sample.start.wallTime(at: offset).description == wanted.time + ".000000", "row \(wanted.row)")
            if let text = wanted.offset { #expect(offset.description == text) }
            if wanted.ambiguous == true { lastOffset[wanted.row] = offset }
            if let method = wanted.glucoseMethod {
                #expect(sample.metadata?["glucoseMethod"] == .string(method), "row \(wanted.row)")
            }
            if let key = wanted.clampedTo {
                #expect(sample.metadata?[key] == .boolean(true), "row \(wanted.row)")
            }
            if let confidence = wanted.confidence {
                #expect(sample.metadata?["confidence"] == .number(Numeral(coefficient: Int64(confidence))), "row \(wanted.row)")
            }
        }
        // Where an hour occurs twice, the file's order settles it: summer time first, then winter time.
        let offsets = lastOffset.sorted { $0.key < $1.key }.map(\.value.seconds)
        #expect(offsets == offsets.sorted(by: >))
        if file == "libreview_3.csv" { #expect(Set(offsets) == [7200, 3600]) }
    }

    static func zone(_ name: String) throws -> TimeZoneRules {
        try TimeZoneRules(identifier: name, tzif: Array(Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))))
    }
}
