import CommandLineKit

/// `capture`: runs the hub and records each frame in a file.
enum CaptureCommand: Command {
    static let specification = CommandSpecification(
        name: "capture", summary: "Be the hub, and write each frame to a file as it comes.",
        discussion: """
            As 'vitalgate run --capture FILE': adopted devices are read into the store as always, since a device that hands over its \
            memory is told so only once that is stored; and each frame is also written to FILE as a line of NDJSON, with its time, channel, device and \
            octets, and whatever else 'vitalgate replay' needs to make the same samples of it. The file holds health readings as the devices sent \
            them, with the devices' addresses and serial numbers: mind whom you send it to. It never holds a device's key. It is readable by \
            its owner only. A capture that is there already becomes FILE.1; any other file is left alone. A full disk ends the capture, not the hub.
            """,
        arguments: [Argument(name: "FILE", help: "The file to write.", completion: .file)],
        options: RunCommand.options,
        examples: [
            Example("vitalgate capture field.ndjson", "Read the adopted devices, and keep what they send for a report."),
            Example("vitalgate replay field.ndjson", "See on another machine what comes of it."),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        try RunCommand.run(HubProcess(context, capture: context.invocation.argument("FILE")), context)
    }
}
