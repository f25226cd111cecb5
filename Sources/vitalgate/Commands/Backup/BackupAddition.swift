import CommandLineKit
import Glibc
import Hub
import HubBackup
import Ingestion
import SampleStore

/// `backup add` and `backup remove`: change the locations of the configuration.
///
/// The command changes the configuration and the service as the user that runs it, usually root. The location is used only by processes
/// that become the owner of the store first.
struct BackupAddition {
    private let context: CommandContext
    private let backup: BackupContext
    private let file: ConfigurationFile

    private static let unit = "vitalgate.service"
    private static let dropIn = "/etc/systemd/system/vitalgate.service.d/backup.conf"

    init(_ context: CommandContext) throws {
        self.context = context
        backup = try BackupContext(context)
        file = try ConfigurationFile(context)
    }

    func run() throws -> ExitCode {
        let invocation = context.invocation
        guard Restic.program != nil else {
            throw BackupFailure(.missingProgram, "restic is not installed: run 'sudo apt-get install restic'")
        }
        // Its folder must exist, and a backup of nothing is a mistake.
        _ = try context.openForReading()
        let location = try BackupLocation(invocation.argument("LOCATION") ?? "", in: SmallFile.absolute("."))
        let name = invocation.string("--name") ?? location.usualName
        guard BackupLocationConfiguration.isValid(name: name) else {
            throw invocation.invalid("--name", value: name, expected: "a name of a to z, 0 to 9 and -")
        }
        guard !backup.configuration.backup.locations.contains(where: { $0.name == name || $0.location == location }) else {
            throw ConfigurationError(
                "\(file.path) already has this location or another one with the name '\(name)': choose a name with --name, or remove "
                    + "it with 'vitalgate backup remove \(name)'", isOfOption: true)
        }
        let credentials = invocation.string("--credentials").map(SmallFile.absolute)
        let object = BackupLocationConfiguration.object(location, credentials: credentials)
        let text = try TargetText.adding(name, object, to: file.bytes, under: BackupLocationConfiguration.path)
        let changed = try Configuration(text: text, of: file.path, machine: context.machine)
        guard changed.backup.locations.contains(where: { $0.name == name && $0.location == location }) else {
            throw file.unusual("add the location")
        }
        let madeFolder = try makeFolder(location)
        try file.replace(with: text)
        let key: BackupKey
        do {
            key = try prepare(name)
        } catch {
            // As if nothing had been done.
            try? ConfigurationFile(context).replace(with: file.bytes)
            if madeFolder, let folder = location.folder { rmdir(folder) }
            throw error
        }
        context.note("Write these twelve words down and keep them on paper, away from this machine:\n")
        try BackupKeyFile.show(key, context)
        context.note(
            """

            Without them, the backups cannot be read if this machine is lost. 'vitalgate backup key \(name)' shows them again.
            added the location '\(name)' to \(file.path)
            """)
        if location.isOnDisk(of: backup.store) {
            context.warn("\(location.address) is on the disk of the store: if it fails, both are lost")
        }
        try Self.allow(changed.backup.locations, file, context)
        guard !invocation.flag("--no-run") else { return .success }
        return runFirst(name)
    }

    /// Creates the folder, but none above it: a missing folder above it means that the disk is not connected.
    private func makeFolder(_ location: BackupLocation) throws -> Bool {
        guard let folder = location.folder else { return false }
        return try FolderOwner.acting(asOwnerOf: folder) {
            var isNew = true
            if mkdir(folder, 0o700) != 0 {
                guard errno == EEXIST else {
                    throw BackupFailure(
                        errno == ENOENT ? .away : .permission,
                        "\(folder): \(String(cString: strerror(errno)))"
                            + (errno == ENOENT ? ": connect the disk, or create the folder" : ""))
                }
                isNew = false
            }
            // An existing folder is given away only if it is empty.
            if getuid() == 0, let owner = FolderOwner.owner(of: backup.configuration.store),
                isNew || rmdir(folder) == 0 && mkdir(folder, 0o700) == 0
            {
                try Self.giveAway(folder, to: owner)
            }
            return isNew
        }
    }

    /// Gives a folder that this user has just made to another one.
    private static func giveAway(_ folder: String, to owner: (user: uid_t, group: gid_t)) throws {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        defer { if descriptor >= 0 { close(descriptor) } }
        var status = stat()
        // Another user could have replaced it with a link to a folder of root.
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { return }
        // Some file systems have no owners. Whether the hub can write there is seen when it is prepared.
        try FolderOwner.actingAsRoot { _ = fchown(descriptor, owner.user, owner.group) }
    }

    /// Creates the repository, or opens the one that is there.
    private func prepare(_ name: String) throws -> BackupKey {
        if let key = try backup.givenKey() {
            try enter(key, name)
            return key
        }
        // One paper for all locations.
        let other = backup.configuration.backup.locations.lazy.compactMap { try? BackupKeyFile(backup.store, $0.name).key() }
            .first
        let key = other ?? .random()
        do {
            try enter(key, name)
            return key
        } catch let failure as BackupFailure where failure.kind == .wrongKey {
            context.note("the location already has backups")
            let typed = try BackupKeyFile.key(context.typedSecret("Their key (twelve words)"))
            try enter(typed, name)
            return typed
        }
    }

    private func enter(_ key: BackupKey, _ name: String) throws {
        let run = ProgramRun.run(
            command + ["backup", "key", "--enter", name], input: Array((key.words + "\n").utf8), seconds: 900)
        guard run.code != 0 else { return }
        let prefix = "vitalgate: "
        let words = run.words.split(separator: "\n").last.map(String.init) ?? "the location could not be prepared"
        throw BackupFailure(
            run.code == ExitCode.noPermission.rawValue && words.contains("key") ? .wrongKey : .failed,
            words.hasPrefix(prefix) ? String(words.dropFirst(prefix.count)) : words)
    }

    /// This program with the same store and configuration.
    private var command: [String] {
        [ProfileFolders.executable(), "--store", backup.store, "--config", file.path]
    }

    private func runFirst(_ name: String) -> ExitCode {
        let run = ProgramRun.run(command + ["backup", "run", name], seconds: 6 * 3600)
        let words = run.words.hasSuffix("\n") ? String(run.words.dropLast()) : run.words
        context.note(words)
        return ExitCode(rawValue: run.code) ?? .software
    }

    // MARK: The service

    /// Lets the service write to the folders and reach the servers. It may do neither by default.
    private static func allow(
        _ locations: [BackupLocationConfiguration], _ file: ConfigurationFile, _ context: CommandContext
    ) throws {
        guard file.isOfService else {
            context.note("the running hub makes a backup every day, after it has read the configuration again")
            return
        }
        let folders = locations.compactMap(\.location.folder)
        var lines = folders.map { "ReadWritePaths=-\"\(escaped($0))\"" }
        if folders.count < locations.count {
            lines += ["IPAddressAllow=any", "RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET AF_INET6"]
        }
        if locations.isEmpty {
            guard access(dropIn, F_OK) == 0 else { return }
            unlink(dropIn)
        } else {
            try ConfigurationFile.createFolder(SmallFile.folder(of: dropIn))
            try ConfigurationFile.replace(
                dropIn,
                with: "# Written by 'vitalgate backup add' and 'vitalgate backup remove'.\n[Service]\n"
                    + lines.joined(separator: "\n") + "\n")
        }
        for words in [["daemon-reload"], ["try-restart", unit]] {
            let run = ProgramRun.run(["/usr/bin/systemctl"] + words, seconds: 120)
            guard run.code == 0 else {
                throw ConfigurationError("'systemctl \(words.joined(separator: " "))' failed: \(run.words)")
            }
        }
    }

    /// A text within quotes in a unit file (systemd.syntax(7)), in which % begins a specifier.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%")
    }

    /// Lets the service reach the locations in a restored configuration.
    static func allowRestored(_ context: CommandContext) throws {
        let file = try ConfigurationFile(context)
        guard file.isOfService else { return }
        let restored = try Configuration(text: file.bytes, of: file.path, machine: context.machine)
        guard !restored.backup.locations.isEmpty else { return }
        try allow(restored.backup.locations, file, context)
    }

    static func remove(_ context: CommandContext) throws -> ExitCode {
        let backup = try BackupContext(context)
        let location = try backup.onlyLocation()
        let file = try ConfigurationFile(context)
        let (text, changed) = try file.removing(
            location.name, under: BackupLocationConfiguration.path, "location", context
        ) { $0.backup.locations.map(\.name) }
        try file.replace(with: text)
        context.note("removed the location '\(location.name)' from \(file.path)")
        context.note(
            "its backups stay at \(location.location.address), and their key in \(BackupKeyFile(backup.store, location.name).path)"
        )
        try allow(changed.backup.locations, file, context)
        try context.becomeStoreOwner()
        try BackupState.remove(location.name, ofStore: backup.store)
        return .success
    }
}
