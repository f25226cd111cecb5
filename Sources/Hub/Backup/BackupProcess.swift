import EventLoopKit
import HealthModel
import HubBackup
import Ingestion
import SampleStore

/// Makes the backups of the configuration in a process beside the hub (`vitalgate backup run --due`), when one is due and its location
/// is there.
package final class BackupProcess {
    private let loop: EventLoop
    private let store: SampleStore
    private let isClockRight: () -> Bool
    private var plan: (command: [String], configuration: BackupConfiguration, zone: TimeZoneRules)?
    private var timer: EventLoop.Timer?
    private var process: SupervisedProcess?
    /// Called with notices for the log.
    package var onNotice: (SourceNotice) -> Void = { _ in }

    private static let first = Duration.seconds(120)
    private static let tick = Duration.seconds(300)
    private static let timeout = Duration.milliseconds(1500)

    /// - Parameter isClockRight: whether the machine's clock can be right, checked before each run. Backups are kept by their dates.
    package init(loop: EventLoop, store: SampleStore, isClockRight: @escaping () -> Bool) {
        (self.loop, self.store, self.isClockRight) = (loop, store, isClockRight)
    }

    /// Sets the command, with its program's path first. Without locations, nothing runs.
    package func run(_ command: [String], _ configuration: BackupConfiguration, zone: TimeZoneRules) {
        plan = configuration.locations.isEmpty ? nil : (command, configuration, zone)
        if plan == nil {
            timer?.cancel()
            timer = nil
        } else if timer == nil {
            wait(Self.first)
        }
    }

    /// Ends the running process. An unfinished backup is removed by the next one.
    package func stop() {
        plan = nil
        timer?.cancel()
        timer = nil
        process?.end(within: Self.timeout)
        process = nil
    }

    private func wait(_ delay: Duration) { timer = loop.after(delay) { [weak self] in self?.look() } }

    private func look() {
        wait(Self.tick)
        guard process == nil, let plan, isClockRight(), PlausibleClock.allows(loop.clock.now) else { return }
        guard needsRun(plan.configuration, plan.zone) else { return }
        do throws(SystemFailure) {
            process = try SupervisedProcess(plan.command, memory: .serving, loop: loop) { [weak self] in self?.ended($0) }
        } catch {
            onNotice(SourceNotice(.warning, "backup", "\(error)"))
        }
    }

    /// The locations that need a backup or a drill, whether they are there or not.
    private func due(_ configuration: BackupConfiguration, _ zone: TimeZoneRules) -> [BackupLocationConfiguration] {
        let state = BackupState(ofStore: StatusSocket.canonical(store.path))
        let erasures = (try? store.erasureCount) ?? 0
        return configuration.locations.filter { each in
            let place = state.places[each.name] ?? BackupState.Place()
            return !configuration.schedule.due(place, erasures: erasures, zone: zone, now: loop.clock.now).isNothing
        }
    }

    /// Whether any location that is there needs a backup or a drill. One that is away is only noted, once.
    private func needsRun(_ configuration: BackupConfiguration, _ zone: TimeZoneRules) -> Bool {
        let path = StatusSocket.canonical(store.path)
        let due = due(configuration, zone)
        let state = BackupState(ofStore: path)
        for each in due where !each.location.isThere && state.places[each.name]?.away == nil {
            onNotice(SourceNotice(.information, "backup", "the location \(each.name) is not connected, waiting for it"))
            try? BackupState.note(
                BackupFailure(.away, "it is not connected"), of: each.name, ofStore: path, at: loop.clock.now)
        }
        return due.contains { $0.location.isThere }
    }

    private func ended(_ status: Int32) {
        process = nil
        // The process has logged and written down its reason.
        guard status & 0x7F != 0, let plan else { return }
        let words = "the process ended (\(SupervisedProcess.words(for: status)))"
        onNotice(SourceNotice(.warning, "backup", words))
        // Otherwise it would be started again every few minutes, such as one for which there is too little memory.
        let failure = BackupFailure(.failed, words)
        for each in due(plan.configuration, plan.zone) where each.location.isThere {
            try? BackupState.note(failure, of: each.name, ofStore: StatusSocket.canonical(store.path), at: loop.clock.now)
        }
    }
}
