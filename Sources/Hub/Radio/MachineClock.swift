import BlueZSource
import EventLoopKit
import Glibc
import HealthModel

/// The machine's clocks, for the event loop.
package final class MachineClock: SourceClock {
    private let machine: Machine

    /// - Parameter machine: the machine whose time ``now`` returns.
    package init(_ machine: Machine) { self.machine = machine }

    /// CLOCK_BOOTTIME, which includes sleep, so timers that became due during sleep run at once.
    package var uptime: Duration { Self.uptime() }

    /// The time since boot.
    @Sendable package static func uptime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// The machine's date and time. It can jump when the clock is set.
    package var now: Instant { machine.now() }
}
