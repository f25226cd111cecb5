import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileExport

/// Files that are written once.
@Suite struct SampleFileTests {
    private let folder: TemporaryFolder
    private static let me = "11111111-2222-4333-8444-555555555555"

    init() throws { folder = try TemporaryFolder() }

    private func sample(
        _ type: SampleType, _ value: String, _ unit: String, at second: Int, source: String = "strap", metadata: Metadata? = nil
    ) throws -> StoredSample {
        let start = Instant(seconds: 1_790_000_000 + Int64(second))
        let reading = Reading(
            origin: Origin(
                person: Self.me, type: type, source: SourceRevision(id: source, name: "A \"strap\" & <co>", version: "1.2"),
                device: Device(key: "k", name: "Ida, model:X", manufacturer: "Polar")),
            numeral: try Numeral(value), unit: try Unit(ucum: unit), time: .instants(start: start, end: start, offset: .utc),
            metadata: metadata, place: Place(.line, 1))
        let gated = try #require(
            try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
                .first)
        return StoredSample(sample: gated.sample, ingest: 1, seq: Int64(second + 1))
    }

    private func write(
        _ name: String, _ form: SampleFileWriter.Form, _ samples: [StoredSample], units: [SampleType: HealthModel.Unit] = [:]
    ) throws -> SampleFileWriter.Counts {
        let writer = try SampleFileWriter(
            path: folder.file(name), form: form,
            context: try ExportContext(name: "", me: Self.me, units: units, now: { Instant(seconds: 1_800_000_000) }),
            types: samples.map(\.sample.origin.type))
        for sample in samples { try writer.append(sample) }
        return try writer.finish()
    }

    /// The person is written where the Health app writes it, and an import reads it back.
    @Test func thePersonIsMe() throws {
        let reported = [
            try #require(Characteristic(.dateOfBirth, "1990-01-31")), try #require(Characteristic(.bloodType, "aPositive")),
            try #require(Characteristic(.activityMoveMode, "activeEnergy")),
        ]
        let writer = try SampleFileWriter(
            path: folder.file("me.xml"), form: .appleHealth,
            context: try ExportContext(name: "", me: Self.me, units: [:], now: { Instant(seconds: 1_800_000_000) }), types: [],
            characteristics: reported)
        _ = try writer.finish()
        let line =
            " <Me HKCharacteristicTypeIdentifierDateOfBirth=\"1990-01-31\" HKCharacteristicTypeIdentifierBloodType=\"HKBloodTypeAPositive\""
            + " HKCharacteristicTypeIdentifierActivityMoveMode=\"HKActivityMoveModeActiveEnergy\"/>"
        #expect(try text("me.xml").split(separator: "\n").contains(Substring(line)))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try #require(FileManager.default.contents(atPath: folder.file(name))), as: UTF8.self)
    }

    @Test func aColumnForEachType() throws {
        let samples = try [
            sample(.heartRate, "60", "/min", at: 0), sample(.oxygenSaturation, "97", "%", at: 0),
            sample(.heartRate, "61", "/min", at: 0),
            sample(.heartRate, "62", "/min", at: 0, source: "watch"), sample(.heartRate, "63", "/min", at: 1),
        ]
        #expect(try write("a.csv", .wide, samples).written == 5)
        let rows = try text("a.csv").split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false).suffix(2)
        }
        #expect(
            rows.map { $0.joined(separator: "|") } == [
                "heartRate [/min]|oxygenSaturation [%]", "60.0|97.0", "61.0|", "62.0|", "63.0|",
            ])
    }

    /// What Apple's Health app would have written of it.
    @Test func matchesExportOfHealthApp() throws {
        let metadata = Metadata([("heartRateMotionContext", .string("sedentary")), ("note", .string("a\u{1}b"))])
        let samples = try [
            sample(.bodyMass, "176.70", "[lb_av]", at: 0), sample(.heartRate, "60", "/min", at: 1, metadata: metadata),
            sample(.bloodGlucose, "5.4", "mmol/L", at: 2),
        ]
        #expect(try write("export.xml", .appleHealth, samples) == .init(written: 3))
        let lines = try text("export.xml").split(separator: "\n")
        #expect(lines.first == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>" && lines.last == "</HealthData>")
        #expect(lines[3].contains(" unit=\"lb\" ") && lines[3].contains(" value=\"176.70\""))
        #expect(lines[3].contains(" startDate=\"2026-09-21 14:13:20 +0000\""))
        #expect(lines[3].contains("sourceName=\"A &quot;strap&quot; &amp; &lt;co&gt;\" sourceVersion=\"1.2\""))
        #expect(
            lines[3].contains(
                "device=\"&lt;&lt;HKDevice: 0x0&gt;, name:Ida, model:X, manufacturer:Polar, localIdentifier:k&gt;\""))
        #expect(lines.contains("  <MetadataEntry key=\"HKMetadataKeyHeartRateMotionContext\" value=\"1\"/>"))
        #expect(lines.contains("  <MetadataEntry key=\"note\" value=\"a b\"/>"))
        #expect(
            lines.contains {
                $0.contains("type=\"HKQuantityTypeIdentifierBloodGlucose\"")
                    && $0.contains("unit=\"mmol&lt;180.15588000005408&gt;/L\"")
            })
    }

    /// Categories are written as HealthKit's constants, and unknown types with their number. A table of quantities has no column for them.
    @Test func categories() throws {
        let samples = try [
            sample(try #require(SampleType("sleepAnalysis")), "3", "1", at: 0), sample(.heartRate, "60", "/min", at: 0),
            sample(try #require(SampleType("mindfulSession")), "0", "1", at: 1),
            sample(try #require(SampleType(category: "ofTheFuture")), "7", "1", at: 2),
        ]
        #expect(try write("export.xml", .appleHealth, samples) == .init(written: 4))
        let lines = try text("export.xml").split(separator: "\n")
        for (type, value) in [
            ("SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore"), ("MindfulSession", "HKCategoryValueNotApplicable"),
            ("OfTheFuture", "7"),
        ] {
            let line = lines.first { $0.contains("type=\"HKCategoryTypeIdentifier\(type)\"") }
            #expect(line?.hasSuffix(" value=\"\(value)\">") == true && line?.contains("unit=") == false, "\(type)")
        }
        let wide = try write("wide.csv", .wide, samples)
        #expect(wide.written == 1 && wide.leftOut == 3)
        #expect(try text("wide.csv").split(separator: "\n").count == 2)
        #expect(try write("long.csv", .csv, samples) == .init(written: 4))
        #expect(try text("long.csv").contains(",category,sleepAnalysis,3,,asleepCore,"))
    }

    @Test func keepsExistingFilesAndRemovesTemporaryFiles() throws {
        try folder.write(Array("mine".utf8), to: "a.csv")
        #expect(throws: ExportFileError.self) { try write("a.csv", .csv, []) }
        #expect(try text("a.csv") == "mine")
        do {
            let writer = try SampleFileWriter(
                path: folder.file("b.ndjson.zst"), form: .ndjson,
                context: try ExportContext(name: "", me: Self.me, now: { Instant(seconds: 0) }), types: [])
            try writer.append(sample(.heartRate, "60", "/min", at: 0))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("")) == ["a.csv"])
        #expect(throws: ExportFileError.self) { try write("c.zip", .csv, []) }
    }

    @Test func formsByName() {
        #expect(SampleFileWriter.form(of: "a.ndjson.zst") == .ndjson)
        #expect(SampleFileWriter.form(of: "a.csv") == .csv)
        #expect(SampleFileWriter.form(of: "a.zip") == .appleHealth)
        #expect(SampleFileWriter.form(of: "a.doc") == nil)
    }
}
