import BlueZSource
import EventLoopKit
import Glibc
import HealthModel

/// The machine's clocks, for the event loop.
public final class MachineClock: SourceClock {
    private let machine: Machine

    /// - Parameter machine: whose date and time ``now`` gives.
    public init(_ machine: Machine) { self.machine = machine }

    /// CLOCK_BOOTTIME: a machine that slept has missed what was due.
    public var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The machine's date and time; it can jump when the clock is set.
    public var now: Instant { machine.now() }
}
