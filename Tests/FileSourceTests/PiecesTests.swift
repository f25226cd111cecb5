import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// A text in pieces is read like a complete one. Found by `scripts/fuzz pieces`.
@Suite struct PiecesTests {
    private final class Pieces: ByteInput {
        private var rest: ArraySlice<UInt8>
        private let step: Int
        private var isFirst = true

        init(_ bytes: [UInt8], step: Int) {
            rest = bytes[...]
            self.step = step
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
            // The first 4 KiB are looked at together.
            let piece = rest.prefix(min(buffer.count, isFirst ? 4096 : step))
            isFirst = false
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            return piece.count
        }
    }

    private func rows(_ text: String, step: Int) throws -> [String] {
        let bytes = [UInt8](repeating: 0x78, count: 4095) + [0x0A] + text.utf8
        let source = DelimitedFileSource(delimiter: UInt8(ascii: ","), received: Instant(seconds: 1_795_156_260)) {
            Pieces(bytes, step: step)
        }
        var reported: [String] = []
        try source.forEachFrame { frame in
            switch frame.payload {
            case .row(let row): reported.append("\(frame.place) " + row.cells.indices.map { row.text($0) }.joined(separator: "|"))
            case .malformed(let reason): reported.append("\(frame.place) \(reason)")
            case .bytes: break
            }
        }
        return reported + source.notes
    }

    @Test(arguments: [
        "1,\"a \"\"b\"\" c\"\r\n\r\n2,\"d\ne\" \r3,\"f\"g\n4,é\n5", "1,\"a\u{0}\"\"b\r\n2,c\r\n", "1,\"\u{0}\n2,\"\"\"\n3,\"\"\n",
        "1,\"a \"\"\rb\u{0}\"\"\rc\n",
    ])
    func chunkSizeDoesNotChangeRows(text: String) throws {
        let whole = try rows(text, step: 1 << 16)
        for step in 1...8 { #expect(try rows(text, step: step) == whole) }
    }
}
