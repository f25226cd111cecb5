import CommandLineKit
import Hub
import HubBackup
import SampleStore

/// `backup`: encrypted backups at other places, which prove themselves.
enum BackupCommand: Command {
    private static let location = Argument(
        name: "LOCATION",
        help: "A folder, such as one on a USB disk, or sftp:USER@HOST:/PATH, s3:https://HOST/BUCKET or rest:https://HOST/PATH.",
        completion: .directory)
    private static let name = Argument(name: "NAME", help: "Name of a location.")
    private static let names = Argument(name: "NAME", help: "Name of a location (default: all).", arity: .any)
    private static let credentials = Option(
        names: ["--credentials"], value: "FILE",
        help: """
            File with lines NAME=VALUE for S3 (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or a REST server (RESTIC_REST_USERNAME, \
            RESTIC_REST_PASSWORD).
            """, completion: .file)
    private static let keyFile = Option(
        names: ["--key-file"], value: "FILE", help: "File with the key (default: ask for it).", completion: .file)

    static let specification = CommandSpecification(
        name: "backup", summary: "Back up the hub to a disk or server, and restore it.",
        discussion: """
            A backup contains the store, the configuration, the files that the configuration names (such as passwords), device \
            profiles and, if it can be read, the keys of paired Bluetooth devices. It is encrypted, and only changes are added. \
            restic does this, so it must be installed.

            The running hub makes a backup every day, and each week it restores the newest one to a scratch place, checks it \
            and compares it with the store. 'vitalgate status' and 'vitalgate doctor' show the last proven backup. 'backup' in the \
            configuration sets the times and how many backups are kept (docs/reference/configuration.md).
            """,
        subcommands: [
            CommandSpecification(
                name: "add", summary: "Back up to a location from now on.",
                discussion: """
                    Prepares the location, prints the key, adds the location to the configuration and makes the first backup. Write \
                    the twelve words of the key down. Without them, the backups cannot be read if this machine is lost.

                    If the location already has backups, the command asks for their key. Several hubs can share a location.
                    """,
                arguments: [location],
                options: [
                    Option(
                        names: ["--name"], value: "NAME",
                        help: "Name of the location: a to z, 0 to 9 and - (default: from LOCATION)."),
                    credentials, keyFile, Option(names: ["--no-run"], help: "Do not make the first backup now."),
                ],
                examples: [
                    Example("sudo vitalgate backup add /media/usb/vitalgate", "Back up to a USB disk."),
                    Example("sudo vitalgate backup add sftp:hub@nas.local:/backup", "Back up to another machine."),
                ]),
            CommandSpecification(
                name: "list", summary: "List locations, or the backups at one of them.",
                arguments: [Argument(name: "NAME", help: "Name of a location, whose backups are listed.", arity: .optional)],
                options: [Format.option, Format.safe, SharedOptions.timeZone]),
            CommandSpecification(
                name: "run", summary: "Make a backup now.",
                discussion: """
                    Makes a backup at each location. The exit status is 75 if a location is not connected or does not answer.
                    """,
                arguments: [names],
                options: [
                    Option(names: ["--due"], help: "Only backups and drills that are due (the hub uses this)."),
                    SharedOptions.untilEOF,
                ]),
            CommandSpecification(
                name: "check", summary: "Prove that the newest backup can be restored.",
                discussion: """
                    Restores the newest backup to a scratch place, compares all of its bytes, runs the checks of 'vitalgate store \
                    check' on it, and removes it. The exit status is 65 if the backup is damaged. The hub does this each week.
                    """, arguments: [names]),
            CommandSpecification(
                name: "remove", summary: "Stop backing up to a location.",
                discussion: "The backups at the location stay, and so does the file with their key.", arguments: [name]),
            CommandSpecification(
                name: "key", summary: "Show or replace the key of a location.",
                discussion: """
                    The key is twelve words. With them, restic reads the backups too: its password is the words with one space \
                    between them. After --replace, the old words do not open the backups any more.
                    """,
                arguments: [name],
                options: [
                    Option(names: ["--replace"], help: "Replace the key with a new one, and show it."),
                    Option(
                        names: ["--enter"],
                        help: "Read the key from standard input and store it. Prepares a location without backups."),
                ]),
            CommandSpecification(
                name: "restore", summary: "Restore a hub from a backup.",
                discussion: """
                    Restores the store, the configuration and the other files on this machine, which takes over from the one that \
                    was backed up. Do not use the old machine again: targets accept only one of them. The command asks for the \
                    key. Stop the hub before you run it.

                    The restored store does not contain readings that arrived after the backup. Targets that have received such \
                    readings stop until you compare them. The command prints how.
                    """,
                arguments: [location],
                options: [
                    Option(
                        names: ["--at"], value: "T", help: "Restore the last backup before this time (default: the newest one)."),
                    Option(
                        names: ["--hub"], value: "ID", help: "The hub, if several use the location ('backup restore' lists them)."
                    ),
                    Option(
                        names: ["--replace"],
                        help: "Replace a store that already contains readings. It is kept under another name."),
                    Option(names: ["--store-only"], help: "Restore only the store, and no other files."), keyFile, credentials,
                    SharedOptions.timeZone,
                ],
                examples: [
                    Example("sudo vitalgate backup restore /media/usb/vitalgate", "Restore the newest backup."),
                    Example(
                        "sudo vitalgate backup restore sftp:hub@nas.local:/backup --at 2026-11-20", "Restore an older backup."),
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        do {
            switch context.invocation.path.last {
            case "add": return try BackupAddition(context).run()
            case "list": return try BackupContext(context).list()
            case "run": return try BackupRuns(context).run()
            case "check": return try BackupRuns(context).check()
            case "remove": return try BackupAddition.remove(context)
            case "key": return try BackupKeyFile.run(context)
            default: return try BackupRestoration(context).run()
            }
        } catch let failure as BackupFailure {
            context.streams.note("vitalgate: \(TerminalText.sanitized(failure.description))", priority: .error)
            return exitCode(of: failure)
        }
    }

    static func exitCode(of failure: BackupFailure) -> ExitCode {
        switch failure.kind {
        case .missingProgram: .unavailable
        case .away, .unreachable, .locked, .stopped: .tryAgain
        case .noRepository: .noInput
        case .wrongKey, .permission: .noPermission
        case .full, .failed: .ioError
        case .damaged: .dataError
        case .invalid: .usage
        }
    }
}
