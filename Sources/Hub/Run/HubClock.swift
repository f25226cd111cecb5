import EventLoopKit
import Glibc
import HealthModel
import Ingestion
import SampleStore

/// Corrects times for a machine whose clock is not battery-backed and starts at a past date until NTP sets it.
///
/// Readings are stored in the meantime. When the clock is set, its error is derived from the uptime, which never jumps. Waiting
/// and stored timestamps are corrected by it. Readings that such a clock dated before 2025 were quarantined and are released.
///
/// A clock that the kernel reports as synchronised is not watched. ``SteadyClock`` hides leaps that no clock makes.
///
/// If the power fails before the clock is set, the error of that boot is unknown. That boot stays open until a later one knows the time:
/// if the machine keeps no time while it is off, the samples of the open boots are withdrawn into quarantine.
package final class HubClock {
    /// The machine's clock functions.
    package struct Questions {
        /// The kernel's id of this boot.
        package var boot: String
        package var isSynchronised: () -> Bool
        /// Whether the machine keeps the time while it is off.
        package var keepsTime = true
        /// Calls the handler whenever the clock is set, as long as the result is retained. Returns `nil` if it cannot be watched.
        package var watch: (@escaping () -> Void) -> AnyObject?

        package static func machine(_ loop: EventLoop, _ clock: SteadyClock) -> Questions {
            let name = SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 100) ?? []
            return Questions(
                boot: String(decoding: name.filter { $0 > 0x20 }, as: UTF8.self),
                isSynchronised: { ClockSteps.isSynchronised && !clock.isUntrusted },
                keepsTime: access("/sys/class/rtc/rtc0", F_OK) == 0, watch: { ClockSteps(loop: loop, handler: $0) })
        }
    }

    private let hub: Hub
    private let questions: Questions
    private var known: UnsetClock?
    private var watch: AnyObject?
    /// The end of the data of earlier boots, and whether the clock was wrong when this one began.
    private var earlier: UnsetClock.Mark?
    private var wasWrong = false
    private var live: LiveIngest { hub.live }

    /// The smallest step in microseconds that is corrected. NTP makes smaller ones all the time.
    private static let tolerance: Int64 = 1_000_000
    /// A machine that keeps the time while it is off is wrong by less than this, in microseconds.
    private static let retained: Int64 = 60_000_000

    /// - Parameter questions: the machine's clock functions, first used in ``start()``.
    package init(hub: Hub, questions: Questions) {
        self.hub = hub
        self.questions = questions
    }

    /// The time since boot in microseconds.
    private var uptime: Int64 {
        let (seconds, attoseconds) = live.loop.clock.uptime.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }

    /// The time of the boot by the machine's clock.
    private var began: Int64 { live.loop.clock.now.microseconds - uptime }

    /// Starts before the sources. It also corrects a step of the clock from before the hub's start.
    package func start() throws {
        let before = try live.store.clock.unset()
        known = before.flatMap { $0.boot == questions.boot ? $0 : nil }
        if known == nil, let before { try live.store.clock.keepOpen(before) }
        let hasOpen = try !live.store.clock.unconfirmed().isEmpty
        earlier = hasOpen ? try known?.mark ?? live.store.clock.mark() : nil
        if let clock = known, abs(began - clock.began) > Self.tolerance {
            wasWrong = abs(began - clock.began) > Self.retained
            try correct(clock, by: began - clock.began)
            known?.began = began
        }
        guard !questions.isSynchronised() else {
            if known != nil { try live.store.clock.confirm(questions.boot) }
            if before != nil { try live.store.clock.save(nil) }
            wasWrong = wasWrong || known == nil && !questions.keepsTime
            known = nil
            try closeEarlier()
            return
        }
        if known == nil {
            let clock = UnsetClock(boot: questions.boot, began: began, mark: try live.store.clock.mark())
            try live.store.clock.save(clock)
            known = clock
        }
        watch = questions.watch { [weak self] in self?.look() }
        // NTP may also find that the clock is right.
        live.beforeCommit = { [weak self] in self?.look() }
        live.unconfirmedBoot = questions.boot
    }

    private func look() {
        guard let known else { return }
        let step = began - known.began
        guard abs(step) > Self.tolerance else { return finishIfRight() }
        self.known?.began += step
        wasWrong = wasWrong || abs(step) > Self.retained
        for source in hub.sources { for each in source.source.devices { each.device.clockWasSet(by: step, of: known.boot) } }
        live.clockWasSet(by: step) { [weak self] in try self?.correct(known, by: step) }
        hub.didReceive(
            SourceNotice(
                .information, "clock",
                "set by \(step / 1_000_000) s, and the times of earlier readings are corrected by the same amount"))
        finishIfRight()
    }

    private func correct(_ clock: UnsetClock, by step: Int64) throws {
        var next: UnsetClock? = clock
        next?.began += step
        if questions.isSynchronised() { next = nil }
        let count = try live.store.clock.correct(
            step, of: clock, uptime: uptime, next: next, now: live.loop.clock.now, owner: ProcessIdentity.current())
        if count > 0 {
            hub.didReceive(
                SourceNotice(.information, "clock", "corrected the times of \(count) \(count == 1 ? "sample" : "samples")"))
        }
    }

    /// A clock that was right is not set by NTP but by waking from sleep.
    private func finishIfRight() {
        guard known != nil, questions.isSynchronised() else { return }
        (watch, known, live.beforeCommit) = (nil, nil, nil)
        live.unconfirmedBoot = nil
        live.change { [store = live.store, boot = questions.boot] in try store.clock.confirm(boot) }
        live.change { [weak self] in try self?.closeEarlier() }
    }

    /// Ends the doubt about earlier boots, now that the time is known.
    private func closeEarlier() throws {
        guard let end = earlier else { return }
        let count = try live.store.clock.close(
            isDoubtful: wasWrong, through: end, now: live.loop.clock.now, owner: ProcessIdentity.current())
        earlier = nil
        guard count > 0 else { return }
        hub.didReceive(
            SourceNotice(
                .warning, "clock",
                "the power failed before the clock was set, and nobody knows the time of \(count) "
                    + "\(count == 1 ? "sample" : "samples"): see 'vitalgate quarantine list'"))
    }
}
