import Dispatch
import HealthModel
import SampleStore
import Synchronization

/// Checks the alerts after each commit, when an alert for a missing reading is due, and otherwise every ten minutes. A disk that fails makes
/// no commits, and the last of these checks finds it.
package final class AlertWatch: Sendable {
    /// The times that a check allows for readings that are on their way.
    package struct Limits: Sendable {
        /// Commits within this time are checked together.
        package var pause = Duration.milliseconds(500)
        /// Longer than the hub's longest interval between commits.
        package var settling = Duration.seconds(90)
        /// How long no alert for a missing reading is raised after a start or a step of the clock. In this time, sensors send the readings
        /// that they stored.
        package var quiet = Duration.seconds(300)
        /// The longest time between two checks.
        package var idle = Duration.seconds(600)
        /// The pause after a check that failed.
        package var retry = Duration.seconds(30)
        /// The time of failed checks after which the receivers get a message.
        package var timeout = Duration.seconds(60)

        package init() {}
    }

    private struct State {
        var isStopped = false
        var isWaiting = false
        var listener: UInt64?
        /// The number of the last timer. Earlier timers do nothing.
        var timer = 0
        var quiet: QuietTime
        /// The steps of the clock since the start.
        var steps: [SampleStore.Alerts.MissingRule.Step] = []
        /// Since when checks fail, as an uptime, and whether that was reported.
        var failing: Duration?
        var isReported = false
    }

    private let path: String
    private let bell: CommitBell
    private let limits: Limits
    private let now: @Sendable () -> Instant
    private let uptime: @Sendable () -> Duration
    private let onCheck: @Sendable () -> Void
    private let onFailure: @Sendable (String?) -> Void
    private let queue = DispatchQueue(label: "vitalgate.alerts", qos: .utility)
    private let state: Mutex<State>
    /// Used only on the queue. It stays open, because closing a store rings the bell.
    nonisolated(unsafe) private var store: SampleStore?

    /// Starts watching.
    ///
    /// - Parameters:
    ///   - path: The path of the store's file.
    ///   - uptime: The time since the machine's start, which no change of the clock affects.
    ///   - onCheck: Called on one queue after each check.
    ///   - onFailure: Called on the same queue with the error when the alerts have not been evaluated for a while, and with `nil` when they
    ///     are evaluated again.
    package init(
        path: String, bell: CommitBell, limits: Limits = Limits(), now: @escaping @Sendable () -> Instant,
        uptime: @escaping @Sendable () -> Duration = AlertWatch.machineUptime, onCheck: @escaping @Sendable () -> Void = {},
        onFailure: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        (self.path, self.bell, self.limits, self.now, self.uptime) = (path, bell, limits, now, uptime)
        (self.onCheck, self.onFailure) = (onCheck, onFailure)
        state = Mutex(State(quiet: QuietTime(limits.quiet, now: now(), uptime: uptime())))
        let listener = bell.add(needsPromptCommits: false) { [weak self] in self?.wake() }
        state.withLock { $0.listener = listener }
        wake()
    }

    private static let reference = ContinuousClock.now

    /// The time since the first call.
    package static let machineUptime: @Sendable () -> Duration = { AlertWatch.reference.duration(to: .now) }

    private func wake() {
        let isFirst = state.withLock { state in
            defer { state.isWaiting = true }
            return !state.isWaiting && !state.isStopped
        }
        if isFirst { queue.asyncAfter(deadline: .now() + Self.interval(limits.pause)) { [weak self] in self?.check() } }
    }

    private func check() {
        let (isStopped, remaining, step) = state.withLock { state in
            state.isWaiting = false
            let (remaining, step) = state.quiet.remaining(now: now(), uptime: uptime())
            return (state.isStopped, remaining, step)
        }
        guard !isStopped else { return }
        do {
            let store = try opened()
            if step != 0 {
                let last = try store.alerts.lastChange()
                state.withLock { $0.steps.append(.init(after: last, by: step)) }
            }
            var rule = SampleStore.Alerts.MissingRule(
                settling: Self.microseconds(limits.settling), isRaised: remaining == nil)
            rule.steps = state.withLock { $0.steps }
            let result = try store.alerts.check(at: now(), missing: rule)
            set(next: result.next, rest: remaining ?? limits.idle)
            succeeded()
            onCheck()
        } catch {
            // The file was replaced. Otherwise the store stays open.
            if (error as? StoreError)?.kind == .missing { store = nil }
            set(next: nil, rest: limits.retry)
            failed("\(error)")
        }
    }

    private func succeeded() {
        let wasReported = state.withLock { state in
            defer { (state.failing, state.isReported) = (nil, false) }
            return state.isReported
        }
        if wasReported { onFailure(nil) }
    }

    private func failed(_ reason: String) {
        let uptime = uptime()
        let isReported = state.withLock { state in
            let failing = state.failing ?? uptime
            state.failing = failing
            guard uptime - failing >= limits.timeout, !state.isReported else { return false }
            state.isReported = true
            return true
        }
        if isReported { onFailure(reason) }
    }

    private func opened() throws(StoreError) -> SampleStore {
        if let store {
            try store.checkPlace()
            return store
        }
        let opened = try SampleStore(path: path, access: .write)
        store = opened
        return opened
    }

    /// Sets the timer to a time of the clock or to the end of a pause, whichever comes first. The first one follows changes of the clock.
    private func set(next: Instant?, rest: Duration) {
        let timer = state.withLock { state in
            state.timer += 1
            return state.timer
        }
        let work: @Sendable () -> Void = { [weak self] in
            guard let self, state.withLock({ $0.timer == timer }) else { return }
            check()
        }
        if let next {
            let delay = max(0, next.microseconds - now().microseconds) + 1000
            queue.asyncAfter(wallDeadline: .now() + .microseconds(Int(delay)), execute: work)
        }
        queue.asyncAfter(deadline: .now() + Self.interval(rest) + .milliseconds(1), execute: work)
    }

    /// Stops watching and waits for the current check.
    package func stop() {
        let listener = state.withLock { state in
            state.isStopped = true
            defer { state.listener = nil }
            return state.listener
        }
        if let listener { bell.remove(listener) }
        queue.sync { store = nil }
    }

    private static func microseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    }

    private static func interval(_ duration: Duration) -> DispatchTimeInterval { .microseconds(Int(microseconds(duration))) }
}

/// The time after a start, or after a step of the clock, in which a missing reading may still arrive.
struct QuietTime: Sendable {
    private let length: Duration
    private var end: Duration
    /// The clock's time at the machine's start.
    private var origin: Int64
    /// A change of the clock that is no step, in microseconds: a minute.
    private static let tolerance: Int64 = 60_000_000

    init(_ length: Duration, now: Instant, uptime: Duration) {
        (self.length, end, origin) = (length, uptime + length, Self.origin(now, uptime))
    }

    /// Returns the rest of the quiet time, or `nil` if it is over, and the step of the clock in microseconds since the last call, or 0. A step
    /// starts the quiet time again.
    mutating func remaining(now: Instant, uptime: Duration) -> (rest: Duration?, step: Int64) {
        let origin = Self.origin(now, uptime)
        var step = origin - self.origin
        if abs(step) > Self.tolerance { (self.origin, end) = (origin, uptime + length) } else { step = 0 }
        return (uptime < end ? end - uptime : nil, step)
    }

    private static func origin(_ now: Instant, _ uptime: Duration) -> Int64 {
        now.microseconds - uptime.components.seconds * 1_000_000 - uptime.components.attoseconds / 1_000_000_000_000
    }
}
