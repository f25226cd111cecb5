import CommandLineKit
import Glibc

/// `generate`: files that are generated from the program's own declarations.
enum GenerateCommand: Command {
    static let specification = CommandSpecification(
        name: "generate", summary: "Print shell completion, man page, udev rules or device list.",
        subcommands: [
            CommandSpecification(name: "bash-completion", summary: "Print the completion for bash."),
            CommandSpecification(name: "zsh-completion", summary: "Print the completion for zsh."),
            CommandSpecification(name: "fish-completion", summary: "Print the completion for fish."),
            CommandSpecification(name: "man", summary: "Print the manual page."),
            CommandSpecification(name: "udev", summary: "Print udev rules for the USB adapters of known devices."),
            CommandSpecification(name: "devices", summary: "Print the list of supported devices in Markdown."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let output = context.streams.output
        let name = context.invocation.path.last
        if let script = CompletionScript.allCases.first(where: { "\($0.rawValue)-completion" == name }) {
            try output.write(script.text(program: Program.specification.name))
            return .success
        }
        switch name {
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
                    The configuration is optional. Vitalgate reads the file named by --config, otherwise \
                    /etc/vitalgate/config.json5, otherwise the user's own file. The format is JSON5, which is JSON with \
                    comments, unquoted keys and trailing commas. Options override the file.
                    """,
                entries: [
                    .init("store", "Path to the store, as --store."),
                    .init("timeZone", "Time zone of local times, as --time-zone (default: the system's)."),
                    .init(
                        "subject",
                        """
                        UUID of the person, for a store that does not exist yet. Use the same UUID on two machines to give \
                        samples the same UUIDs on both. 'vitalgate store stats' shows it.
                        """),
                    .init("profiles", "Additional folders of device profiles, as --profiles (later ones override earlier ones)."),
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
            .init("0", "Success."), .init("64", "The command line is invalid."),
            .init(
                "65",
                "Some data was refused or quarantined and the rest is stored, or a profile, a unit or the store is invalid."
            ), .init("66", "A file or the store does not exist."),
            .init("69", "A service, a device or a target is not available, or a check found a problem."),
            .init("70", "Internal error (please report it)."),
            .init("73", "An output file cannot be created, for example because it exists."),
            .init("74", "Reading or writing failed, or the disk is full."),
            .init("75", "The store is in use, or the work was interrupted. Run the command again to continue."),
            .init("77", "Permission denied."),
            .init("78", "The configuration is wrong."),
        ],
        files: [
            .init("/etc/vitalgate/config.json5", "Configuration (optional, otherwise ~/.config/vitalgate/config.json5)."),
            .init("/var/lib/vitalgate/store.db", "Store of a hub (otherwise ~/.local/share/vitalgate/store.db)."),
            .init("/usr/share/vitalgate", "Device profiles that are installed with the program."),
            .init("/etc/vitalgate/profiles.d", "Your own device profiles."),
        ],
        environment: [
            .init(
                "TZ",
                """
                Time zone of local times if neither --time-zone nor the configuration names one: a name, the path to a zone file or a \
                POSIX rule such as CET-1CEST,M3.5.0,M10.5.0/3.
                """
            ),
            .init("HOME", "Folder of the user's files (default: the account's home folder)."),
            .init("XDG_DATA_HOME, XDG_CONFIG_HOME", "Folders of the user's store and configuration."),
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
