import CommandLineKit

/// A program with one of each: groups, inherited options, closed and open values, proposals that a command prints.
enum Sample {
    static let program = CommandSpecification(
        name: "vitalgate",
        summary: "Collect health readings from devices and files.",
        discussion: """
            Readings go into a store, which is one file. Nothing leaves the machine unless a target is configured.

            .profile files add devices; a lone - is stdin, and 'quotes' or back\\slashes stay as they are. Names may be Größe or 体温.
            """,
        options: [
            Option(names: ["--store"], value: "PATH", help: "The store; made if there is none.", completion: .file),
            Option(names: ["--config"], value: "PATH", help: "The configuration.", completion: .file),
            Option(
                names: ["--profiles"], value: "DIR", help: "A directory of further device profiles.", repeating: true,
                completion: .directory),
        ],
        subcommands: [importCommand, query, store, profile, unit],
        examples: [Example("vitalgate import export.zip", "Read an export of Apple Health.")])

    static let importCommand = CommandSpecification(
        name: "import",
        summary: "Read files into the store.",
        arguments: [Argument(name: "FILE", help: "A file; - is stdin.", arity: .oneOrMore, completion: .file)],
        options: [
            Option(
                names: ["--profile"], value: "ID", help: "Read with this profile, in place of the one that fits best.",
                completion: .command("vitalgate profile list --ids")),
            Option(
                names: ["--time-zone"], value: "IANA", help: "The zone of local times.",
                completion: .suggestions(["Europe/Berlin", "UTC"])),
            Option(names: ["--dry-run", "-n"], help: "Read and report, store nothing."),
        ])

    static let query = CommandSpecification(
        name: "query",
        summary: "Print samples.",
        discussion: "They come by the time at which they start.",
        arguments: [
            Argument(name: "TYPE", help: "What was measured, or all.", completion: .values(["all", "bodyMass", "heartRate"]))
        ],
        options: [
            Option(names: ["--from"], value: "T", help: "No sooner than this."),
            Option(names: ["--to"], value: "T", help: "Sooner than this."),
            Option(names: ["--limit", "-l"], value: "N", help: "No more than this many."),
            Option(
                names: ["--format"], value: "FORMAT", help: "The form of the output.",
                completion: .values(["csv", "ndjson", "table"])),
            Option(
                names: ["--channel"], value: "CHANNEL", help: "Where it came in.",
                completion: .values(["gatt:2A37", "gatt:2A9D"])),
        ],
        examples: [
            Example("vitalgate query heartRate --from 2024-05-01 | head", "The first readings of May."),
            Example("vitalgate query all --format ndjson > '.backup~1'", "All there is."),
        ])

    static let store = CommandSpecification(
        name: "store",
        summary: "Look after the store.",
        options: [Option(names: ["--read-only"], help: "Change nothing.")],
        subcommands: [
            CommandSpecification(name: "check", summary: "Check the store."),
            CommandSpecification(
                name: "backup", summary: "Copy the store while it is in use.",
                arguments: [Argument(name: "FILE", help: "The copy.", completion: .file)]),
        ])

    static let profile = CommandSpecification(
        name: "profile",
        summary: "Look at device profiles.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the profiles.", options: [Option(names: ["--ids"], help: "Print only their names.")]),
            CommandSpecification(
                name: "show", summary: "Show a profile.",
                arguments: [
                    Argument(
                        name: "ID", help: "Its name.", arity: .optional, completion: .command("vitalgate profile list --ids"))
                ]),
        ])

    static let unit = CommandSpecification(
        name: "unit",
        summary: "Work with units.",
        subcommands: [
            CommandSpecification(
                name: "convert", summary: "Convert a value.",
                arguments: [
                    Argument(name: "VALUE", help: "A number."),
                    Argument(name: "FROM", help: "A UCUM code.", completion: .suggestions(["[degF]", "Cel", "mm[Hg]"])),
                    Argument(name: "TO", help: "A UCUM code.", completion: .suggestions(["[degF]", "Cel", "it's"])),
                ],
                options: [
                    Option(
                        names: ["--dialect"], value: "ucum|healthkit", help: "Whose codes these are.", required: false,
                        completion: .values(["ucum", "healthkit"]))
                ])
        ])
}
