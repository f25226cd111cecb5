import BlueZSource
import CommandLineKit
import Ingestion

/// `devices request`: a report on a device that no profile reads.
struct DeviceRequestCommand {
    static let specification = CommandSpecification(
        name: "request", summary: "Write a report on a device that nobody reads yet.",
        discussion: """
            Listens to the device for a minute while you use it, and prints what it advertised: a capture, which 'profile suggest --capture' drafts a \
            profile of, and which you may send to whoever writes one. With --connect it is connected as well: the report then has what it offers, and what \
            it said for a minute more; nothing is written to it. Its address and name are replaced, also in the frames. What it measured is in its \
            frames: use it as somebody whose readings may be seen.
            """,
        arguments: [RadioOptions.address],
        options: [
            Option(
                names: ["--seconds"], value: "N", help: "How long to listen, and once more where it is connected: 60 without it."),
            Option(names: ["--connect"], help: "Connect to it, and listen to all that it tells."),
            Option(names: ["--keep-name"], help: "Leave its name: many devices are told apart by nothing else."),
        ],
        examples: [
            Example("vitalgate devices request C0:01:02:03:04:09 > scale.ndjson", "Step on it meanwhile."),
            Example("vitalgate profile suggest --capture scale.ndjson > scale.json5", "Draft its profile."),
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
        guard let heard = survey ?? nil else {
            context.note("vitalgate: \(address) was not heard; 'vitalgate scan --all' shows who is near")
            return .tryAgain
        }
        if let failure = heard.failure { context.note("it was heard, and could not be connected: \(failure)") }
        if heard.frames.isEmpty {
            context.note(
                "it advertised no data"
                    + (connects ? ", and said nothing" : "; --connect listens to what it tells when it is connected"))
        }
        let request = DeviceRequest(heard, of: address, keepsName: context.invocation.flag("--keep-name"))
        for line in request.lines { try context.streams.output.write(line) }
        context.note(
            "\(heard.frames.count) frames of \(Set(heard.frames.map(\.channel)).count) channels; the report holds \(DeviceRequest.sentence)"
        )
        return .success
    }
}
