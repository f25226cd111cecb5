import ClinicalModel
import HealthModel
import Testing

/// Published resources with their expected results (`Files/EXPECTED.tsv`). `Files/SOURCE.tsv` names their sources.
@Suite struct PublishedResourceTests {
    @Test func publishedResourcesHaveExpectedResults() throws {
        var reported: [String] = ["path\toutcome"]
        for row in try Files.rows("SOURCE.tsv") { reported.append("\(row[0])\t\(try Outcome(try Files.bytes(row[0])).text)") }
        let expected = try Files.text("EXPECTED.tsv").split(separator: "\n").map(String.init)
        for line in reported where !expected.contains(line) { print("TOLD \(line)") }
        #expect(reported == expected)
    }

    @Test func preservesOriginalBytes() throws {
        for row in try Files.rows("SOURCE.tsv") {
            let file = try Files.bytes(row[0])
            let outcome = try Outcome(file)
            for reading in outcome.readings {
                let bytes = reading.bytes
                if reading.place.kind == .byte {
                    let start = reading.place.number
                    #expect(Array(file[start..<(start + bytes.count)]) == bytes, "\(row[0]), \(reading.place)")
                } else {
                    let start = try #require(file.firstIndex(of: UInt8(ascii: "{")))
                    let end = try #require(file.lastIndex(of: UInt8(ascii: "}")))
                    #expect(Array(file[start...end]) == bytes, "\(row[0])")
                }
            }
        }
    }
}
