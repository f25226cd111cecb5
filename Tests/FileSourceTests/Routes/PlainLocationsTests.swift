import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// The fast path gives the same result as the parser: the same rows, the same lines, and the same failure.
@Suite struct PlainLocationsTests {
    /// Bytes that arrive in pieces of a fixed length.
    private final class Pieces: ByteInput {
        private let bytes: [UInt8]
        private let length: Int
        private var offset = 0

        init(_ bytes: [UInt8], length: Int) { (self.bytes, self.length) = (bytes, length) }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
            let count = min(length, buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<(offset + count)])
            offset += count
            return count
        }
    }

    private func rows(_ text: String, length: Int, isAhead: Bool) throws -> [String] {
        let parser = try GPXParser(firstLine: 1, isAhead: isAhead)
        let input = Pieces(Array(text.utf8), length: length)
        let row = TextRow()
        var rows: [String] = []
        var isMore = true
        while isMore {
            var failure: SourceError?
            do throws(SourceError) {
                isMore = try parser.advance(input)
            } catch {
                failure = error
            }
            parser.forEachRow(in: row) { place in
                let places = row.places.isEmpty ? [place] : row.places
                let texts = row.cells.map { String(decoding: $0, as: UTF8.self) }
                #expect(places[0] == place && texts.count % places.count == 0)
                let count = texts.count / places.count
                for (index, place) in places.enumerated() {
                    rows.append("\(place): " + texts[(index * count)..<((index + 1) * count)].joined(separator: "|"))
                }
            }
            if let failure {
                rows.append("\(failure)")
                break
            }
        }
        return rows
    }

    private static let plain = [
        #"<trkpt lat="51.5" lon="-0.1"><ele>10.5</ele><time>2024-01-01T10:00:00Z</time></trkpt>"#,
        "\n  <trkpt lon=\"1\" lat=\"2\">\n<time>2024-01-01T10:00:01Z</time>\n <extensions><speed>1</speed><hAcc>2</hAcc></extensions></trkpt>",
        #"<trkpt lat="3" lon="4"><extensions><course>5</course></extensions><vAcc>6</vAcc></trkpt>"#, "\n\n\t ",
        #"<trkpt lat="7"  lon="8" ></trkpt>"#,
    ]

    private static let unusual = [
        "</trkseg><trkseg>", "</trkseg>\n<trkseg a=\"b\">", "</trkseg></trk><trk><trkseg>",
        "<!-- <trkpt lat=\"1\" lon=\"2\"></trkpt> -->",
        "<!-- </trkpt>", "-->", "<![CDATA[<trkpt lat=\"1\" lon=\"2\"></trkpt>", "]]>", "<?php </trkpt> ?>", "text", "&amp;",
        "&#11;", "&#x",
        "\r\n", "\r", #"<trkpt lat="1" lon="2"/>"#, #"<trkpt lat="1" lon="2" lon="3"></trkpt>"#,
        #"<trkpt lat="1" lon="2" id="3"></trkpt>"#,
        #"<trkpt lat='1' lon='2'></trkpt>"#, #"<trkpt lat="1&lt;" lon="2"></trkpt>"#,
        #"<trkpt lat="1" lon="2"><ele> 5 </ele></trkpt>"#,
        #"<trkpt lat="1" lon="2"><ele>5</ele><ele>6</ele></trkpt>"#, #"<trkpt lat="1" lon="2"><ele></ele><ele>6</ele></trkpt>"#,
        #"<trkpt lat="1" lon="2"><ele>5</time></trkpt>"#, #"<trkpt lat="1" lon="2"><g:ele>5</g:ele><hr>9</hr></trkpt>"#,
        #"<trkpt lat="1" lon="2"><ele><time>5</time></ele></trkpt>"#, #"<trkpt lat="1" lon="2"><ele>5]]></ele></trkpt>"#,
        #"<trkpt lat="1" lon="2"><extensions><extensions><speed>1</speed></extensions></extensions></trkpt>"#,
        #"<trkpt lat="1" lon="2"><name>a</name><time>2024</time>"#, "</trkpt>", #"<trkpt lat="1" lon="2">"#, "<trkseg>",
        "</trkseg>",
        "<wpt lat=\"1\" lon=\"2\"></wpt>", "<trkpt", "\u{0}", "é", "<trkpts lat=\"1\" lon=\"2\"></trkpts>", "<a:b c=\"d\"></a:b>",
        #"<trkpt lat="1" lon="2"><ele>"# + String(repeating: "5", count: 70) + "</ele></trkpt>",
        #"<trkpt lat="1" lon="2">"# + String(repeating: " ", count: 5000) + "</trkpt>",
    ]

    @Test func theSameAsTheParserAlone() throws {
        var random = SeededGenerator(seed: 9)
        var taken = 0
        for round in 0..<3000 {
            let count = Int.random(in: 0...12, using: &random)
            let inside: [String] = (0..<count).map { _ in
                let isPlain = Int.random(in: 0..<4, using: &random) > 0
                return (isPlain ? Self.plain : Self.unusual).randomElement(using: &random) ?? ""
            }
            var text = "<gpx creator=\"x\">\n<trk><name>n</name><trkseg>" + inside.joined() + "</trkseg></trk></gpx>"
            if round % 5 == 0, let end = text.indices.randomElement(using: &random) { text = String(text[..<end]) }
            let length = [1, 7, 64, 1 << 16].randomElement(using: &random) ?? 1
            let alone = try rows(text, length: 1 << 16, isAhead: false)
            #expect(try rows(text, length: length, isAhead: true) == alone, "\(text)")
            taken += alone.count { $0.contains("trkpt|") }
        }
        #expect(taken > 3000)
    }

    /// What nearly all files have is not left to the parser.
    @Test func readsPlainLocationsWithoutParser() throws {
        for text in Self.plain where text.contains("trkpt") {
            var rows = ExportRows()
            defer { rows.deallocate() }
            var line = 1
            let bytes = Array(text.utf8)
            let (taken, stop) = bytes.withUnsafeBytes { PlainLocations.take($0, into: &rows, line: &line) }
            #expect(taken == bytes.count && stop == .cut)
            #expect(line == 1 + text.count { $0 == "\n" })
        }
    }
}
