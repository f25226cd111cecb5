import EventLoopKit
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// The hub's own clock. A small machine has none that goes on without power: it begins with a date of the past, until NTP sets it.
///
/// Readings are taken meanwhile, and in their order. When the clock is set, by the difference to the uptime, which nobody sets, it is
/// learned how far it was off, and what was stamped by it is corrected by that: what waits for its commit, and what is stored. What came
/// before 2025 by such a clock was held in quarantine, and is released.
///
/// A clock that the kernel was told to be right at the start is not watched, nor is one that is right from then on.
public final class HubClock {
    /// What is asked of the machine.
    public struct Questions {
        /// The kernel's name of this run of the machine.
        public var boot: String
        /// Whether something has set the clock right.
        public var isSynchronised: () -> Bool
        /// Calls back whenever the clock is set, as long as the result is kept.
        public var watch: (@escaping () -> Void) -> AnyObject?

        /// - Parameter watch: takes what is to be called when the clock is set; nil where that cannot be watched.
        public init(
            boot: String, isSynchronised: @escaping () -> Bool, watch: @escaping (@escaping () -> Void) -> AnyObject?
        ) {
            self.boot = boot
            self.isSynchronised = isSynchronised
            self.watch = watch
        }

        /// Of this machine.
        public static func machine(_ loop: EventLoop) -> Questions {
            let name = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 100) ?? []
            return Questions(
                boot: String(decoding: name.filter { $0 > 0x20 }, as: UTF8.self),
                isSynchronised: { ClockSteps.isSynchronised }, watch: { ClockSteps(loop: loop, handler: $0) })
        }
    }

    private let hub: Hub
    private let questions: Questions
    private var known: UnsetClock?
    private var watch: AnyObject?
    private var live: LiveIngest { hub.live }

    /// Smaller steps are those that NTP makes all the time.
    private static let tolerance: Int64 = 1_000_000

    /// - Parameter questions: how to ask the machine about its clock; nothing is asked before ``start()``.
    public init(hub: Hub, questions: Questions) {
        self.hub = hub
        self.questions = questions
    }

    /// For how long the machine is on, in microseconds.
    private var uptime: Int64 {
        let (seconds, attoseconds) = live.loop.clock.uptime.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// When the machine was switched on, by its clock.
    private var began: Int64 { live.loop.clock.now.microseconds - uptime }

    /// Before the sources start: also catches up with a clock that was set while no hub ran.
    public func start() throws {
        let before = try live.store.unsetClock()
        known = before.flatMap { $0.boot == questions.boot ? $0 : nil }
        if let clock = known, abs(began - clock.began) > Self.tolerance {
            try correct(clock, by: began - clock.began)
            known?.began = began
        }
        guard !questions.isSynchronised() else {
            if before != nil { try live.store.save(nil) }
            known = nil
            return
        }
        if known == nil {
            let clock = UnsetClock(boot: questions.boot, began: began, mark: try live.store.mark())
            try live.store.save(clock)
            known = clock
        }
        watch = questions.watch { [weak self] in self?.look() }
        // NTP may as well have found the clock right.
        live.beforeCommit = { [weak self] in self?.look() }
    }

    private func look() {
        guard let known else { return }
        let step = began - known.began
        guard abs(step) > Self.tolerance else { return finishIfRight() }
        self.known?.began += step
        for source in hub.sources { for each in source.source.devices { each.device.clockWasSet(by: step) } }
        live.clockWasSet(by: step) { [weak self] in try self?.correct(known, by: step) }
        hub.told(
            SourceNotice(.information, "clock", "it was set by \(step / 1_000_000) s; what it had stamped is corrected by that"))
        finishIfRight()
    }

    private func correct(_ clock: UnsetClock, by step: Int64) throws {
        var next: UnsetClock? = clock
        next?.began += step
        if questions.isSynchronised() { next = nil }
        let count = try live.store.correct(
            step, of: clock, uptime: uptime, next: next, now: live.loop.clock.now, owner: ProcessIdentity.current())
        if count > 0 {
            hub.told(SourceNotice(.information, "clock", "\(count) samples that it had stamped wrongly have their time now"))
        }
    }

    /// What sets a clock that was right is no NTP that had to find it first: a machine that was asleep.
    private func finishIfRight() {
        guard known != nil, questions.isSynchronised() else { return }
        (watch, known, live.beforeCommit) = (nil, nil, nil)
        live.change { [store = live.store] in try store.save(nil) }
    }
}
