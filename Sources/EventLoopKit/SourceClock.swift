import HealthModel

/// The two clocks that sources use. The assembling target provides the machine's clocks.
package protocol SourceClock: AnyObject {
    /// The monotonic time, which never goes back and is unrelated to the date.
    var uptime: Duration { get }
    /// The date and time, as accurate as the hub knows them.
    var now: Instant { get }
}
