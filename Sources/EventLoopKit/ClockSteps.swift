import CTimer
import Glibc

/// Reports changes of the machine's clock, for example by NTP once it has found a server. It costs nothing while the clock is not set.
///
/// timerfd_create(2): a timer on the real-time clock, set to a date that never comes, is cancelled when that clock is set.
package final class ClockSteps {
    private let loop: EventLoop
    private let timer: Descriptor

    /// - Returns: `nil` if the system does not have such timers.
    package init?(loop: EventLoop, handler: @escaping () -> Void) {
        let number = timerfd_create(CLOCK_REALTIME, Int32(O_NONBLOCK | O_CLOEXEC))
        guard number >= 0 else { return nil }
        self.loop = loop
        timer = Descriptor(owning: number)
        guard arm() else { return nil }
        loop.watch(number) { [weak self] _ in
            guard let self else { return }
            var expirations: UInt64 = 0
            let isSet = read(timer.number, &expirations, 8) < 0 && errno == ECANCELED
            _ = arm()
            if isSet { handler() }
        }
    }

    deinit { loop.unwatch(timer.number) }

    private func arm() -> Bool {
        var never = itimerspec()
        never.it_value.tv_sec = Int.max / 2_000_000_000
        // TFD_TIMER_ABSTIME and TFD_TIMER_CANCEL_ON_SET of <linux/timerfd.h>.
        return timerfd_settime(timer.number, 1 | 2, &never, nil) == 0
    }

    /// Whether the kernel considers its clock synchronised: adjtimex(2) with no change. Also false on a machine without NTP.
    package static var isSynchronised: Bool {
        var state = timex()
        return adjtimex(&state) != TIME_ERROR
    }
}
