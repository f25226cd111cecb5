import HealthModel
import Pipeline
import Wire

/// Frames whose characteristic is uncertain. A source adds `?` to the channel, as in `gatt:2A1C?`, if it does not know for
/// certain which characteristic sent them. It uses `gatt:?` if it does not know at all.
extension LiveDevice {
    static func isDoubtful(_ frame: RawFrame) -> Bool { frame.channel.hasSuffix("?") }

    /// Quarantines the readings with the frame's bytes for the user to judge. If the frame cannot be read, it is rejected with
    /// its bytes.
    func interpretDoubtful(_ frame: RawFrame, at uptime: Duration, into output: inout Normaliser.Output) -> Outcome {
        var named = frame
        named.channel = String(frame.channel.dropLast())
        let first = output.samples.count
        switch interpret(named, at: uptime, into: &output) {
        case .readings(let count, let leftOut):
            for index in first..<output.samples.count where output.samples[index].rule == nil {
                output.samples[index].rule = .unattributed
                if output.samples[index].place == frame.place { output.samples[index].frame = FrameText(named) }
            }
            return .readings(count, leftOut: leftOut)
        case .skipped(let kind) where kind != SkipKind("no-profile"): return .skipped(kind)
        case .skipped:
            var hexText = ""
            if case .bytes(let bytes) = frame.payload { hexText = HexadecimalText.text(bytes) }
            output.refusals.append(
                Refusal(
                    "it arrived before the device's services were known and belongs to none of them: \(hexText)", at: frame.place)
            )
            return .readings(1)
        }
    }
}
