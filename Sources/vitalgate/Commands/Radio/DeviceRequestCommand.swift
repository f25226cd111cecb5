import BlueZSource
import CommandLineKit
import Ingestion

/// `devices request`: a report on a device that no profile reads.
struct DeviceRequestCommand {
    static let specification = CommandSpecification(
        name: "request", summary: "Print a report on an unsupported device.",
        discussion: """
            Listens to the device for a minute while you use it, and prints the advertisements that it broadcasts. With \
            --connect, the command also connects to the device, lists its services and prints its notifications for another \
            minute. Nothing is written to the device. The report has the format of 'vitalgate capture'. You can draft a profile \
            from it with 'vitalgate profile suggest --capture', or send it to the author of a profile.

            The report does not contain the device's address, nor its name unless you use --keep-name. It does contain the \
            measured values, so take a measurement that others may see.
            """,
        arguments: [RadioOptions.address],
        options: [
            Option(
                names: ["--seconds"], value: "N", help: "Seconds to listen before connecting, and again afterwards (default: 60)."
            ),
            Option(names: ["--connect"], help: "Connect to the device and print its notifications, too."),
            Option(names: ["--keep-name"], help: "Keep the device's name, which is often needed to identify it."),
        ],
        examples: [
            Example("vitalgate devices request C0:01:02:03:04:09 > scale.ndjson", "Record a scale while you step on it."),
            Example("vitalgate profile suggest --capture scale.ndjson > scale.json5", "Draft a profile from the report."),
        ])

    let context: CommandContext

    func run() throws -> ExitCode {
        let address = try context.bluetoothAddress()
        let seconds = try context.invocation.integer("--seconds", in: 1...3600) ?? 60
        let connects = context.invocation.flag("--connect")
        let radio = try context.radio()
        radio.source.start()
        defer { radio.source.stop() }
        guard radio.waitForAdapter() else { return context.noAdapter() }
        context.inform("listening for \(seconds) s: use the device now")
        // Twice the time, plus the time that a slow device needs to connect, list its services and disconnect.
        let survey: DeviceSurvey?? = radio.run(limit: .seconds(2 * seconds + 120)) {
            radio.source.survey(address, for: .seconds(seconds), connects: connects, completion: $0)
        }
        guard let found = survey ?? nil else {
            context.note("vitalgate: \(address) was not found (list nearby devices with 'vitalgate scan --all')")
            return .tryAgain
        }
        if let failure = found.failure { context.note("the device was found, but could not be connected: \(failure)") }
        if found.frames.isEmpty {
            context.note(
                "the device advertised no data"
                    + (connects ? " and sent nothing" : " (use --connect to record its notifications)"))
        }
        let request = DeviceRequest(found, of: address, keepsName: context.invocation.flag("--keep-name"))
        for line in request.lines { try context.streams.output.write(line) }
        context.note(
            "\(Readable.count(found.frames.count, "frame")) from \(Readable.count(Set(found.frames.map(\.channel)).count, "channel")), "
                + "with \(DeviceRequest.sentence)"
        )
        return .success
    }
}
