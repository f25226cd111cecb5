import CommandLineKit
import Hub
import Pipeline
import SampleStore

/// `run`: runs the hub.
enum RunCommand: Command {
    static let specification = CommandSpecification(
        name: "run", summary: "Run the hub, which reads your devices and imports new files.",
        discussion: """
            Reads the devices that you have added with 'vitalgate devices adopt'. If you name an inbox folder (with --inbox or \
            'hub.inbox' in the configuration), the hub also imports the files that appear in it. 'vitalgate status' shows the \
            state of the hub. The hub logs to standard error, and the log contains no readings. If another hub already uses the \
            store, the exit status is 75.

            SIGINT and SIGTERM stop the hub after it has written all readings. SIGHUP reloads the configuration, the profiles \
            and the list of adopted devices. SIGPWR makes the hub write all waiting readings at once.

            A power cut or SIGKILL can lose the last 30 seconds of continuous readings, such as those of a chest strap, and the \
            last second of other readings. 'hub.commitEvery' in the configuration changes the 30 seconds (1 to 60).
            """,
        options: [
            Option(
                names: ["--capture"], value: "FILE",
                help:
                    """
                    Also record each device message in this file, for 'vitalgate replay' (the file contains health readings).
                    """,
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
            help: "Stop when each device has sent its readings and the inbox is empty, or after one minute."),
        Option(
            names: ["--inbox"], value: "DIR",
            help: "Import files from this folder, then move them to its subfolder done or refused.",
            completion: .directory),
        Option(
            names: ["--simulate"],
            help:
                """
                Also read two simulated sensors. You must give --store, so that their readings go to a separate demo store \
                (created if missing).
                """),
        Option(
            names: ["--capture-size"], value: "BYTES",
            help: """
                Maximum size of the recording in bytes, FILE and its older part FILE.1 together (default: 16777216, which is 16 \
                MiB).
                """),
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
