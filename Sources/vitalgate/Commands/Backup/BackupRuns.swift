import CommandLineKit
import EventLoopKit
import Glibc
import HealthModel
import Hub
import HubBackup
import Ingestion
import SampleStore

/// `backup run` and `backup check`: make backups, and prove them.
struct BackupRuns {
    private let context: CommandContext
    private let backup: BackupContext
    private let loop: EventLoop
    private let files: BackupFiles

    init(_ context: CommandContext) throws {
        self.context = context
        backup = try BackupContext(context)
        loop = EventLoop(clock: MachineClock(context.machine))
        HubSignals.watch(loop.alarm)
        // As root, the keys of paired devices are copied beside the store first, so that the hub can read them later.
        let bonds = Self.readBonds()
        try context.becomeStoreOwner()
        if let bonds { Self.keep(bonds, backup.store) }
        files = Self.files(backup, context)
    }

    // MARK: The files

    private static func files(_ backup: BackupContext, _ context: CommandContext) -> BackupFiles {
        let configuration = backup.configuration
        let state = BackupState.folder(ofStore: backup.store)
        return BackupFiles(
            configuration: configuration.file.map(BackupContext.canonical), home: context.machine.home,
            folders: configuration.profiles.map(SmallFile.absolute) + ["/etc/vitalgate/profiles.d"],
            keys: configuration.backup.locations.map { BackupKeyFile(backup.store, $0.name).path },
            bonds: access(BackupFiles.bonds, R_OK) == 0 ? BackupFiles.bonds : state + "/bonds",
            excluded: [backup.store, state] + [configuration.hub.inbox].compactMap { $0 })
    }

    private static func readBonds() -> [(path: String, bytes: [UInt8])]? {
        guard geteuid() == 0, access(BackupFiles.bonds, R_OK) == 0 else { return nil }
        let items = BackupFiles(
            configuration: nil, home: nil, folders: [], keys: [], bonds: BackupFiles.bonds, excluded: []
        ).items
        return items.compactMap { item in SmallFile.read(item.path, limit: 65_536).map { (item.path, $0) } }
    }

    /// Keeps a copy that the owner of the store can read.
    private static func keep(_ bonds: [(path: String, bytes: [UInt8])], _ store: String) {
        guard geteuid() != 0 else { return }
        for (path, bytes) in bonds {
            let place = BackupState.folder(ofStore: store) + "/bonds" + path.dropFirst(BackupFiles.bonds.count)
            try? ConfigurationFile.createFolder(SmallFile.folder(of: place))
            try? SmallFile.replace(place, with: String(decoding: bytes, as: UTF8.self), mode: 0o600)
        }
        chmod(BackupState.folder(ofStore: store), 0o700)
    }

    // MARK: Runs

    func run() throws -> ExitCode {
        let isDue = context.invocation.flag("--due")
        // The hub's own runs are in no hurry.
        if isDue { _ = nice(19) }
        var code = ExitCode.success
        for location in try backup.locations() {
            if HubSignals.isStopAsked { return .tryAgain }
            let due = try isDue ? self.due(location) : BackupSchedule.Due(backup: true)
            do {
                if due.backup, !isDue || location.location.isThere { try make(location) }
                if due.drill, location.location.isThere { try prove(location) }
            } catch let failure as BackupFailure {
                // A disk that is not connected is waited for.
                if isDue, failure.kind == .away || failure.kind == .stopped { continue }
                context.streams.note(
                    "\(isDue ? "warning: backup \(location.name)" : "vitalgate: \(location.name)"): "
                        + TerminalText.sanitized(failure.description), priority: isDue ? .warning : .error)
                code = BackupCommand.exitCode(of: failure)
            }
        }
        return code
    }

    private func due(_ location: BackupLocationConfiguration) throws -> BackupSchedule.Due {
        let place = BackupState(ofStore: backup.store).places[location.name] ?? BackupState.Place()
        let erasures = try context.openForReading().erasureCount
        let zone = try context.machine.zone(backup.configuration.timeZone)
        return backup.configuration.backup.schedule.due(place, erasures: erasures, zone: zone, now: context.machine.now())
    }

    /// restic on a location. Without restic, the key or the credentials, nothing can be tried, which is written down as well.
    private func restic(_ location: BackupLocationConfiguration) throws -> Restic {
        let start = context.machine.now()
        do {
            return try backup.restic(location)
        } catch {
            let failure = error as? BackupFailure ?? BackupFailure(.permission, "\(error)")
            try BackupState.note(failure, of: location.name, ofStore: backup.store, at: start)
            throw failure
        }
    }

    private func make(_ location: BackupLocationConfiguration) throws {
        let run = BackupRun(
            location.name, store: backup.store, restic: try restic(location), files: files,
            schedule: backup.configuration.backup.schedule, machine: context.machine.hostName,
            holder: context.machine.holder(ofStore: backup.store), now: context.machine.now,
            isStopped: BackupContext.stopCheck(untilEOF: backup.endsWithInput))
        let result: BackupRun.Result
        do {
            result = try run.make()
        } catch let error as StoreError {
            throw BackupFailure(error.kind == .busy ? .locked : .failed, error.description)
        }
        let (store, files) = (result.manifest.store, result.manifest.files)
        context.note(
            "\(location.name): backed up \(Readable.count(store.samples, "sample")) (\(Readable.bytes(store.bytes))) and "
                + "\(Readable.count(files.count, "file")), \(Readable.bytes(result.added)) added")
        if result.removed > 0 {
            context.note("\(location.name): removed \(Readable.count(result.removed, "backup")) with data of an erased person")
        }
        for path in result.manifest.leftOut { context.warn("\(location.name): not in the backup: \(path)") }
        if !files.contains(where: { $0.role == .bond }), geteuid() != 0, access(BackupFiles.bonds, F_OK) == 0,
            !context.invocation.flag("--due")
        {
            context.note(
                "\(location.name): the keys of paired Bluetooth devices are not in the backup, since only root can read them")
        }
        if let warning = result.warning { context.warn("\(location.name): \(warning)") }
    }

    func check() throws -> ExitCode {
        var code = ExitCode.success
        for location in try backup.locations() {
            do {
                try prove(location)
            } catch let failure as BackupFailure {
                context.streams.note(
                    "vitalgate: \(location.name): \(TerminalText.sanitized(failure.description))", priority: .error)
                code = BackupCommand.exitCode(of: failure)
            }
        }
        return code
    }

    private func prove(_ location: BackupLocationConfiguration) throws {
        let drill = BackupDrill(
            location.name, store: backup.store, restic: try restic(location),
            restores: backup.configuration.backup.schedule.drillRestores, now: context.machine.now)
        let result: BackupDrill.Result
        do {
            result = try drill.run()
        } catch let error as StoreError {
            throw BackupFailure(.damaged, error.description)
        }
        let store = result.manifest.store
        context.note(
            "\(location.name): the backup of \(result.manifest.time.prefix(19)) was \(result.isRestored ? "restored and checked" : "read and compared"): "
                + "\(Readable.count(store.samples, "sample")), the store has \(Readable.count(result.live)) now")
    }
}
