import EventLoopKit
import HealthModel
import Pipeline
import Wire

/// The receiver of the source's events. All calls are made on the loop's thread. Devices are identified by their paths.
package protocol SerialSourceDelegate: AnyObject {
    /// Receives a frame of an adopted device. Its bytes are valid only during the call.
    func received(_ frame: RawFrame, of path: String)
    /// Receives bytes that are not a frame.
    func skipped(_ bytes: SkippedBytes, of path: String)
    /// Called when a meter has identified itself. Later frames come from that device.
    func identified(_ device: Device, of path: String)
    /// Called when a meter's clock was read, before its records.
    func learned(_ shown: WallTime, at received: Instant, of path: String)
    /// Called before a meter's memory. The frames until ``collected(_:done:)`` are the complete memory, in its order.
    func beginsRecords(of path: String)
    /// Called after a meter's memory. Make it durable, then call `done`.
    func collected(_ path: String, done: @escaping () -> Void)
    /// Called when the adapter was removed or the line was closed. No more frames of this stream follow.
    func ended(_ path: String)
    /// Called when any serial port was plugged in.
    func plugged(_ plug: SerialPlug)
    /// Receives a notice for the log and for users. It never contains a value.
    func didReceive(_ notice: SourceNotice)
    /// Called when ``SerialSource/state(of:)`` has changed.
    func changed()
}
