import CommandLineKit
import Glibc

/// `generate`: files that are generated from the program's own declarations.
enum GenerateCommand: Command {
    static let specification = CommandSpecification(
        name: "generate", summary: "Print the shell completion, the manual page, the udev rules or the table of devices.",
        subcommands: [
            CommandSpecification(name: "bash-completion", summary: "Completion for bash."),
            CommandSpecification(name: "man", summary: "The manual page."),
            CommandSpecification(name: "udev", summary: "The udev rules for the plugs that the profiles know."),
            CommandSpecification(name: "devices", summary: "The page of devices that the profiles read, docs/devices.md."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let output = context.streams.output
        switch context.invocation.path.last {
        case "bash-completion": try output.write(Program.specification.bashCompletion())
        case "udev": try output.write(UdevRules(profiles: try ProfileCommand.library(context).profiles).text)
        case "devices": try output.write(DeviceTable(profiles: try ProfileCommand.library(context).profiles).page)
        default: try output.write(manual.rendered())
        }
        return .success
    }

    private static let manual = ManualPage(
        program: Program.specification, version: Program.version,
        sections: [
            .init(
                title: "CONFIGURATION",
                text: """
                    None is needed. The file named by --config, else /etc/vitalgate/config.json5, else the person's own is read: JSON5, which is \
                    JSON with comments, unquoted keys and trailing commas. An option goes before the file.
                    """,
                entries: [
                    .init("store", "The store's path, as --store."),
                    .init("timeZone", "The zone of local times, as --time-zone; else the machine's."),
                    .init(
                        "subject",
                        """
                        The person's UUID, for a store that is yet to be made. Samples' UUIDs are the same on two machines where the subject \
                        is: 'vitalgate store stats' shows it on the first.
                        """),
                    .init("profiles", "More folders of device profiles, as --profiles; the later one's count."),
                ],
                listing: """
                    {
                        store: "/srv/health/store.db",
                        timeZone: "Europe/Berlin",
                        subject: "7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57",
                        profiles: ["/srv/health/profiles"],  // my scale
                    }
                    """)
        ],
        exitStatus: [
            .init("0", "All went well."), .init("64", "The command line is wrong."),
            .init(
                "65",
                "Some data was refused or held in quarantine, and the rest is stored; or a profile, a unit or the store itself is wrong."
            ), .init("66", "There is no such file or store."),
            .init("70", "An error of the program itself; please report it."),
            .init("74", "Reading or writing failed, or the disk is full."),
            .init("75", "The store is in use, or the work was interrupted: run it again, and it goes on."),
            .init("77", "Permission is missing."),
        ],
        files: [
            .init("/etc/vitalgate/config.json5", "The configuration; else ~/.config/vitalgate/config.json5. None is needed."),
            .init("/var/lib/vitalgate/store.db", "The store of a hub; else ~/.local/share/vitalgate/store.db."),
            .init("/usr/share/vitalgate", "The device profiles that come with the program."),
            .init("/etc/vitalgate/profiles.d", "Your own device profiles."),
        ],
        environment: [
            .init(
                "TZ",
                "The zone of local times where neither --time-zone nor the configuration names one: a name, a zone file's path or a POSIX rule such as CET-1CEST,M3.5.0,M10.5.0/3."
            ),
            .init("HOME", "Where a person's files are; without it the account's home folder."),
            .init("XDG_DATA_HOME, XDG_CONFIG_HOME", "Where a person's store and configuration are."),
        ])
}

/// A monotonic clock for progress.
enum Monotonic {
    @Sendable static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
