import CommandLineKit
import Gateway
import Pipeline
import SampleStore

/// `run`: runs the hub.
enum RunCommand: Command {
    static let specification = CommandSpecification(
        name: "run", summary: "Be the hub: read devices and the inbox into the store.",
        discussion: """
            Reads the devices that were adopted (see 'vitalgate devices adopt') and no others, and imports the files that are put into \
            the inbox, if there is one; 'vitalgate status' shows how it is doing. The log goes to standard error and holds no values. \
            SIGINT and SIGTERM stop it, with everything committed; SIGHUP makes it read the configuration, the profiles and the adopted \
            devices again; SIGPWR makes it write what waits. A power cut, or SIGKILL, can take the last 30 seconds of streams such as \
            a strap's ('hub.commitEvery' of the configuration: 1 to 60; fewer wear a card out sooner), and a second of anything else. \
            A store has one hub: another one ends with status 75.
            """,
        options: [
            Option(
                names: ["--capture"], value: "FILE",
                help:
                    "Also write each frame to this file as it comes, for 'vitalgate replay'; the file holds health readings.",
                completion: .file)
        ] + options,
        examples: [
            Example("vitalgate run", "Read the adopted devices until it is stopped."),
            Example("vitalgate run --inbox ~/health --once", "Import what lies in a folder, and end."),
        ])

    /// Options that `capture` also has.
    static let options: [Option] = [
        Option(
            names: ["--once"],
            help: "Stop when every adopted device has delivered and the inbox is empty, or a minute has passed."),
        Option(
            names: ["--inbox"], value: "DIR",
            help: "Import the files that are put into this folder, then move them to its done or refused.",
            completion: .directory),
        Option(
            names: ["--simulate"],
            help:
                "Read two sensors that do not exist, too; only into a demo store, which --store names and this option makes."),
        Option(
            names: ["--capture-size"], value: "OCTETS",
            help: "What a capture may take up, with the older half in FILE.1; 16777216 (16 MiB) unless it is given."),
        RadioOptions.verbose, SharedOptions.timeZone,
    ]

    static func run(_ context: CommandContext) throws -> ExitCode {
        let process = try HubProcess(context, capture: context.invocation.string("--capture"))
        return try run(process, context)
    }

    static func run(_ process: HubProcess, _ context: CommandContext) throws -> ExitCode {
        // The loop's callbacks hold the process weakly.
        return try withExtendedLifetime(process) {
            context.invocation.flag("--once") ? try process.runOnce() : try process.run()
        }
    }
}
