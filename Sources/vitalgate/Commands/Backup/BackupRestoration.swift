import CommandLineKit
import EventLoopKit
import Glibc
import HealthModel
import Hub
import HubBackup
import Ingestion
import SampleStore

/// `backup restore`: makes this machine the successor of the one that was backed up.
struct BackupRestoration {
    private let context: CommandContext
    private let backup: BackupContext
    private let loop: EventLoop

    init(_ context: CommandContext) throws {
        self.context = context
        backup = try BackupContext(context)
        loop = EventLoop(clock: MachineClock(context.machine))
        HubSignals.watch(loop.alarm)
    }

    func run() throws -> ExitCode {
        let invocation = context.invocation
        let zone = try context.zone()
        let time = try context.instant(option: "--at", zone: zone)
        let location = try BackupLocation(invocation.argument("LOCATION") ?? "", in: SmallFile.absolute("."))
        guard location.isThere else {
            throw BackupFailure(.noRepository, "\(location.address) has no backups: connect the disk, or check the path")
        }
        let restic = try backup.restic(
            location, key: try backup.givenKey() ?? BackupKeyFile.key(context.typedSecret("Key of the backups (twelve words)")),
            credentials: invocation.string("--credentials").map(SmallFile.absolute))
        // The service's user could have put links into the path of the store. Only the backup and files of root need root.
        try FolderOwner.acting(asOwnerOf: backup.configuration.store) { try restore(restic, before: time, zone) }
        do {
            try BackupAddition.allowRestored(context)
        } catch {
            context.warn("the service may not reach the locations of its backups: \(error)")
        }
        return .success
    }

    private func restore(_ restic: Restic, before time: Instant?, _ zone: TimeZoneRules) throws {
        try ConfigurationFile.createFolder(SmallFile.folder(of: backup.store))
        let lock: HubLock
        do throws(StoreError) {
            lock = try HubLock(store: backup.store)
        } catch {
            guard error.kind == .busy else { throw error }
            throw BackupFailure(.locked, "the hub is running: stop it first, with 'sudo systemctl stop vitalgate'")
        }
        try withExtendedLifetime(lock) {
            let restore = BackupRestore(store: backup.store, restic: restic)
            let choice = try choice(try restore.choices(), before: time, zone)
            context.note("restoring the backup of \(BackupContext.local(choice.time, zone))")
            let result = try restore.restore(
                choice, replaces: context.invocation.flag("--replace"), configuration: configurationPath,
                restoresFiles: !context.invocation.flag("--store-only"), allowed: allowed
            ) { store in
                // The old machine is gone. Targets accept this one from now on, and refuse the old one if it comes back.
                try store.targets.confirm(holder: context.machine.holder(ofStore: backup.store).id)
            }
            try BackupState.takeOver(ofStore: backup.store)
            try report(result)
        }
    }

    /// Where the configuration belongs on this machine: the named file, or the system's or the user's.
    private var configurationPath: String? {
        if let named = context.invocation.string("--config") { return SmallFile.absolute(named) }
        return backup.configuration.file
    }

    /// Folders of Vitalgate and of Bluetooth.
    private var allowed: [String] {
        var folders = ["/etc/vitalgate", SmallFile.folder(of: backup.store)]
        if let path = configurationPath { folders.append(SmallFile.folder(of: path)) }
        if let home = context.machine.home { folders += [home + "/.config/vitalgate", home + "/.local/share/vitalgate"] }
        return BackupRestore.ownFolders(among: folders) + [BackupFiles.bonds, backup.store + "-"]
    }

    private func choice(
        _ choices: [BackupRestore.Choice], before time: Instant?, _ zone: TimeZoneRules
    ) throws -> BackupRestore.Choice {
        let hub = context.invocation.string("--hub")
        let hubs = Set(choices.map(\.hub)).sorted()
        guard hub != nil || hubs.count <= 1 else {
            let list = hubs.map { hub in
                "\(hub), last backup \(choices.last { $0.hub == hub }.map { BackupContext.local($0.time, zone) } ?? "")"
            }
            throw BackupFailure(
                .invalid, "several hubs use this location, choose one with --hub: \(list.joined(separator: "; "))")
        }
        let fitting = choices.filter { each in (each.hub == hub || hub == nil) && time.map { each.time <= $0 } != false }
        guard let last = fitting.last else {
            let first = choices.first.map { ": the first is of \(BackupContext.local($0.time, zone))" } ?? ""
            throw BackupFailure(
                .noRepository, "there is no verified backup to restore\(choices.isEmpty ? "" : " before this time\(first)")")
        }
        return last
    }

    private func report(_ result: BackupRestore.Result) throws {
        let store = result.manifest.store
        context.note(
            "restored \(Readable.count(store.samples, "sample")) and \(Readable.count(result.restored.count - 1, "file")) to "
                + backup.store)
        for path in result.retained { context.note("kept the earlier file as \(path)") }
        for words in result.notRestored { context.warn("not restored: \(words)") }
        if result.restored.contains(where: { $0.hasPrefix(BackupFiles.bonds) }) {
            context.note(
                "restart Bluetooth with 'sudo systemctl restart bluetooth'; with another Bluetooth adapter, pair the devices again"
            )
        }
        let restored = try SampleStore(path: backup.store, access: .read)
        let targets = try restored.targets.all()
        guard !targets.isEmpty else { return }
        context.note("the old machine must not send to the targets any more. Compare each with the restored store:")
        for target in targets { context.note("  vitalgate targets verify \(target.name)") }
        context.note(
            "If a target is a folder of files or a PostgreSQL database, first import the readings that it received after the backup, with "
                + "'vitalgate import --from NAME'")
    }
}
