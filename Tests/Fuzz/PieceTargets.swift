import HealthModel
import Pipeline
import Wire

@testable import FileSource

/// The same bytes in other pieces give the same frames: nothing is lost, doubled or read differently at the end of a buffer.
enum PieceTargets {
    /// The first byte selects the reader, the second the length of the pieces.
    static func pieces(_ input: [UInt8]) {
        guard input.count > 2 else { return }
        let bytes = Array(input[2...])
        let step = Int(input[1]) + 1
        // The first 4 KiB of a text are examined together. They are filled up, so that all bytes come after them.
        switch input[0] % 5 {
        case 0:
            let text = [UInt8](repeating: 0x78, count: 4095) + [0x0A] + bytes
            compare(text, step) { rows(DelimitedFileSource(delimiter: 0x2C, received: received, open: $0)) { $0.notes } }
        case 1:
            let text = [0xFF, 0xFE] + (0..<2047).flatMap { _ in [0x20, 0x00] as [UInt8] } + bytes
            compare(text, step) { rows(DelimitedFileSource(delimiter: 0x3B, received: received, open: $0)) { $0.notes } }
        case 2:
            let text = [UInt8](repeating: 0x20, count: 4096) + bytes
            compare(text, step) {
                rows(JSONArrayFileSource(paths: ["dateTime", "value.bpm"], received: received, open: $0)) { $0.notes }
            }
        case 3: compare(bytes, step) { elements($0()) }
        default: frames(bytes, step)
        }
    }

    private static let received = Instant(microseconds: 1_795_000_000_000_000)

    private final class Pieces: ByteInput {
        private var rest: ArraySlice<UInt8>
        private let step: Int
        private var isFirst = true

        init(_ bytes: [UInt8], step: Int) {
            rest = bytes[...]
            self.step = step
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
            let piece = rest.prefix(min(buffer.count, isFirst ? max(step, 4096) : step))
            buffer.copyBytes(from: piece)
            rest = rest.dropFirst(piece.count)
            isFirst = false
            return piece.count
        }
    }

    private static func compare(_ bytes: [UInt8], _ step: Int, _ read: (@escaping () -> any ByteInput) -> [String]) {
        let whole = read { MemoryInput(bytes) }
        let pieces = read { Pieces(bytes, step: step) }
        agree(pieces, whole)
    }

    private static func agree(_ pieces: [String], _ whole: [String]) {
        if pieces == whole { return }
        for (one, other) in zip(pieces, whole) where one != other { print("in pieces: \(one)\nwhole:     \(other)") }
        preconditionFailure("\(pieces.count) and \(whole.count)")
    }

    private static func rows<Source: FrameSource>(_ source: Source, _ notes: (Source) -> [String]) -> [String] {
        var reported: [String] = []
        do {
            try source.forEachFrame { frame in
                switch frame.payload {
                case .row(let row):
                    reported.append("\(frame.place) " + row.cells.indices.map { row.text($0) }.joined(separator: "|"))
                case .malformed(let reason): reported.append("\(frame.place) \(reason)")
                case .bytes: break
                }
            }
        } catch {
            reported.append("\(error)")
        }
        return reported + notes(source)
    }

    private static func elements(_ input: any ByteInput) -> [String] {
        var reported: [String] = []
        guard let parser = try? ElementParser(ExportElements(), firstLine: 1) else { return [] }
        let row = TextRow()
        var isMore = true
        while isMore {
            do throws(SourceError) {
                isMore = try parser.advance(input)
            } catch {
                isMore = false
            }
            parser.forEachRow(in: row) { place in
                reported.append("\(place) " + row.cells.indices.map { row.text($0) }.joined(separator: "|"))
            }
        }
        return reported
    }

    private static func frames(_ bytes: [UInt8], _ step: Int) {
        func reported(_ step: Int, _ framing: Framing) -> [String] {
            var framer = StreamFramer(framing)
            var reported: [String] = []
            func take(_ event: StreamFramer.Event) {
                if case .frame(let bytes, let offset) = event { reported.append("\(offset) \(Array(bytes))") }
            }
            for start in stride(from: 0, to: bytes.count, by: step) {
                bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { framer.feed($0, take) }
            }
            framer.finish(isCut: step % 2 == 0, take)
            precondition(framer.offset == bytes.count, "every octet comes out once")
            return reported
        }
        for framing in framings {
            let pieces = reported(step, framing)
            // A step of the same parity, because the parity decides whether the end is a cut.
            let whole = reported(max(bytes.count, 1) * 2 + step % 2, framing)
            agree(pieces, whole)
        }
    }

    private static let framings = Fuzz.library.profiles.flatMap { profile in
        profile.binaryChannels.compactMap { profile.match(channel: $0)?.framing }
    }
}
