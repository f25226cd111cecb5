import HealthModel
import Pipeline

/// Gives each frame to whoever understands its channel: an export may hold resources beside its own records.
final class ChannelInterpreter: FrameInterpreter {
    private let usual: any FrameInterpreter
    private let others: [String: any FrameInterpreter]

    /// - Parameters:
    ///   - usual: understands the frames of the file's own form, and of channels that nobody else does.
    ///   - others: by channel.
    init(_ usual: any FrameInterpreter, others: [String: any FrameInterpreter]) {
        self.usual = usual
        self.others = others
    }

    var written: Instant? { usual.written }

    func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        // Millions of records have none.
        guard !frame.channel.isEmpty, let other = others[frame.channel] else {
            return try usual.interpret(frame, into: &readings)
        }
        return try other.interpret(frame, into: &readings)
    }
}
