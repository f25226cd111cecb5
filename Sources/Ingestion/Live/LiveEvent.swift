import HealthModel
import Pipeline

/// An event at ``LiveIngest``. Replaying all events in this order and at these times makes the same samples.
package enum LiveEvent {
    /// A received frame of a device. Its bytes are valid only during the call.
    case frame(RawFrame, LiveDevice)
    /// The readings of a device that were held for their time are settled.
    case finish(LiveDevice)
    /// The records of a device are complete and are committed.
    case commit(LiveDevice)
    /// A device starts sending its whole memory.
    case records(LiveDevice)
    /// A device's clock was compared with ours. The differences are in microseconds.
    case clock(ahead: Int64, ofUTC: Int64, at: Instant, LiveDevice)
    /// A source skipped something.
    case skip(SkipKind, Int)
    /// A received frame could not be read as one.
    case refuse(Refusal)
    /// Our own clock was set, by this many microseconds.
    case step(Int64)
    /// The boot of our machine while nothing has confirmed its clock, or `nil` once its clock is confirmed.
    case boot(String?)
    /// The received readings are committed.
    case flush
}
