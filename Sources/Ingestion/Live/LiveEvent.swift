import HealthModel
import Pipeline

/// What passes ``LiveIngest``: all that has to come again, in this order and at these times, for the same samples to come of it.
public enum LiveEvent {
    /// A frame of a device, as it came; its bytes are there no longer than the call.
    case frame(RawFrame, LiveDevice)
    /// What was held back of a device for its time is settled.
    case settle(LiveDevice)
    /// A device's records have ended, and are committed.
    case commit(LiveDevice)
    /// A device begins with its whole memory.
    case records(LiveDevice)
    /// A device's clock was compared with ours; in microseconds.
    case clock(ahead: Int64, ofUTC: Int64, at: Instant, LiveDevice)
    /// A source left something out.
    case skip(SkipKind, Int)
    /// Something came as a frame and cannot be read as one.
    case refuse(Refusal)
    /// Our own clock was set, by so many microseconds.
    case step(Int64)
    /// What had come is committed.
    case flush
}
