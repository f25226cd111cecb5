/// A frame as readable text.
public final class FrameText: Sendable {
    /// The maximum length of the text, in characters.
    public static let maximumLength = 4096

    /// The channel followed by the bytes in hexadecimal, or the cells of a row.
    public let text: String

    /// The text of a frame's payload.
    public init(_ frame: RawFrame) {
        switch frame.payload {
        case .bytes(let bytes):
            let digits = bytes.prefix(Self.maximumLength / 2).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            text = (frame.channel.isEmpty ? "" : frame.channel + " ") + digits.joined()
        case .row(let row):
            let cells = row.cells.indices.lazy.map { row.text($0) }
            var text = ""
            for cell in cells {
                guard text.count < Self.maximumLength else { break }
                if !text.isEmpty { text += "," }
                text += cell.prefix(Self.maximumLength - text.count)
            }
            self.text = text
        case .malformed(let reason): text = reason
        }
    }
}

extension Gate {
    /// Judges the samples of one frame, and attaches the frame to those that are quarantined. Samples of earlier frames that this one
    /// released get no frame.
    @inlinable public func evaluate(_ batch: inout [GatedSample], from first: Int, of frame: RawFrame) {
        for index in first..<batch.count {
            guard let rule = rule(against: batch[index].sample) else { continue }
            batch[index].rule = rule
            if batch[index].place == frame.place { batch[index].frame = FrameText(frame) }
        }
        if batch.count > first + 1 { evaluateMeasurements(&batch, from: first, of: frame) }
    }
}
