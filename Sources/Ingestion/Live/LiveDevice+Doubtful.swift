import HealthModel
import Pipeline
import Wire

/// Frames that may not be what their channel says: `gatt:2A1C?`. A source ends the channel so where it does not know for certain which
/// characteristic sent them, and `gatt:?` where it does not know at all.
extension LiveDevice {
    static func isDoubtful(_ frame: RawFrame) -> Bool { frame.channel.hasSuffix("?") }

    /// What it would be, held back with its octets for a person to judge. Where nothing can be made of it, it is refused with them.
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
            var octets = ""
            if case .bytes(let bytes) = frame.payload { octets = HexadecimalText.text(bytes) }
            output.refusals.append(
                Refusal("it came before the device's services were known, and is of none of them: \(octets)", at: frame.place))
            return .readings(1)
        }
    }
}
