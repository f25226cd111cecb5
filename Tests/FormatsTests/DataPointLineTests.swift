import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import Formats

/// Data points of Open mHealth.
@Suite struct DataPointLineTests {
    private static let recorded = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "OpenMHealth/data-points.ndjson")

    private func stored(
        _ id: String, _ digits: String, _ code: String, source: String = "file.app", metadata: String? = nil, lasts: Int64 = 0
    ) throws -> StoredSample {
        let start = Instant(seconds: 1_790_000_000)
        let reading = Reading(
            origin: Origin(
                person: "11111111-2222-4333-8444-555555555555", type: try #require(SampleType(id)),
                source: SourceRevision(id: source, name: "Ünïque \"app\"")),
            numeral: try Numeral(digits), unit: try Unit(ucum: code),
            time: .instants(
                start: start, end: Instant(seconds: 1_790_000_000 + lasts), offset: ZoneOffset(seconds: -5 * 3600 - 1800)),
            metadata: try metadata.map { try Metadata(json: $0) }, place: Place(.line, 1))
        let gated = try ReadingPath.samples(
            of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_790_001_000))
        return StoredSample(sample: try #require(gated.first?.sample), ingest: 1, seq: 1)
    }

    /// `scripts/check-open-mhealth` validates these recorded lines with Open mHealth's own schemas.
    @Test func matchesRecordedLines() throws {
        let line = DataPointLine()
        var bytes: [UInt8] = []
        let samples = [
            try stored("heartRate", "72", "/min", source: "ble.heart-rate"), try stored("heartRate", "72.5", "/min", lasts: 60),
            try stored("bodyMass", "80.50", "kg", metadata: #"{"wasUserEntered":true}"#),
            try stored("bodyMass", "178.0", "[lb_av]"),
            try stored("bodyMass", "12.7", "[stone_av]"), try stored("bloodGlucose", "95", "mg/dL"),
            try stored("bloodGlucose", "5.50", "mmol/L"), try stored("bodyTemperature", "36.50", "Cel"),
            try stored("bodyTemperature", "98.60", "[degF]"), try stored("oxygenSaturation", "97", "%"),
            try stored("oxygenSaturation", "0.97", "1"), try stored("stepCount", "120", "1{steps}", lasts: 60),
            try stored("stepCount", "3", "1{steps}"), try workout("5.20", "km", "310.5"), try workout("1", "[nmi_i]", nil),
            try stored("workout", "57", "1", lasts: 60),
        ]
        for sample in samples { #expect(line.append(.added(sample), to: &bytes)) }
        if getenv("VITALGATE_RECORD") != nil { try Data(bytes).write(to: Self.recorded) }
        #expect(try Data(contentsOf: Self.recorded) == Data(bytes))
    }

    private func workout(_ distance: String, _ code: String, _ energy: String?) throws -> StoredSample {
        var stored = try stored("workout", "37", "1", lasts: 1800)
        var reported = Workout(totalDistance: Amount(try Numeral(distance), try Unit(ucum: code)))
        if let energy {
            reported.statistics = [
                Workout.Statistics(type: "activeEnergyBurned", sum: Amount(try Numeral(energy), try Unit(ucum: "kcal")))
            ]
        }
        stored.sample.body = try SampleBody(encoding: reported)
        return stored
    }

    @Test func workouts() throws {
        var bytes: [UInt8] = []
        #expect(DataPointLine().append(.added(try workout("5.20", "km", "310.5")), to: &bytes))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text.contains(
                #""body":{"activity_name":"running","distance":{"value":5.20,"unit":"km"},"kcal_burned":{"value":310.5,"unit":"kcal"},"#
            ))
        bytes.removeAll()
        #expect(DataPointLine().append(.added(try workout("1", "[nmi_i]", nil)), to: &bytes))
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""distance":{"value":1852.0,"unit":"m"}"#))
        #expect(!DataPointLine().append(.added(try stored("sleepAnalysis", "3", "1", lasts: 60)), to: &bytes))
    }

    @Test func omitsTypesWithoutSchema() throws {
        let line = DataPointLine()
        var bytes: [UInt8] = []
        for type in SampleType.quantities where !DataPointLine.knows(type) {
            #expect(!line.append(.added(try stored(type.id, "1", type.canonicalUnit.code)), to: &bytes))
        }
        #expect(bytes.isEmpty)
        #expect(SampleType.quantities.count { DataPointLine.knows($0) } == 6)
    }

    @Test func digitsAndUnitsAsMeasured() throws {
        func text(_ stored: StoredSample) -> String {
            var bytes: [UInt8] = []
            _ = DataPointLine().append(.added(stored), to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(
            try text(stored("bodyTemperature", "98.60", "[degF]")).contains(#""body_temperature":{"value":98.60,"unit":"F"}"#))
        #expect(try text(stored("bodyMass", "12.7", "[stone_av]")).contains(#""body_weight":{"value":80.648"#))
        #expect(try text(stored("bodyMass", "80", "kg")).contains(#""date_time":"2026-09-21T08:43:20-05:30""#))
        #expect(try text(stored("stepCount", "3", "1{steps}")).contains(#""time_interval":{"start_date_time":"#))
        #expect(try !text(stored("heartRate", "72", "/min")).contains("modality"))
    }

    @Test func deletions() throws {
        let stored = try stored("heartRate", "72", "/min")
        var bytes: [UInt8] = []
        let deletion = StoredDeletion(
            sample: stored.sample, replacedBy: "01a20a91-f3b8-8487-94b9-60f7aeba3677", ingest: 2, seq: 2)
        #expect(DataPointLine().append(.deleted(deletion), to: &bytes))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"deleted":"\#(stored.uuid)","type":"heartRate","replacedBy":"01a20a91-f3b8-8487-94b9-60f7aeba3677"}"# + "\n"
        )
    }
}
