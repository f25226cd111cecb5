import CommandLineKit
import Dispatch
import EventLoopKit
import ExportEngine
import Glibc
import HealthServing
import Hub
import Pipeline
import Synchronization

/// Checks the alerts and delivers their events, until it is stopped. It sleeps until a commit, or until a reading is missing.
final class AlertProcess {
    private let context: CommandContext
    private let loop: EventLoop
    private let watch: AlertWatch
    private let runners: [AlertRunner]
    private let failure = Failure()
    private let hasBackups: Bool
    private var backupTimer: EventLoop.Timer?

    /// How often the state of the backups is looked at.
    private static let backupTick = Duration.seconds(300)

    /// The first error of a runner.
    private final class Failure: Sendable {
        private let error = Mutex<(any Error)?>(nil)
        var first: (any Error)? { error.withLock { $0 } }
        func note(_ new: any Error) { error.withLock { $0 = $0 ?? new } }
    }

    /// The time that receivers have to end their connections.
    private static let timeout = DispatchTimeInterval.seconds(1)

    init(_ context: CommandContext) throws {
        self.context = context
        let configuration = try context.configuration()
        let store = try context.access().openForWriting(creating: false)
        try store.alerts.forgetReceivers(except: configuration.alerts.map(\.name))
        loop = EventLoop(clock: MachineClock(context.machine))
        let (alarm, failure) = (loop.alarm, self.failure)
        let locations = configuration.backup.locations.map(\.name)
        hasBackups = !locations.isEmpty && !configuration.alerts.isEmpty
        let backups = BackupContext.canonical(store.path)
        // The receivers are known before the first check, so that they get its events.
        runners = try configuration.alerts.map { receiver in
            let alerts = BackupAlerts(
                receiver: receiver.name, store: backups, locations: locations, now: context.machine.now)
            return AlertRunner(try context.delivery(to: receiver), kind: receiver.kind.rawValue, alerts, context) { error in
                failure.note(error)
                alarm.ring()
            }
        }
        let (machine, runners) = (context.machine, self.runners)
        let (context, isSupervised) = (context, context.invocation.flag("--until-eof"))
        // A hub that does not read its pipe must not block the alerts.
        if isSupervised { _ = fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK) }
        watch = AlertWatch(
            path: store.path, bell: try CommitBell(store: store.path), now: { machine.now() },
            onCheck: { for runner in runners { runner.wake() } },
            onFailure: { error in
                if let error {
                    context.warn("alerts cannot be evaluated: \(error)")
                } else {
                    context.inform("alerts are evaluated again")
                }
                if isSupervised { Self.reportToHub(error.map { "failed alerts cannot be evaluated: \($0)" } ?? "working") }
                for runner in runners { runner.report(error == nil ? .resumed : .failed) }
            })
    }

    func run() throws -> ExitCode {
        HubSignals.watch(loop.alarm)
        loop.onBell = { [loop, failure] in if HubSignals.isStopAsked || failure.first != nil { loop.stop() } }
        if context.invocation.flag("--until-eof") {
            loop.watch(STDIN_FILENO) { [loop] _ in
                var bytes = [UInt8](repeating: 0, count: 64)
                if read(STDIN_FILENO, &bytes, bytes.count) <= 0 { loop.stop() }
            }
        }
        for runner in runners { runner.wake() }
        if hasBackups { lookAtBackups() }
        if !HubSignals.isStopAsked { loop.run() }
        watch.stop()
        let group = DispatchGroup()
        for runner in runners { runner.stop(group) }
        _ = group.wait(timeout: .now() + Self.timeout)
        if let error = failure.first { throw error }
        return .success
    }
}

extension AlertProcess {
    /// Writes a line for the hub's status.
    private static func reportToHub(_ text: String) {
        let line = text.split(separator: "\n").joined(separator: " ") + "\n"
        _ = write(STDOUT_FILENO, line, line.utf8.count)
    }

    /// Tells the receivers about the backups, now and every few minutes.
    private func lookAtBackups() {
        for runner in runners { runner.reportBackups() }
        backupTimer = loop.after(Self.backupTick) { [weak self] in self?.lookAtBackups() }
    }
}

/// Delivers to one receiver on its own queue, so that a slow receiver delays no other.
private final class AlertRunner: @unchecked Sendable {
    private let queue: DispatchQueue
    private let onFailure: @Sendable (any Error) -> Void
    private let context: CommandContext
    private let backups: BackupAlerts
    // Used only on the queue.
    private let delivery: AlertDelivery
    private var isPausing = false
    private var isStopped = false
    private var lastReported: String?

    init(
        _ delivery: AlertDelivery, kind: String, _ backups: BackupAlerts, _ context: CommandContext,
        onFailure: @escaping @Sendable (any Error) -> Void
    ) {
        (self.delivery, self.backups, self.context, self.onFailure) = (delivery, backups, context, onFailure)
        queue = DispatchQueue(label: "vitalgate.alerts.\(kind)", qos: .utility)
        lastReported = delivery.receiver.words
    }

    /// Delivers new events, except during the pause after a failure.
    func wake() {
        queue.async { [self] in if !isPausing { step() } }
    }

    /// Reports that alerts cannot be evaluated, or that they are again. It is tried once.
    func report(_ event: AlertMessage.Event) {
        queue.async { [self] in if !isStopped { _ = delivery.report(event) } }
    }

    /// Reports the state of the backups. A failure to write down that it was reported is not fatal: it is reported again.
    func reportBackups() {
        queue.async { [self] in
            guard !isStopped else { return }
            do {
                try backups.report(delivery)
            } catch {
                context.warn("alerts \(delivery.receiver.name): \(error)")
            }
        }
    }

    func stop(_ group: DispatchGroup) {
        queue.async(group: group) { [self] in
            isStopped = true
            delivery.finish()
        }
    }

    private func step() {
        guard !isStopped else { return }
        do {
            let outcome = try delivery.step()
            reportState()
            guard case .wait(let pause) = outcome else { return }
            isPausing = true
            let delay = DispatchTimeInterval.milliseconds(Int(pause / .milliseconds(1)) + 1)
            queue.asyncAfter(deadline: .now() + delay) { [self] in
                isPausing = false
                step()
            }
        } catch {
            onFailure(error)
        }
    }

    private func reportState() {
        let (name, words) = (delivery.receiver.name, delivery.receiver.words)
        guard words != lastReported else { return }
        lastReported = words
        if let words {
            context.warn("alerts \(name): delivery will be retried, nothing is lost: \(words)")
        } else {
            context.inform("alerts \(name): delivery resumed")
        }
    }
}

extension CommandContext {
    /// The deliveries to a receiver, with their own connection to the store.
    func delivery(to receiver: AlertReceiverConfiguration) throws -> AlertDelivery {
        let store = try access().openForWriting(creating: false)
        let (machine, configuration) = (machine, try configuration())
        return try AlertDelivery(
            receiver.name, sender: receiver.sender(store: store.identifier, now: { machine.now() }), store: store,
            text: AlertText(store, words: try .configured(self)) { configuration.unit(of: $0) }, now: { machine.now() })
    }
}
