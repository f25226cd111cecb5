import BlueZSource
import CommandLineKit
import EventLoopKit
import Glibc
import HealthModel
import HealthServing
import Hub
import Ingestion
import Pipeline
import Profiles
import SampleStore
import SerialSource
import SystemdKit

/// The hub process. It assembles the parts and handles signals.
final class HubProcess {
    private let context: CommandContext
    private let configuration: Configuration
    private let lock: HubLock
    private let store: SampleStore
    private let loop: EventLoop
    private let radio: Radio
    private var zoneWatch: ZoneWatch?
    private let live: LiveIngest
    private let hub: Hub
    private let manager: ServiceManager
    private let status: StatusServer
    private let supervisor: ProcessSupervisor
    private let pruning: DailyProcess
    private let backups: BackupProcess
    /// Rings after a commit while there are no alerts.
    private var alertBell: StoreBell?
    private let capture: CaptureWriter?
    private var settings: HubSettings
    private var failure: (any Error)?
    /// Whether everything had arrived when the loop ended. This is read before the hub stops, since a stopped hub waits for nothing.
    private var wasDone = false
    /// Whether it ends when everything has arrived (`--once`).
    private var isOnce = false
    private var isFollowed = false
    private var whenQuiet: EventLoop.Timer?
    private let steady: SteadyClock
    /// The radios of Home Assistant, and whether they are a source of the hub.
    private let homeAssistant: HomeAssistantService
    private var usesHomeAssistant = false

    /// The maximum duration of `--once`.
    private static let once = Duration.seconds(60)

    /// Assembles the hub.
    ///
    /// - Parameter path: The file that records frames, or `nil`.
    init(_ context: CommandContext, capture path: String?) throws {
        self.context = context
        configuration = try context.configuration()
        store = try Self.openStore(context)
        lock = try context.access().lock(store)
        let (machine, steady) = context.machine.steady(after: try store.ledger.lastEntry())
        try store.ledger.closeAbandoned()
        try store.quarantine.releaseKnown(received: machine.now().microseconds)
        let simulates = context.invocation.flag("--simulate")
        if simulates { try SimulatedSensors.adopt(in: store, at: context.machine.now()) }
        let (library, problems) = try ProfileCommand.folders(context).load(keepsVectors: false)
        for problem in problems { context.warn("profile left out: \(problem)") }
        try CorrectionNotices(context: context).atStart(store, library)
        settings = try Self.settings(context, store, library)
        self.steady = steady
        radio = Radio(machine: machine, zone: settings.zone)
        loop = radio.loop
        live = LiveIngest(store: store, now: machine.now, zone: settings.zone, loop: loop)
        hub = Hub(live: live)
        if let path { capture = try Self.capture(path, live, settings.zone, context) } else { capture = nil }
        manager = ServiceManager(loop: loop)
        status = StatusServer(hub: hub, machine: machine)
        supervisor = ProcessSupervisor(loop: loop)
        pruning = DailyProcess("prune", loop: loop) { ClockSteps.isSynchronised && !steady.isUntrusted }
        backups = BackupProcess(loop: loop, store: store) { !steady.isUntrusted }
        manager.isWell = { [live] in !live.isStuck }
        let service = RadioService(live: live, source: radio.source)
        radio.source.delegate = service
        homeAssistant = HomeAssistantService(
            radio: service, loop: loop, clock: .init(uptime: MachineClock.uptime, now: machine.now))
        hub.add(service, policy: configuration.hub.policy(of: service.name))
        let serial = SerialService(live: live, source: SerialSource(loop: loop, plugs: UdevPlugs(loop: loop)))
        hub.add(serial, policy: configuration.hub.policy(of: serial.name))
        let inbox = InboxService(live: live)
        hub.add(inbox, policy: configuration.hub.policy(of: inbox.name))
        addHomeAssistant()
        if configuration.api != nil || configuration.metrics != nil {
            hub.add(
                ServingProcess(serveCommand, loop: loop) { Self.serviceSettings(context) }, policy: .retry)
        }
        if simulates { hub.add(try SimulatedSensors(live: live), policy: .error) }
        let isVerbose = context.invocation.flag("--verbose")
        live.onFailure = { [weak self] in self?.end(with: $0) }
        hub.onNotice = { [capture] in
            capture?.note($0)
            context.log($0, isVerbose: isVerbose)
        }
        live.onNotice = hub.onNotice
        supervisor.onNotice = hub.onNotice
        supervisor.onChange = { [unowned hub] in hub.changed() }
        hub.processes = { [supervisor] in supervisor.states }
        pruning.onNotice = hub.onNotice
        backups.onNotice = hub.onNotice
        if let capture { live.onEvent = { [unowned capture] in capture.record($0) } }
        loop.onBell = { [weak self] in self?.answerSignals() }
        status.onInterest = { [weak self] in self?.follow(interest: $0) }
        status.onHurry = { [live] in live.needsPromptCommits = $0 }
    }

    /// Adds the radios of Home Assistant to the hub once there are any in the configuration.
    private func addHomeAssistant() {
        guard !usesHomeAssistant, !settings.sources.isEmpty else { return }
        usesHomeAssistant = true
        hub.add(homeAssistant, policy: .retry)
    }

    private static func capture(
        _ path: String, _ live: LiveIngest, _ zone: TimeZoneRules, _ context: CommandContext
    ) throws -> CaptureWriter {
        let limit = try context.invocation.integer("--capture-size", in: CaptureWriter.limits) ?? CaptureWriter.defaultLimit
        let writer = try CaptureWriter(
            path: path, limit: limit, head: CaptureHead(of: live.store, zone: zone), clock: live.loop.clock)
        writer.onNotice = { context.log($0, isVerbose: false) }
        context.inform("capture: writing \(writer.path), which contains \(CaptureHead.sentence)")
        return writer
    }

    /// Opens the store. Simulated readings need a separate store that `--store` names.
    private static func openStore(_ context: CommandContext) throws -> SampleStore {
        guard context.invocation.flag("--simulate") else {
            return try context.access().openForWriting(creating: true, takesStreams: true)
        }
        guard context.invocation.string("--store") != nil else {
            throw UsageError(.missingOption("--store"), command: "vitalgate run")
        }
        return try context.access().openDemo()
    }

    func run() throws -> ExitCode {
        if settings.devices.isEmpty, settings.inbox == nil {
            context.warn(
                "no device is adopted: find one with 'vitalgate scan' and add it with 'vitalgate devices adopt'")
        }
        follow(interest: false)
        try turn()
        return .success
    }

    /// Runs until all expected readings have arrived, or for one minute.
    func runOnce() throws -> ExitCode {
        guard !settings.devices.isEmpty || settings.inbox != nil else {
            context.note("vitalgate: nothing to read: no device is adopted and no inbox is configured")
            return .noInput
        }
        let limit = loop.after(Self.once) { [loop] in loop.stop() }
        isOnce = true
        live.needsPromptCommits = true
        status.onHurry = { _ in }
        follow(interest: false)
        try turn()
        limit.cancel()
        whenQuiet?.cancel()
        return wasDone ? .success : .tryAgain
    }

    /// Subscribes to changes and commits only while needed: by status followers, the service manager, or `--once`.
    private func follow(interest isFollowed: Bool) {
        self.isFollowed = isFollowed
        let hasObservers = isFollowed || isOnce || manager.isThere
        hub.onChange = hasObservers ? { [weak self] in self?.changed() } : nil
        live.onDelay = hasObservers ? { [weak self] in self?.changed() } : {}
        live.onCommit = hasObservers ? { [weak self] in self?.committed() } : {}
    }

    private func changed() {
        if isFollowed { status.changed() }
        manager.sendStatus(summary)
        if isOnce, hub.isDone { loop.stop() }
    }

    private func committed() {
        changed()
        guard isOnce else { return }
        whenQuiet?.cancel()
        whenQuiet = loop.after(LiveIngest.quiet) { [weak self] in self?.changed() }
    }

    /// Starts the status socket. If this fails, the hub still reads devices.
    private func serveStatus() {
        do throws(SourceError) {
            try status.start()
        } catch {
            context.warn("'vitalgate status' cannot reach this hub: \(error)")
        }
    }

    private func turn() throws {
        HubSignals.watch(loop.alarm)
        hub.apply(settings)
        let clock = HubClock(hub: hub, questions: .machine(loop, steady))
        do {
            try clock.start()
            try hub.start()
        } catch {
            try hub.stop()
            throw error
        }
        zoneWatch = ZoneWatch(loop: loop) { [weak self] in self?.lookAtZone() }
        serveStatus()
        manager.ready(summary)
        if !isOnce { startProcesses(configuration) }
        if !HubSignals.isStopAsked { withExtendedLifetime(clock) { loop.run() } }
        manager.stopping()
        supervisor.stop()
        pruning.stop()
        backups.stop()
        wasDone = hub.isDone
        status.stop()
        defer { capture?.close() }
        do {
            try hub.stop()
        } catch {
            let count = live.waitingSamples
            if count > 0 {
                context.warn(
                    "the last \(Readable.count(count, "reading")) could not be stored, and none was acknowledged to its device"
                )
            }
            throw HubFailure(failure ?? error)
        }
        try? store.checkpoint()
        if let failure { throw HubFailure(failure) }
    }

    private var summary: String { hub.summary(devices: settings.devices.count) }

    private func end(with error: any Error) {
        failure = error
        loop.stop()
    }

    // MARK: Signals

    private func answerSignals() {
        if HubSignals.isStopAsked { return loop.stop() }
        if HubSignals.takePowerFailure() {
            live.commitNow()
            context.inform("the power is about to fail: pending readings are written")
        }
        if HubSignals.takeReload() { reload() }
    }

    /// Applies all changed settings, or none if one is invalid.
    private func reload() {
        manager.reloading()
        defer { manager.ready(summary) }
        do {
            let (library, problems) = try ProfileCommand.folders(context).load(keepsVectors: false)
            for problem in problems { context.warn("profile: \(problem)") }
            guard problems.isEmpty else { throw ProfileErrors(problems) }
            settings = try Self.settings(context, store, library)
        } catch {
            context.warn("settings not reloaded, the previous ones stay in effect: \(Program.explain(error).message ?? "")")
            return
        }
        radio.zone = settings.zone
        addHomeAssistant()
        hub.apply(settings)
        if !isOnce, let configuration = try? context.configuration() { startProcesses(configuration, restarts: true) }
        if let configured = try? context.configuration().store, Self.absolute(configured) != Self.absolute(store.path) {
            context.warn(
                "the configuration names another store: restart the hub to use it, until then readings go to \(store.path)")
        }
        context.inform("settings reloaded: \(Readable.count(settings.devices.count, "adopted device"))")
    }

    /// Applies a new time zone of the machine. The zone in the configuration or `--time-zone` takes precedence.
    private func lookAtZone() {
        guard let zone = try? context.zone(), zone != settings.zone else { return }
        settings.zone = zone
        radio.zone = zone
        hub.apply(settings)
    }

    private static func settings(
        _ context: CommandContext, _ store: SampleStore, _ library: ProfileLibrary
    ) throws -> HubSettings {
        let configuration = try context.configuration()
        let inbox = context.invocation.string("--inbox") ?? configuration.hub.inbox
        var settings = HubSettings(
            library: library, devices: try store.devices.adopted(), aliases: try store.devices.aliases(),
            zone: try context.zone(),
            inbox: inbox.map {
                InboxSettings(folder: absolute($0), command: importCommand(context.invocation, configuration, store))
            })
        settings.readingsPerSecond = configuration.hub.readingsPerSecond
        settings.gathersHeartbeats = configuration.hub.heartbeats == .series
        settings.commitEvery = configuration.hub.commitEvery
        settings.sources = configuration.sources
        settings.estimates = try configuration.estimates(in: store)
        return settings
    }

    /// The command that imports one file. It gets all settings as arguments, so that an edit of the configuration in progress has
    /// no effect.
    private static func importCommand(
        _ invocation: Invocation, _ configuration: Configuration, _ store: SampleStore
    ) -> [String] {
        var command = [ProfileFolders.executable(), "--store", absolute(store.path), "--config", "/dev/null"]
        for folder in configuration.profiles { command += ["--profiles", folder] }
        command += ["import", "--format", "ndjson", "--no-links", "--leave-room", "--files-from", "-"]
        if let zone = invocation.string("--time-zone") ?? configuration.timeZone.configured { command += ["--time-zone", zone] }
        return command
    }

    /// The contents of the files that the service reads at its start, and the time zone.
    private static func serviceSettings(_ context: CommandContext) -> [[UInt8]] {
        let configuration = try? context.configuration()
        let (api, metrics) = (configuration?.api, configuration?.metrics)
        var paths = [configuration?.file] + [api, metrics?.server].flatMap { [$0?.certificate, $0?.key] }
        if case .file(let path)? = metrics?.token { paths.append(path) }
        let zone = (try? context.zone())?.identifier ?? ""
        return paths.map { $0.flatMap { SmallFile.read($0, limit: 1 << 20) } ?? [] } + [Array(zone.utf8)]
    }

    /// The command that serves the store over HTTP next to the hub.
    private var serveCommand: [String] {
        var command = command + ["api", "serve", "--until-eof"]
        for folder in context.invocation.strings("--profiles") { command += ["--profiles", Self.absolute(folder)] }
        if let inbox = context.invocation.string("--inbox") { command += ["--inbox", Self.absolute(inbox)] }
        if let zone = context.invocation.string("--time-zone") { command += ["--time-zone", zone] }
        return command
    }

    /// This program with the hub's store and configuration.
    private var command: [String] {
        var command = [ProfileFolders.executable(), "--store", Self.absolute(store.path)]
        if let path = context.invocation.string("--config") { command += ["--config", Self.absolute(path)] }
        return command
    }

    /// Runs the other processes: one for each target, one for alerts, and pruning. They read the configuration themselves because
    /// targets are defined only there.
    private func startProcesses(_ configuration: Configuration, restarts: Bool = false) {
        let command = command
        var commands: [String: [String]] = [:]
        for target in configuration.targets {
            commands["target \(target.name)"] = command + ["export", "--until-eof", "--", target.name]
        }
        // Programs of the user may need any amount of memory, so only the limit of the service is for them.
        var unlimited = Set(configuration.targets.filter { $0.kind == .command }.map { "target \($0.name)" })
        if configuration.alerts.contains(where: { $0.kind == .command }) { unlimited.insert("alerts") }
        if needsAlerts(configuration) { commands["alerts"] = command + ["alerts", "watch", "--until-eof"] }
        supervisor.run(commands, unlimited: unlimited, reporting: ["alerts"], restarts: restarts)
        pruning.run(configuration.prunesDaily ? command + ["store", "prune", "--yes"] : nil)
        backups.run(command + ["backup", "run", "--due", "--until-eof"], configuration.backup, zone: settings.zone)
    }

    /// Whether alerts have to be checked. Without alerts and receivers, this is asked again after each commit.
    private func needsAlerts(_ configuration: Configuration) -> Bool {
        let isNeeded = !configuration.alerts.isEmpty || (try? store.alerts.all().isEmpty) == false
        if isNeeded {
            if let alertBell { loop.unwatch(alertBell.descriptor) }
            alertBell = nil
        } else if alertBell == nil, let bell = try? StoreBell(store: store.path) {
            alertBell = bell
            loop.watch(bell.descriptor) { [weak self] _ in
                try? bell.wait()
                guard let self, (try? store.alerts.all().isEmpty) == false else { return }
                startProcesses((try? context.configuration()) ?? self.configuration)
            }
        }
        return isNeeded
    }

    private static func absolute(_ path: String) -> String { SmallFile.absolute(path) }
}

/// A failure of a running hub. It is never reported as wrong usage, so that a supervisor restarts the hub.
struct HubFailure: Error, CustomStringConvertible {
    let description: String
    init(_ error: any Error) { description = Program.explain(error).message ?? "\(error)" }
}
