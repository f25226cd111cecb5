import CommandLineKit

/// `capture`: runs the hub and records each frame in a file.
enum CaptureCommand: Command {
    static let specification = CommandSpecification(
        name: "capture", summary: "Run the hub and record every device message in a file.",
        discussion: """
            Same as 'vitalgate run --capture FILE'. Adopted devices are read into the store as usual, and every frame is also \
            written to FILE as a line of NDJSON that 'vitalgate replay' can process. The file contains health readings with \
            the addresses and serial numbers of the devices, so be careful whom you send it to. It never contains a device's \
            key. An existing capture is renamed to FILE.1. Any other existing file is left unchanged.
            """,
        arguments: [Argument(name: "FILE", help: "File to write.", completion: .file)],
        options: RunCommand.options,
        examples: [
            Example("vitalgate capture field.ndjson", "Read the adopted devices and record their frames for a report."),
            Example("vitalgate replay field.ndjson", "Process the capture on another machine."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        try RunCommand.run(HubProcess(context, capture: context.invocation.argument("FILE")), context)
    }
}
