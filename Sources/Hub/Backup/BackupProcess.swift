import EventLoopKit
import HealthModel
import HubBackup
import Ingestion
import SampleStore

/// Makes the backups of the configuration in a process beside the hub (`vitalgate backup run --due`), when one is due and its location
/// is there.
public final class BackupProcess {
    private let loop: EventLoop
    private let store: SampleStore
    private let isClockRight: () -> Bool
    private var plan: (command: [String], configuration: BackupConfiguration, zone: TimeZoneRules)?
    private var timer: EventLoop.Timer?
    private var process: KeptProcess?
    /// Called with notices for the log.
    public var onNotice: (SourceNotice) -> Void = { _ in }

    private static let first = Duration.seconds(120)
    private static let tick = Duration.seconds(300)
    private static let patience = Duration.milliseconds(1500)

    /// - Parameter isClockRight: whether the machine's clock can be right, checked before each run. Backups are kept by their dates.
    public init(loop: EventLoop, store: SampleStore, isClockRight: @escaping () -> Bool) {
        (self.loop, self.store, self.isClockRight) = (loop, store, isClockRight)
    }

    /// Sets the command, with its program's path first. Without locations, nothing runs.
    public func run(_ command: [String], _ configuration: BackupConfiguration, zone: TimeZoneRules) {
        plan = configuration.locations.isEmpty ? nil : (command, configuration, zone)
        if plan == nil {
            timer?.cancel()
            timer = nil
        } else if timer == nil {
            wait(Self.first)
        }
    }

    /// Ends the running process. An unfinished backup is removed by the next one.
    public func stop() {
        plan = nil
        timer?.cancel()
        timer = nil
        process?.end(within: Self.patience)
        process = nil
    }

    private func wait(_ delay: Duration) { timer = loop.after(delay) { [weak self] in self?.look() } }

    private func look() {
        wait(Self.tick)
        guard process == nil, let plan, isClockRight(), PlausibleClock.allows(loop.clock.now) else { return }
        guard needsRun(plan.configuration, plan.zone) else { return }
        do throws(SystemFailure) {
            process = try KeptProcess(plan.command, memory: .serving, loop: loop) { [weak self] in self?.ended($0) }
        } catch {
            onNotice(SourceNotice(.warning, "backup", "\(error)"))
        }
    }

    /// Whether any location that is there needs a backup or a drill. One that is away is only noted, once.
    private func needsRun(_ configuration: BackupConfiguration, _ zone: TimeZoneRules) -> Bool {
        let path = StatusSocket.canonical(store.path)
        let state = BackupState(ofStore: path)
        let erasures = (try? store.erasureCount) ?? 0
        let now = loop.clock.now
        var isNeeded = false
        for each in configuration.locations {
            let place = state.places[each.name] ?? BackupState.Place()
            guard !configuration.schedule.due(place, erasures: erasures, zone: zone, now: now).isNothing else { continue }
            if each.location.isThere {
                isNeeded = true
            } else if place.away == nil {
                onNotice(SourceNotice(.information, "backup", "the location \(each.name) is not connected, waiting for it"))
                try? BackupState.change(each.name, ofStore: path) { $0.away = now.microseconds }
            }
        }
        return isNeeded
    }

    private func ended(_ status: Int32) {
        process = nil
        // The process has logged its reason.
        guard status & 0x7F != 0 else { return }
        onNotice(SourceNotice(.warning, "backup", "the process ended (\(KeptProcess.words(for: status)))"))
    }
}
