import CompressionKit
import Testing

@Suite struct CompressionTests {
    static let text = Array("hello hello hello hello\n".utf8)

    /// What other programs made of ``text``: gzip 1.12 (`gzip -n`) and zlib 1.2.13 (Python's `zlib.compress`).
    static let compressed: [(CompressionFormat, [UInt8])] = [
        (
            .gzip,
            [
                0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27,
                0xB9, 0x00, 0x00, 0x88, 0x59, 0x0B, 0x18, 0x00, 0x00, 0x00,
            ]
        ),
        (.zlib, [0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0xB9, 0x00, 0x70, 0xBE, 0x08, 0xBB]),
        (.raw, [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27, 0xB9, 0x00]),
    ]

    /// Decompresses with little room and few bytes of input at a time.
    private func decompressed(_ bytes: [UInt8], _ format: CompressionFormat) throws -> [UInt8]? {
        let stream = try #require(InflateStream(format))
        var (output, position, room) = ([UInt8](), 0, [UInt8](repeating: 0, count: 7))
        while true {
            let input = bytes[position..<min(position + 3, bytes.count)]
            let step = room.withUnsafeMutableBytes { room in input.withUnsafeBytes { stream.decompress($0, into: room) } }
            position += step.read
            output += room[..<step.written]
            switch step.state {
            case .ended: return position == bytes.count ? output : nil
            case .damaged: return nil
            case .open: if step.read == 0, step.written == 0 { return nil }
            }
        }
    }

    @Test(arguments: 0..<3) func readsOutputOfOtherCompressors(_ index: Int) throws {
        let (format, bytes) = Self.compressed[index]
        #expect(try decompressed(bytes, format) == Self.text)
        for length in 0..<bytes.count { #expect(try decompressed(Array(bytes[..<length]), format) != Self.text) }
        var damaged = bytes
        damaged[bytes.count - 1] ^= 1
        #expect(try decompressed(damaged, format) != Self.text || format == .raw)
    }

    @Test(arguments: [CompressionFormat.zlib, .gzip, .raw], [CompressionLevel.fast, .standard])
    func piecesAndBuffers(_ format: CompressionFormat, _ level: CompressionLevel) throws {
        let text = Array((0..<20_000).map { "\($0 % 977),70.\($0 % 10)\n" }.joined().utf8)
        #expect(try decompressed(BufferCompressor.compress(text, format, level: level), format) == text)
        let stream = try #require(DeflateStream(format, level: level))
        var output: [UInt8] = []
        for start in stride(from: 0, to: text.count, by: 30_000) {
            let before = output.count
            text[start..<min(start + 30_000, text.count)].withUnsafeBytes { stream.compress($0, flushing: true, to: &output) }
            #expect(output.count > before, "a flushed piece can be read at once")
        }
        stream.finish(to: &output)
        #expect(output.count < text.count / 2)
        #expect(try decompressed(output, format) == text)
    }

    @Test func buffersOfAKnownSize() throws {
        let decompressor = try #require(BufferDecompressor())
        let bytes = Self.compressed[2].1
        func outcome(_ bytes: [UInt8], room: Int) -> (BufferDecompressor.Outcome, [UInt8]) {
            var output = [UInt8](repeating: 0, count: room)
            let outcome = output.withUnsafeMutableBytes { room in
                bytes.withUnsafeBytes { decompressor.decompress(raw: $0, into: room) }
            }
            return (outcome, output)
        }
        #expect(outcome(bytes, room: Self.text.count) == (.done, Self.text))
        #expect(outcome(bytes, room: Self.text.count - 1).0 == .wrongSize)
        #expect(outcome(bytes, room: Self.text.count + 1).0 == .wrongSize)
        #expect(outcome([0xFF, 0xFF], room: 4).0 == .damaged)
    }

    /// The check value of CRC-32/ISO-HDLC in the catalogue of reveng.sourceforge.io.
    @Test func checksum() {
        var checksum = CRC32()
        for part in ["1234", "", "56789"] { Array(part.utf8).withUnsafeBytes { checksum.add($0) } }
        #expect(checksum.value == 0xCBF4_3926)
    }
}
