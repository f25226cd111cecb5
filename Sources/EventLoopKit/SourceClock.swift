import HealthModel

/// The two clocks that sources go by; the assembling target gives the machine's.
public protocol SourceClock: AnyObject {
    /// Never goes back and knows no date.
    var uptime: Duration { get }
    /// The date and time, as good as the hub knows it.
    var now: Instant { get }
}
