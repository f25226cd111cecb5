import BlueZSource
import EventLoopKit
import Glibc
import HealthModel

/// The machine's clocks, for the event loop.
public final class MachineClock: SourceClock {
    private let machine: Machine

    public init(_ machine: Machine) { self.machine = machine }

    /// CLOCK_BOOTTIME: a machine that slept has missed what was due.
    public var uptime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    public var now: Instant { machine.now() }
}
