import CommandLineKit
import EventLoopKit
import ExportEngine
import FleetExport
import Glibc
import HealthModel
import Hub
import Pipeline
import SampleStore

/// Keeps one target up to date. It delivers all changes and sleeps until the next commit.
final class ExportProcess {
    private let context: CommandContext
    private let name: String
    private let store: SampleStore
    private let exporter: any Exporter
    private let target: TargetRun
    /// Carries out the commands of the center, if the target is a fleet.
    private var agent: HubAgent?
    /// The time until a stopped fleet target reports again.
    private static let stoppedPause = Duration.seconds(60)
    private let loop: EventLoop
    private let bell: StoreBell
    private var pause: EventLoop.Timer?
    /// The time at which the exporter asked to run again, even without new changes.
    private var again: EventLoop.Timer?
    private var isTurnDue = false
    private var failure: (any Error)?
    /// The last message, which is not repeated.
    private var lastReported: (state: Target.State, words: String?)?
    /// The number of changes set aside at the last message.
    private var setAside = 0

    init(_ context: CommandContext, _ target: TargetConfiguration, _ store: SampleStore) throws {
        (self.context, self.store, name) = (context, store, target.name)
        let (settings, exporter) = try context.assemble(target, store)
        self.exporter = exporter
        self.target = try TargetRun(
            settings, exporter: exporter, reader: try SampleStore(path: store.path, access: .read), store: store,
            now: context.machine.now, isClockSet: { ClockSteps.isSynchronised })
        loop = EventLoop(clock: MachineClock(context.machine))
        if let fleet = exporter as? FleetExporter {
            agent = HubAgent(context, settings, store, fleet) { [run = self.target] in try run.waiting }
        }
        // This precedes the first read, so that a commit in between is not missed.
        bell = try StoreBell(store: store.path)
    }

    // MARK: Once

    /// Delivers all changes and returns.
    func runOnce() throws -> ExitCode {
        HubSignals.watch(loop.alarm)
        var progress = ProgressLine(terminal: context.streams.errorTerminal, clock: Monotonic.nanoseconds)
        let before = try store.targets.target(name)
        while !HubSignals.isStopAsked {
            let outcome = try target.step()
            progress.update(
                "\(Readable.count(target.target.delivered - (before?.delivered ?? 0), "change")) delivered, "
                    + "\((try? target.waiting) ?? 0) remaining")
            if outcome == .more { continue }
            if try agent?.attend(to: target, outcome) == true { continue }
            progress.finish()
            try? exporter.finish()
            return try end(outcome, before)
        }
        progress.finish()
        return .tryAgain
    }

    private func end(_ outcome: TargetRun.Outcome, _ before: Target?) throws -> ExitCode {
        let target = self.target.target
        let delivered = target.delivered - (before?.delivered ?? 0)
        let setAside = try store.targets.setAsideSummary(of: name).count
        var words = "\(name): \(Readable.count(delivered, "change")) delivered"
        if target.leftOut > (before?.leftOut ?? 0) {
            words += ", of which it cannot store \(target.leftOut - (before?.leftOut ?? 0))"
        }
        if setAside > 0 { words += ", \(setAside) set aside (see 'vitalgate targets status \(name)')" }
        switch outcome {
        case .more, .upToDate:
            context.note(words + "; it is up to date")
            return setAside > 0 ? .dataError : .success
        case .wait:
            context.note(words + "; \(try self.target.waiting) waiting: \(TerminalText.sanitized(target.words ?? ""))")
            return .tryAgain
        case .stopped:
            context.note(words + "; delivery stopped: \(TerminalText.sanitized(target.words ?? ""))")
            return .unavailable
        }
    }

    // MARK: For ever

    /// Keeps the target up to date until it is stopped.
    func run() throws -> ExitCode {
        HubSignals.watch(loop.alarm)
        let fleet = exporter as? FleetExporter
        fleet?.listen { [alarm = loop.alarm] in alarm.ring() }
        loop.onBell = { [loop, unowned self] in
            if HubSignals.isStopAsked { return loop.stop() }
            // During a pause, the next attempt brings the orders.
            if fleet?.isNudged == true, pause == nil { turn() }
        }
        loop.watch(bell.descriptor) { [weak self] _ in self?.rung() }
        if context.invocation.flag("--until-eof") {
            loop.watch(STDIN_FILENO) { [weak self] _ in self?.didReadInput() }
        }
        turn()
        if !HubSignals.isStopAsked, failure == nil { loop.run() }
        if let failure { throw failure }
        try? exporter.finish()
        return .success
    }

    private func didReadInput() {
        var bytes = [UInt8](repeating: 0, count: 64)
        guard read(STDIN_FILENO, &bytes, bytes.count) <= 0 else { return }
        loop.stop()
    }

    private func rung() {
        guarded {
            try bell.wait()
            try store.checkPlace()
            // During a pause, only a change of state by the user starts a delivery.
            if pause != nil, try store.targets.target(name)?.state == .waiting { return }
            turn()
        }
    }

    private func turn() {
        for timer in [pause, again] { timer?.cancel() }
        (pause, again) = (nil, nil)
        guard !isTurnDue else { return }
        isTurnDue = true
        loop.after(.zero) { [weak self] in
            self?.isTurnDue = false
            self?.guarded { try self?.step() }
        }
    }

    private func step() throws {
        let outcome = try target.step()
        if try agent?.attend(to: target, outcome) == true { return turn() }
        reportState()
        switch outcome {
        case .more: turn()
        case .stopped where agent != nil: again = loop.after(Self.stoppedPause) { [weak self] in self?.turn() }
        case .stopped:
            // A person may have repaired the target without a message to the hub.
            again = loop.after(target.pauseOfStopped) { [weak self] in
                self?.target.reconsider()
                self?.turn()
            }
        case .upToDate(nil): break
        case .upToDate(let duration?): again = loop.after(duration) { [weak self] in self?.turn() }
        case .wait(let duration): pause = loop.after(duration) { [weak self] in self?.turn() }
        }
    }

    private func guarded(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            failure = error
            loop.stop()
        }
    }

    private func reportState() {
        let target = self.target.target
        if self.target.refusedOfLastStep > 0 { guarded(reportRejections) }
        guard lastReported?.state != target.state || lastReported?.words != target.words else { return }
        defer { lastReported = (target.state, target.words) }
        let words = target.words ?? ""
        switch target.state {
        case .delivering: if lastReported != nil { context.inform("target \(name): delivery resumed") }
        case .waiting: context.warn("target \(name): delivery will be retried, nothing is lost: \(words)")
        case .stopped:
            context.warn("target \(name): delivery stopped (fix the cause and run 'vitalgate targets retry \(name)'): \(words)")
        }
    }

    /// Reports changes that were set aside: the first ones, and then each time their number has grown by half, so that the log is
    /// not flooded.
    private func reportRejections() throws {
        let (count, words) = try store.targets.setAsideSummary(of: name)
        defer { setAside = count > 0 && setAside == 0 ? count : setAside }
        guard count > setAside + setAside / 2 else { return }
        setAside = count
        context.warn(
            "target \(name): \(Readable.count(count, "change")) set aside so far, others are delivered "
                + "(see 'vitalgate targets status \(name)'): \(words ?? "")")
    }
}
