import CTimer
import Glibc

/// Tells when somebody sets the machine's clock, as NTP does once it has found a server. Costs nothing while nobody does.
///
/// timerfd_create(2): a timer on the clock of the date, at a date that never comes, is cancelled when that clock is set.
public final class ClockSteps {
    private let loop: EventLoop
    private let timer: Descriptor

    /// - Returns: nil where the system has no such timers.
    public init?(loop: EventLoop, handler: @escaping () -> Void) {
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

    /// Whether the kernel was told that its clock is right: adjtimex(2) with no change. False on a machine without NTP, too.
    public static var isSynchronised: Bool {
        var state = timex()
        return adjtimex(&state) != TIME_ERROR
    }
}
