import EventLoopKit
import HealthModel
import Pipeline
import Wire

/// What the assembling target does with what the source says. All calls come on the loop's thread; devices go by their paths.
public protocol SerialSourceDelegate: AnyObject {
    /// A frame of an adopted device; its bytes are valid during the call.
    func received(_ frame: RawFrame, of path: String)
    /// Octets that are no frame.
    func skipped(_ octets: SkippedOctets, of path: String)
    /// A meter has said who it is: its frames come from that device from now on.
    func identified(_ device: Device, of path: String)
    /// A meter's clock was read, before its records.
    func learned(_ shown: WallTime, at received: Instant, of path: String)
    /// What comes until ``collected(_:done:)`` is a meter's whole memory, in its order.
    func beginsRecords(of path: String)
    /// The memory has been handed on: make it durable, then call `done`.
    func collected(_ path: String, done: @escaping () -> Void)
    /// The plug was pulled, or the line is closed: nothing more of this stream comes.
    func ended(_ path: String)
    /// A serial port was plugged in, whosever it is.
    func plugged(_ plug: SerialPlug)
    /// For the log, and for a person. Never holds a value.
    func told(_ notice: SourceNotice)
    /// ``SerialSource/state(of:)`` has changed.
    func changed()
}
