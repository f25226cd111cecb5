import CommandLineKit

/// `capture`: runs the hub and records each frame in a file.
enum CaptureCommand: Command {
    static let specification = CommandSpecification(
        name: "capture", summary: "Run the hub and record every device message in a file.",
        discussion: """
            Same as 'vitalgate run --capture FILE'. The hub reads the adopted devices into the store as usual. It also writes \
            each frame (one message from a device) to FILE as a line of NDJSON, for 'vitalgate replay'.

            The file contains health readings, and the addresses and serial numbers of the devices. Send it only to people whom \
            you trust with them. It never contains an encryption key. If FILE is an earlier recording, it is renamed to FILE.1. \
            If FILE is any other file, the command leaves it unchanged and stops.
            """,
        arguments: [Argument(name: "FILE", help: "File to write.", completion: .file)],
        options: RunCommand.options,
        examples: [
            Example("vitalgate capture field.ndjson", "Read the adopted devices and record their frames for a report."),
            Example("vitalgate replay field.ndjson", "Process the recording, for example on another machine."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        try RunCommand.run(HubProcess(context, capture: context.invocation.argument("FILE")), context)
    }
}
