import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// Three exports with what other programs read from them.
@Suite struct AppleHealthVectorTests {
    static func expected(_ name: String) throws -> VendorExpectation {
        try VendorExpectation(of: try testFile(name + ".xml").path)
    }

    @Test(arguments: ["apple_health_0", "apple_health_1", "apple_health_2"])
    func readsAsOthersDo(name: String) throws {
        check(ImportedExport(path: try testFile(name + ".xml").path), against: try Self.expected(name))
    }

    /// The same from a ZIP as a phone makes it, the file's name in its own language and the CDA document before it.
    @Test func readsTheArchive() throws {
        let export = ImportedExport(path: try testFile("apple_health_0.zip").path)
        check(export, against: try Self.expected("apple_health_0"), passed: ["file.xml"])
    }

    func check(_ export: ImportedExport, against expected: VendorExpectation, passed: [String] = []) {
        #expect(export.error == nil)
        #expect(export.refused.isEmpty)
        let readings = Dictionary(
            uniqueKeysWithValues: export.readings.filter { $0.place.kind == .record }.map { ($0.place.number, $0) })
        #expect(export.records == expected.samples.count + expected.skipped.count)
        for sample in expected.samples {
            guard let reading = readings[sample.row] else {
                Issue.record("no reading at record \(sample.row)")
                continue
            }
            check(reading, against: sample)
            #expect(reading.repeats == nil)
        }
        var groups: [UInt64: Set<String>] = [:]
        for reading in export.readings {
            if case .shared(let group) = reading.group { groups[group, default: []].insert(reading.origin.type.id) }
        }
        #expect(groups.count * 2 == expected.samples.filter { $0.panel == "blood_pressure" }.count)
        #expect(groups.values.allSatisfy { $0 == ["bloodPressureSystolic", "bloodPressureDiastolic"] })
        for skipped in expected.skipped {
            switch skipped.reason {
            case "category, not a quantity":
                // Of another kind than those who made the vectors looked for.
                #expect(readings[skipped.row]?.origin.type.kind == .category)
            case "repeated inside Correlation":
                #expect(readings[skipped.row]?.repeats == SkipKind("correlationRecord"))
            default:
                // An exact repetition of the previous record. The store recognizes it by its identity.
                #expect(readings[skipped.row]?.origin == readings[skipped.row - 1]?.origin)
                #expect(readings[skipped.row]?.time == readings[skipped.row - 1]?.time)
                #expect(readings[skipped.row]?.numeral == readings[skipped.row - 1]?.numeral)
            }
        }
        // Elements that are not records, which the authors of the vectors did not mention.
        #expect(export.skipped.filter { $0 != "InstantaneousBeatsPerMinute" } == passed)
        let others = export.readings.filter { $0.place.kind != .record }
        #expect(others.map(\.origin.type.id) == ["bloodPressure", "bloodPressure", "workout"])
        #expect(Set(export.readings.compactMap(\.origin.device?.key)) == ["Apple Inc.|Watch|Watch6,2"])
    }

    func check(_ reading: Reading, against sample: VendorExpectation.Sample) {
        #expect(reading.origin.type.id == sample.type)
        #expect(reading.origin.source.name == sample.source)
        #expect(reading.origin.source.id == "apple-health/" + String((sample.source ?? "").map { $0 == "\u{A0}" ? " " : $0 }))
        // HealthKit's percent is the ratio.
        let factor = sample.unit == "%" ? 100.0 : 1
        #expect(abs(reading.numeral.doubleValue * factor - sample.value) <= 1e-9 * abs(sample.value))
        #expect(reading.unit == (try? Unit(ucum: sample.unit == "%" ? "1" : sample.unit)) || sample.code == "glucose")
        #expect(reading.unit.code == (sample.unit == "%" ? "1" : sample.unit))
        guard case .instants(let start, let end, let offset?) = reading.time else {
            Issue.record("no instants at \(reading.place)")
            return
        }
        #expect(offset.description == sample.offset)
        #expect(start.wallTime(at: offset).description.hasPrefix(sample.time))
        #expect(end.wallTime(at: offset).description.hasPrefix(sample.endTime ?? sample.time))
        let metadata = reading.metadata
        #expect(metadata?["wasUserEntered"] == sample.userEntered.map { .boolean($0) })
        #expect(metadata?["bloodGlucoseMealTime"] == sample.meal.map { .string($0) })
        if let context = sample.motionContext {
            #expect(metadata?["heartRateMotionContext"] == .string(context == "not_set" ? "notSet" : context))
        }
        if sample.code == "hrv_sdnn" { #expect(metadata?["instantaneousBeats"]?.json == "2") }
    }

    /// An export that is cut anywhere gives the complete records, then an error. A complete one gives no error.
    @Test(arguments: ["apple_health_0.xml", "apple_health_1.xml", "apple_health_2.xml"])
    func deliversWholeRecordsOfACutFile(name: String) throws {
        let bytes = try testFile(name).bytes
        let ends = Self.recordEnds(bytes)
        for cut in stride(from: 0, to: bytes.count - 14, by: 211) {
            let export = ImportedExport(bytes[..<cut])
            #expect(export.records == ends.filter { $0 <= cut }.count, "cut at \(cut)")
            #expect(export.error?.kind == .malformed, "cut at \(cut)")
        }
    }

    /// The offsets after each record, found without a parser.
    static func recordEnds(_ bytes: [UInt8]) -> [Int] {
        var ends: [Int] = []
        var index = 0
        while index < bytes.count {
            if bytes[index...].starts(with: "<Record ".utf8) {
                while bytes[index] != UInt8(ascii: ">") { index += 1 }
                if bytes[index - 1] == UInt8(ascii: "/") { ends.append(index + 1) }
            } else if bytes[index...].starts(with: "</Record>".utf8) {
                ends.append(index + 9)
            }
            index += 1
        }
        return ends
    }
}
