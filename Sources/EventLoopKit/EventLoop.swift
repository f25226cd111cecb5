import Glibc

/// An event loop on one thread, based on poll(2), with descriptors, timers, and a bell that other threads may ring.
package final class EventLoop {
    package let clock: any SourceClock
    private var watches: [Int32: Watch] = [:]
    private var timers: [Timer] = []
    private var pollers: [ObjectIdentifier: any Poller] = [:]
    private let bell: Bell
    private var stopped = false

    private struct Watch {
        var events: Int16
        var handler: (Int16) -> Void
    }

    /// A closure that runs once at its time unless it is cancelled, and is then released.
    package final class Timer {
        /// The uptime at which it fires.
        package let at: Duration
        fileprivate var action: (() -> Void)?
        fileprivate init(at: Duration, action: @escaping () -> Void) {
            self.at = at
            self.action = action
        }
        /// Cancels the timer. Has no effect after it has fired.
        package func cancel() { action = nil }
    }

    /// An object with its own descriptor, whose events change from turn to turn (sd_bus_get_events(3)).
    package protocol Poller: AnyObject {
        /// The descriptor and its events for poll(2), or `nil` while there is none.
        var interest: (descriptor: Int32, events: Int16)? { get }
        /// The number of milliseconds until it must run even if its descriptor is not ready. Negative means never.
        var pollTimeout: Int32 { get }
        /// Handles pending events and returns without waiting for more.
        func process()
    }

    /// Wakes the loop from another thread or from a signal handler, through a pipe(7).
    package final class Bell: Sendable {
        fileprivate let number: Int32
        private let button: Int32
        fileprivate init() {
            var ends: [Int32] = [-1, -1]
            _ = pipe(&ends)
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            number = ends[0]
            button = ends[1]
        }
        deinit {
            close(number)
            close(button)
        }
        /// Wakes the loop. Safe on any thread and in a signal handler.
        package func ring() {
            // A full pipe already wakes the loop.
            var byte: UInt8 = 1
            _ = write(button, &byte, 1)
        }
    }

    /// - Parameter clock: The clock for timers. Tests pass their own.
    package init(clock: any SourceClock) {
        self.clock = clock
        bell = Bell()
    }

    /// Called on the loop's thread after the bell was rung.
    package var onBell: (() -> Void)?
    /// The loop's bell, which is safe to keep and to ring on any thread.
    package var alarm: Bell { bell }
    /// The number of watched descriptors and pending timers, for tests of leaks.
    package var load: (watches: Int, timers: Int) { (watches.count, timers.count { $0.action != nil }) }

    /// Calls `handler` with the events of a descriptor from poll(2), until ``unwatch(_:)``.
    package func watch(_ descriptor: Int32, events: Int32 = POLLIN, handler: @escaping (Int16) -> Void) {
        watches[descriptor] = Watch(events: Int16(events), handler: handler)
    }

    /// Stops watching a descriptor. Call it before the descriptor is closed.
    package func unwatch(_ descriptor: Int32) { watches[descriptor] = nil }
    /// Includes a poller in each turn, and retains it until ``remove(_:)``.
    package func add(_ poller: any Poller) { pollers[ObjectIdentifier(poller)] = poller }
    package func remove(_ poller: any Poller) { pollers[ObjectIdentifier(poller)] = nil }

    /// Calls `action` once, after at least `delay` on the monotonic clock.
    @discardableResult
    package func after(_ delay: Duration, _ action: @escaping () -> Void) -> Timer {
        let timer = Timer(at: clock.uptime + delay, action: action)
        timers.append(timer)
        return timer
    }

    /// Runs turns until ``stop()``.
    package func run() {
        stopped = false
        while !stopped { turn(maximumWait: .seconds(3600)) }
    }

    /// Makes ``run()`` return at the end of the turn.
    package func stop() { stopped = true }

    /// Waits for the next event, at most `maximumWait`, and handles everything that is due.
    ///
    /// All work is done after the wait, so a turn that has done some returns instead of waiting for more. The wait is zero if something is
    /// already due, such as a timer, or a message that was read and not yet handled.
    package func turn(maximumWait: Duration) {
        var wait = maximumWait.wholeMilliseconds
        for timer in timers where timer.action != nil {
            wait = min(wait, max(0, (timer.at - clock.uptime).wholeMilliseconds))
        }
        var entries = [pollfd(fd: bell.number, events: Int16(POLLIN), revents: 0)]
        for (descriptor, watch) in watches { entries.append(pollfd(fd: descriptor, events: watch.events, revents: 0)) }
        for poller in pollers.values {
            if let interest = poller.interest {
                entries.append(pollfd(fd: interest.descriptor, events: interest.events, revents: 0))
            }
            let pollTimeout = poller.pollTimeout
            if pollTimeout >= 0 { wait = min(wait, pollTimeout) }
        }
        let ready = poll(&entries, nfds_t(entries.count), wait)
        // A timer that becomes due while a handler runs waits for the next turn, which first handles the events that arrived in between.
        // This way a device that has just sent something does not count as silent.
        let now = clock.uptime
        if ready > 0 {
            if entries[0].revents != 0 { answerBell() }
            // A handler may unwatch another descriptor, whose events are then dropped.
            for entry in entries.dropFirst() where entry.revents != 0 { watches[entry.fd]?.handler(entry.revents) }
        }
        for poller in pollers.values { poller.process() }
        runTimers(dueAt: now)
    }

    private func runTimers(dueAt now: Duration) {
        guard !timers.isEmpty else { return }
        let due = timers.filter { $0.at <= now && $0.action != nil }.sorted { $0.at < $1.at }
        timers.removeAll { $0.at <= now || $0.action == nil }
        for timer in due {
            let action = timer.action
            timer.action = nil
            action?()
        }
    }

    private func answerBell() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(bell.number, &bytes, bytes.count) > 0 {}
        onBell?()
    }
}

extension Duration {
    /// The duration rounded up, so that a timer never fires early, and limited to the range of poll(2).
    package var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        if seconds > 2_000_000 { return 2_000_000_000 }
        if seconds < -2_000_000 { return 0 }
        return Int32(truncatingIfNeeded: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
