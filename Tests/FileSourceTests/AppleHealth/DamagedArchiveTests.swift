import Pipeline
import Testing

@testable import FileSource

/// An archive that was damaged in transit. No member is read differently from the undamaged one, and a damaged member is refused on its
/// own.
@Suite struct DamagedArchiveTests {
    /// The content of a file that a damage could change.
    struct Content: Equatable {
        var events: [String]
        var isWhole: Bool

        init(_ bytes: some Collection<UInt8>) {
            let export = ImportedExport(bytes)
            isWhole = export.error == nil
            events = export.events.map { place, event in
                switch event {
                case .reading(let reading): "\(place) \(reading.numeral.text) \(reading.unit.code) \(reading.time)"
                case .skipped(let kind): "\(place) skipped \(kind)"
                case .refused(let reason): "\(place) refused \(reason)"
                case .characteristics(let reported): "\(place) \(reported.map(\.type))"
                }
            }
        }
    }

    static let packed = "apple_health_0.zip"
    /// Made by others to be refused, or to be the whole one of a series of such (apple-health-mcp-server, see `hostile/SOURCE.tsv`).
    static let hostile = ["hostile/rinoshiyo-x4-3-multi-empty-xml.zip", "hostile/rinoshiyo-x4-5-original.zip"]

    static func stored() -> [UInt8] {
        let records = (0..<4).map {
            record(value: "\(60 + $0)", start: "2025-10-20 06:00:0\($0) -0500", end: "2025-10-20 06:00:0\($0) -0500")
        }
        return ZipWriter([
            ("export_cda.xml", Array("<ClinicalDocument/>".utf8)),
            ("export.xml", Array("<HealthData>\(records.joined())</HealthData>".utf8)),
        ])
        .bytes
    }

    private func expectNothingOrTheSame(_ damaged: [UInt8], as whole: Content, _ description: String) {
        let content = Content(damaged)
        let readings = content.events.filter { !$0.contains(" skipped ") && !$0.contains(" refused ") }
        #expect(Set(readings).isSubset(of: whole.events), "\(description)")
        // Frames and an error together would be readings of a file that cannot be believed.
        #expect(content.isWhole || content.events.isEmpty, "\(description)")
    }

    private func flipAndCut(_ bytes: [UInt8], masks: [UInt8]) {
        let whole = Content(bytes)
        for index in bytes.indices {
            for mask in masks {
                var damaged = bytes
                damaged[index] ^= mask
                expectNothingOrTheSame(damaged, as: whole, "octet \(index) ^ \(mask)")
            }
            expectNothingOrTheSame(Array(bytes[..<index]), as: whole, "cut at \(index)")
        }
    }

    @Test func damageToStoredArchive() {
        let bytes = Self.stored()
        // Four records and a document.
        #expect(Content(bytes).events.count == 5)
        flipAndCut(bytes, masks: [0x10])
    }

    @Test func damageToCompressedArchive() throws {
        let bytes = try testFile(Self.packed).bytes
        #expect(Content(bytes).isWhole)
        flipAndCut(bytes, masks: [0x04])
    }

    @Test(arguments: hostile) func damageToHostileArchive(name: String) throws {
        flipAndCut(try testFile(name).bytes, masks: [0x01])
    }

    /// Either the checksum or the data is wrong. Nothing shows which.
    @Test func wrongChecksumDeliversNoRecords() throws {
        let rows = (0..<3000).map { index in
            record(
                value: "\(60 + index % 40)", start: "2025-10-20 06:\(10 + index / 60):\(10 + index % 50) -0500",
                end: "2025-10-20 06:\(10 + index / 60):\(10 + index % 50) -0500")
        }
        let text = Array("<HealthData>\(rows.joined())</HealthData>".utf8)
        var bytes = ZipWriter([("export.xml", text)]).bytes
        bytes[bytes.count - 100 - 4000] ^= 0x01
        let export = ImportedExport(bytes)
        #expect(export.events.isEmpty)
        #expect(export.error?.kind == .malformed)
        #expect(export.error?.reason.contains("nothing was imported") == true, "\(export.error?.reason ?? "")")
    }
}
