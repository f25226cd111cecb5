import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Electrocardiograms and clinical records in the archive of an export.
@Suite struct AppleHealthArchiveFilesTests {
    static let electrocardiogram = """
        Recorded Date,2026-05-30 16:32:18 -0700
        Classification,Sinus Rhythm
        Sample Rate,512 hertz
        Lead,Lead I
        Unit,µV

        1.5
        2
        """

    static func archive(_ elements: String, _ files: [(name: String, content: [UInt8])]) -> [UInt8] {
        ZipWriter(
            files.map { ("apple_health_export/" + $0.name, $0.content) }
                + [("apple_health_export/export.xml", Array("<HealthData>\(elements)</HealthData>".utf8))]
        ).bytes
    }

    @Test func electrocardiograms() throws {
        let text = Array(Self.electrocardiogram.utf8)
        let export = ImportedExport(
            Self.archive(
                record(),
                [
                    ("electrocardiograms/ecg_1.csv", text), ("electrocardiograms/ecg_2.csv", Array(text.dropLast(8))),
                    ("electrocardiograms/ecg_3.csv", Array("1\n".utf8)), ("electrocardiograms/ecg_4.csv", text),
                    ("electrocardiograms/ecg_5.csv", [UInt8](repeating: 0x31, count: 10_000)),
                ]))
        #expect(export.error == nil)
        #expect(export.readings.map(\.origin.type.id) == ["heartRate", "electrocardiogram", "electrocardiogram"])
        #expect(try points(of: export.readings.last) == [["1.5"], ["2"]])
        #expect(
            export.refused == [
                "electrocardiogram: electrocardiograms/ecg_2.csv, line 1: the electrocardiogram has no voltages",
                "electrocardiogram: electrocardiograms/ecg_3.csv, line 1: the electrocardiogram has no date that is written as "
                    + "YYYY-MM-DD HH:MM:SS +HHMM",
                "electrocardiogram: electrocardiograms/ecg_5.csv, line 1: a line is longer than 4096 bytes",
            ])
    }

    /// As a phone in Japanese writes it.
    @Test func anElectrocardiogramInJapanese() throws {
        let export = ImportedExport(path: try testFile("activities/ecg-japanese.zip").path)
        #expect(export.error == nil && export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.origin.type.id) == ["heartRate", "electrocardiogram"])
        let reading = try #require(export.readings.last)
        #expect(reading.numeral.text == "100" && reading.metadata?["classification"] == .string("洞調律"))
        #expect(try points(of: reading).count == 4)
        let reported = try #require(reading.body).decoded(as: Electrocardiogram.self)
        #expect(reported.samplingFrequency?.numeral.text == "512" && reported.lead == "リードI")
        let samples = try ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: .test)
        #expect(samples.map(\.rule) == [nil])
    }

    /// Clinical records that were delivered, and those that were refused.
    struct Clinical {
        var rows: [[String]] = []
        var refused: [String] = []

        init(_ bytes: [UInt8]) throws {
            let file = TemporaryFile(bytes)
            let source = AppleHealthExportSource(try InputFile(path: file.path), path: file.path, received: .test)
            try source.forEachFrame { frame in
                switch frame.payload {
                case .row(let row) where frame.channel == ResourceRow.fhir:
                    #expect(row.count == ResourceRow.count)
                    rows.append((0..<row.count).map { row.text($0) })
                case .malformed(let reason): refused.append(reason)
                default: break
                }
            }
        }
    }

    private func clinical(_ path: String, date: String = "2026-01-02 05:01:22 -0800", version: String = "4.0.1") -> String {
        """
        <ClinicalRecord type="Immunization" identifier="imm-1" sourceName="A &amp; B Clinic" sourceURL="https://example.invalid/y" \
        fhirVersion="\(version)" receivedDate="\(date)" resourceFilePath="\(path)"/>
        """
    }

    @Test func clinicalRecords() throws {
        let reported = try Clinical(
            Self.archive(
                clinical("/clinical-records/a.json") + clinical("/clinical-records/none.json") + clinical("")
                    + clinical("/clinical-records/a.json") + clinical("../a.json")
                    + clinical("/clinical-records/b.json", date: "2 Jan")
                    + clinical("/clinical-records/old.json", version: "1.0.2"),
                [
                    ("clinical-records/a.json", Array(#"{"a":6.30}"#.utf8)), ("clinical-records/old.json", Array("{}".utf8)),
                    ("clinical-records/alone.json", Array("[]".utf8)), ("other/c.json", Array("{}".utf8)),
                ]))
        let own = ["A & B Clinic", "https://example.invalid/y"]
        #expect(
            reported.rows == [
                [#"{"a":6.30}"#] + own + ["R4", "2026-01-02T05:01:22-08:00", "imm-1"],
                ["{}"] + own + ["DSTU2", "2026-01-02T05:01:22-08:00", "imm-1"], ["[]", "", "", "", "", ""],
            ])
        #expect(
            reported.refused == [
                "clinical record: the archive does not contain the file that the export names",
                "clinical record: it does not name a file",
                "clinical record: another one names the same file already",
                "clinical record: the path of its file leaves the export's folder, so it is not read",
                "clinical record: receivedDate is not written as YYYY-MM-DD HH:MM:SS +HHMM",
            ])
        let export = ImportedExport(Self.archive(clinical("/c/a.json"), [("c/a.json", Array("{}".utf8))]))
        #expect(export.refused == [] && export.readings.isEmpty)
    }

    /// A resource has a size limit. A longer one is refused with its place, and is never in memory.
    @Test func refusesOversizedResource() throws {
        let long = [UInt8](repeating: 0x20, count: ResourceRow.maximumLength + 1)
        let reported = try Clinical(Self.archive(clinical("/c/a.json"), [("c/a.json", long)]))
        #expect(reported.rows.isEmpty && reported.refused == ["the clinical record's file is larger than 16 MiB"])
        let fits = try Clinical(Self.archive(clinical("/c/a.json"), [("c/a.json", Array(long.dropLast()))]))
        #expect(fits.rows.count == 1 && fits.refused == [])
    }

    /// A damage of any member that is read is found before anything is delivered (Decisions/0014).
    @Test(arguments: ["electrocardiograms/e.csv", "workout-routes/r.gpx", "clinical-records/c.json"])
    func damageIsFoundBefore(name: String) throws {
        let whole = Self.archive(record(), [(name, Array(Self.electrocardiogram.utf8))])
        let mark = Array("Sinus".utf8)
        let index = try #require(whole.indices.first { whole[$0...].starts(with: mark) })
        var damaged = whole
        damaged[index] = UInt8(ascii: "M")
        let export = ImportedExport(damaged)
        #expect(export.events.isEmpty && export.error?.reason.contains("nothing was imported") == true)
    }
}
