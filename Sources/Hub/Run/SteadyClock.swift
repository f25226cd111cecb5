import EventLoopKit
import HealthModel
import Synchronization

/// The machine's time, without a leap that no clock makes.
///
/// The kernel's word that its clock is synchronised proves nothing: a wrong answer of a time server sets it years ahead, for seconds or an
/// hour. Such a time is doubted (``PlausibleClock``), and the time since boot continues the time before the leap. Readings, alerts and
/// devices' clocks are then right, and nothing is removed for its age. The doubt ends when the machine's time is plausible again.
package final class SteadyClock: Sendable {
    /// The state of the machine's time, in microseconds.
    private struct State {
        /// The boot's time by the last time that was believed.
        var began: Int64?
        /// The boot's time by a time that is doubted, and how long the machine ran when it was first seen.
        var untrusted: (began: Int64, since: Int64)?
        var isUntrusted = false
    }

    private let now: @Sendable () -> Instant
    private let uptime: @Sendable () -> Duration
    private let state = Mutex(State())

    /// A plausible time is believed after this long: the machine was in a drawer for years.
    private static let proof = Calendar.day
    /// The largest difference between two equal times.
    private static let slewed: UInt64 = 60_000_000

    /// - Parameters:
    ///   - now: the machine's time, which can leap.
    ///   - uptime: the time since boot, which cannot.
    ///   - last: a time that has certainly passed. A leap since then is doubted as well, because a wrong answer of a time server may have set
    ///     the clock before the hub started.
    package init(
        now: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Duration, after last: Instant? = nil
    ) {
        (self.now, self.uptime) = (now, uptime)
        guard let last, now() > last, !PlausibleClock.allows(step: now().microseconds &- last.microseconds) else { return }
        state.withLock { $0.began = last.microseconds &- uptime().microseconds }
    }

    /// The time, which is the machine's unless that is doubted.
    package func time() -> Instant {
        let (now, passed) = (now(), uptime().microseconds)
        return state.withLock { Self.time(now, passed, &$0) }
    }

    private static func time(_ now: Instant, _ passed: Int64, _ state: inout State) -> Instant {
        let began = now.microseconds &- passed
        let known = state.began.map { Instant(microseconds: $0 &+ passed) }
        // A clock that was never set can be set to any plausible time, and an earlier one is equally good.
        let isSet = known.map { PlausibleClock.allows($0) } ?? false
        let isTrusted =
            isSet
            ? PlausibleClock.allows(now) && PlausibleClock.allows(step: began &- (state.began ?? began))
            : now < PlausibleClock.latest
        if isTrusted || PlausibleClock.allows(now) && isConsistent(began, passed, &state) {
            state = State(began: began)
            return now
        }
        state.isUntrusted = true
        return known ?? now
    }

    /// Whether a doubted time has been stable long enough.
    private static func isConsistent(_ began: Int64, _ passed: Int64, _ state: inout State) -> Bool {
        guard let untrusted = state.untrusted, (untrusted.began &- began).magnitude <= slewed else {
            state.untrusted = (began, passed)
            return false
        }
        return passed &- untrusted.since >= proof
    }

    /// Whether the machine's present time is doubted.
    package var isUntrusted: Bool {
        _ = time()
        return state.withLock { $0.isUntrusted }
    }
}

extension Duration {
    /// The whole microseconds.
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}

extension Machine {
    /// The same machine with a clock that does not leap, and that clock.
    ///
    /// - Parameter last: a time that has certainly passed.
    package func steady(after last: Instant?) -> (machine: Machine, clock: SteadyClock) {
        let clock = SteadyClock(now: now, uptime: MachineClock.uptime, after: last)
        var machine = self
        machine.now = { clock.time() }
        return (machine, clock)
    }
}
