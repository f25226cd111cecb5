import HealthModel

/// Turns frames of one channel into readings. All that is known of a device's format is here.
public protocol FrameInterpreter: AnyObject {
    /// Appends what the frame means to `readings`; appends nothing where it throws: a frame is taken whole or not at all.
    func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome

    /// Returns the parts of the frames so far that became no reading, once; `nil` if there are none.
    func takeLeftOut() -> LeftOut?

    /// When what is read was written down, of a file that tells it; known once the frame that tells it was interpreted.
    var written: Instant? { get }

    /// What the frames have that no rule reads; complete once all are interpreted.
    var unread: Unread { get }

    /// Whether a last row says all it has to say, though no line break stands behind it.
    func isWhole(_ frame: RawFrame) -> Bool
}

extension FrameInterpreter {
    /// Most files do not tell.
    public var written: Instant? { nil }

    /// Most frames are read whole.
    public func takeLeftOut() -> LeftOut? { nil }

    /// In most rows the last cell may be cut.
    public func isWhole(_ frame: RawFrame) -> Bool { false }

    /// Most read all there is, or count what they leave as frames that are skipped.
    public var unread: Unread { Unread() }
}

/// What became of a frame.
public enum FrameOutcome: Hashable, Sendable {
    case readings
    /// It says what is so of the person; counted nowhere, since it is no reading.
    case characteristics([Characteristic])
    /// It holds no reading; counted in the ledger under this kind.
    case skipped(SkipKind)
    /// It is not data: a header, a blank line.
    case notData
}
