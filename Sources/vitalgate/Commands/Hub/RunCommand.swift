import CommandLineKit
import Hub
import Pipeline
import SampleStore

/// `run`: runs the hub.
enum RunCommand: Command {
    static let specification = CommandSpecification(
        name: "run", summary: "Run the hub: read devices and the inbox into the store.",
        discussion: """
            Reads the adopted devices (see 'vitalgate devices adopt') and imports files from the inbox, if one is configured. 'vitalgate \
            status' shows its state. The log goes to standard error and contains no readings. SIGINT and SIGTERM stop the hub after it \
            has written all readings. SIGHUP reloads the configuration, the profiles and the adopted devices. SIGPWR writes pending \
            readings at once. A power cut or SIGKILL can lose up to 30 seconds of streams such as a chest strap's ('hub.commitEvery', 1 \
            to 60 seconds) and one second of other readings. A second hub on the same store exits with status 75.
            """,
        options: [
            Option(
                names: ["--capture"], value: "FILE",
                help:
                    "Also record each frame in this file, for 'vitalgate replay' (contains health readings).",
                completion: .file)
        ] + options,
        examples: [
            Example("vitalgate run", "Read the adopted devices until Ctrl-C."),
            Example("vitalgate run --inbox ~/health --once", "Import the files of a folder and stop."),
        ])

    /// Options that `capture` also has.
    static let options: [Option] = [
        Option(
            names: ["--once"],
            help: "Stop when all devices have delivered and the inbox is empty, after one minute at most."),
        Option(
            names: ["--inbox"], value: "DIR",
            help: "Import files from this folder and move them to its folders done or refused.",
            completion: .directory),
        Option(
            names: ["--simulate"],
            help:
                "Also read two simulated sensors, into a demo store that --store names (created if missing)."),
        Option(
            names: ["--capture-size"], value: "BYTES",
            help: "Maximum size of a capture in bytes, with the older half in FILE.1 (default: 16777216, 16 MiB)."),
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
