import HealthModel
import Pipeline

/// Passes each frame to the interpreter of its channel. An export may contain resources besides its own records.
final class ChannelInterpreter: FrameInterpreter {
    private let fallback: any FrameInterpreter
    /// The other interpreters. They are so few that comparing each costs less than a hash.
    private let others: [(channel: String, interpreter: any FrameInterpreter)]

    /// - Parameters: - usual: interprets the frames of the file's own format and of unknown channels. - others: interpreters by
    ///   channel.
    init(_ fallback: any FrameInterpreter, others: [String: any FrameInterpreter]) {
        self.fallback = fallback
        self.others = others.map { ($0.key, $0.value) }
    }

    var written: Instant? { fallback.written }

    var unread: Unread { fallback.unread }

    func isWhole(_ frame: RawFrame) -> Bool { fallback.isWhole(frame) }

    func takeLeftOut() -> LeftOut? { fallback.takeLeftOut() }

    func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        // Millions of records have no channel.
        guard !frame.channel.isEmpty, let other = others.first(where: { $0.channel == frame.channel }) else {
            return try fallback.interpret(frame, into: &readings)
        }
        return try other.interpreter.interpret(frame, into: &readings)
    }
}
