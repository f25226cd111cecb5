import Glibc

/// One thread's poll(2): descriptors, timers, and a bell that other threads may ring.
public final class EventLoop {
    /// By which timers go.
    public let clock: any SourceClock
    private var watches: [Int32: Watch] = [:]
    private var timers: [Timer] = []
    private var pollers: [ObjectIdentifier: any Poller] = [:]
    private let bell: Bell
    private var stopped = false

    private struct Watch {
        var events: Int16
        var handler: (Int16) -> Void
    }

    /// Runs a closure once at its time, unless cancelled; forgets the closure then.
    public final class Timer {
        fileprivate let at: Duration
        fileprivate var action: (() -> Void)?
        fileprivate init(at: Duration, action: @escaping () -> Void) {
            self.at = at
            self.action = action
        }
        /// It does not fire any more; nothing happens where it has.
        public func cancel() { action = nil }
    }

    /// Something that brings its own descriptor, whose events change from turn to turn (sd_bus_get_events(3)).
    public protocol Poller: AnyObject {
        /// The descriptor and what poll(2) is to look for; nil while there is none.
        var interest: (descriptor: Int32, events: Int16)? { get }
        /// Milliseconds until it wants to run whether or not its descriptor is ready; negative: never.
        var patience: Int32 { get }
        /// Handles what has come, and returns without waiting for more.
        func process()
    }

    /// Wakes the loop from another thread, or from a signal handler: pipe(7).
    public final class Bell: Sendable {
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
        /// Wakes the loop; from any thread, and from a signal handler.
        public func ring() {
            // A pipe that is full rings already.
            var octet: UInt8 = 1
            _ = write(button, &octet, 1)
        }
    }

    /// - Parameter clock: by which timers go; a test has its own.
    public init(clock: any SourceClock) {
        self.clock = clock
        bell = Bell()
    }

    /// Called on the loop's thread after the bell was rung.
    public var onBell: (() -> Void)?
    /// Safe to keep and to ring on any thread.
    public var alarm: Bell { bell }
    /// How many descriptors and timers are held, for tests of leaks.
    public var load: (watches: Int, timers: Int) { (watches.count, timers.count { $0.action != nil }) }

    /// Calls `handler` with what poll(2) says of a descriptor, each time it says something, until ``unwatch(_:)``.
    public func watch(_ descriptor: Int32, events: Int32 = POLLIN, handler: @escaping (Int16) -> Void) {
        watches[descriptor] = Watch(events: Int16(events), handler: handler)
    }

    /// Hears no more of a descriptor; to be called before it is closed.
    public func unwatch(_ descriptor: Int32) { watches[descriptor] = nil }
    /// Asks a poller in each turn; it is held until ``remove(_:)``.
    public func add(_ poller: any Poller) { pollers[ObjectIdentifier(poller)] = poller }
    /// Asks it no more.
    public func remove(_ poller: any Poller) { pollers[ObjectIdentifier(poller)] = nil }

    /// Calls `action` once, no sooner than after `delay` by the clock that nobody sets.
    @discardableResult
    public func after(_ delay: Duration, _ action: @escaping () -> Void) -> Timer {
        let timer = Timer(at: clock.uptime + delay, action: action)
        timers.append(timer)
        return timer
    }

    /// Turns until ``stop()``.
    public func run() {
        stopped = false
        while !stopped { turn(maximumWait: .seconds(3600)) }
    }

    /// Lets ``run()`` return at the end of the turn.
    public func stop() { stopped = true }

    /// Waits for the next event, at most that long, and handles what is due.
    ///
    /// All work is done after the wait, so that a turn that has done some returns instead of waiting for more. What is due already (a timer, a
    /// message that was read and not handled) makes the wait zero.
    public func turn(maximumWait: Duration) {
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
            let patience = poller.patience
            if patience >= 0 { wait = min(wait, patience) }
        }
        let ready = poll(&entries, nfds_t(entries.count), wait)
        // A timer that comes due while a handler works waits for the next turn, which hears first what came meanwhile: a device that
        // spoke is not silent.
        let now = clock.uptime
        if ready > 0 {
            if entries[0].revents != 0 { answerBell() }
            // A handler may unwatch another descriptor, whose events are then nobody's.
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
        var octets = [UInt8](repeating: 0, count: 64)
        while read(bell.number, &octets, octets.count) > 0 {}
        onBell?()
    }
}

extension Duration {
    /// Rounded up, so that a timer is not asked for before its time; at most what poll(2) takes.
    public var wholeMilliseconds: Int32 {
        let (seconds, attoseconds) = components
        if seconds > 2_000_000 { return 2_000_000_000 }
        if seconds < -2_000_000 { return 0 }
        return Int32(truncatingIfNeeded: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
