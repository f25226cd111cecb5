import HealthModel

/// Converts frames of one channel into readings. It contains all knowledge of a device's format.
public protocol FrameInterpreter: AnyObject {
    /// Appends the frame's readings to `readings`. Appends nothing if it throws, because a frame is accepted whole or not at all.
    func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome

    /// Returns the parts of the frames so far that became no reading, and clears them. Returns `nil` if all were read.
    func takeLeftOut() -> LeftOut?

    /// The time at which the file was written, if it contains that. Known once the frame with the time was interpreted.
    var written: Instant? { get }

    /// The parts of frames that no rule reads. Complete once all frames are interpreted.
    var unread: Unread { get }

    /// Whether a last row is complete even though no line break follows it.
    func isWhole(_ frame: RawFrame) -> Bool
}

extension FrameInterpreter {
    /// Most files do not contain it.
    public var written: Instant? { nil }

    /// Most frames are read completely.
    public func takeLeftOut() -> LeftOut? { nil }

    /// In most rows the last cell may be truncated.
    public func isWhole(_ frame: RawFrame) -> Bool { false }

    /// Most interpreters read everything, or count the rest as skipped frames.
    public var unread: Unread { Unread() }
}

/// The result of interpreting a frame.
public enum FrameOutcome: Hashable, Sendable {
    case readings
    /// The frame has characteristics of the person. They are not counted, since they are not readings.
    case characteristics([Characteristic])
    /// The frame has no reading. The ledger counts it under this kind.
    case skipped(SkipKind)
    /// It is not data: a header, a blank line.
    case notData
}
