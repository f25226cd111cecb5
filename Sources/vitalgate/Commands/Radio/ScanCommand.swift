import BlueZSource
import CommandLineKit
import Formats
import Hub
import Ingestion
import SampleStore

/// `scan`: shows nearby devices.
enum ScanCommand: Command {
    static let specification = CommandSpecification(
        name: "scan", summary: "Show nearby Bluetooth devices.",
        discussion: """
            Listens for the advertisements that Bluetooth devices broadcast, and does not connect. Shows the profiles that can \
            read each device, and the commands that add it. If an address is marked as changing, pair the device first and adopt \
            it afterwards. If you have added the radios of Home Assistant ('vitalgate sources add'), they listen too, and the last \
            column shows which of them hears a device. If no profile can read a device, 'vitalgate devices request' prints a report that helps to write one.
            """,
        options: [
            RadioOptions.seconds, Option(names: ["--all"], help: "Also show devices without a profile."), Format.option,
            Format.safe,
        ],
        examples: [Example("vitalgate scan --seconds 20", "Listen for 20 seconds.")])

    static func run(_ context: CommandContext) throws -> ExitCode {
        let seconds = try context.invocation.integer("--seconds", in: 1...3600) ?? 10
        let assembly = DeviceAssembly(library: try ProfileCommand.library(context))
        let adopted = Set(try context.adoptedDevices().map(\.address))
        let radio = try context.radio()
        let receivers = try ReceiverScan(context, loop: radio.loop)
        radio.source.start()
        defer { radio.source.stop() }
        guard radio.waitForAdapter() || receivers.isThere else { return context.noAdapter() }
        let found = radio.run(limit: .seconds(seconds + 10)) { radio.source.scan(.seconds(seconds), completion: $0) } ?? []
        receivers.stop()
        let rows = receivers.merged(with: found).map {
            Row(
                device: $0, profiles: assembly.profiles(for: $0).map(\.id), advice: assembly.advice(for: $0), adopted: adopted,
                receivers: receivers.receivers(of: $0))
        }
        let areReceived = rows.contains { !$0.receivers.isEmpty }
        let shown = rows.filter { context.invocation.flag("--all") || !$0.profiles.isEmpty || $0.isAdopted }
        let receiverField = Field<Row>(
            "receivers", "heard by",
            cell: { row in row.receivers.map { "\($0.name) \($0.strength.map { "(\($0) dBm)" } ?? "")" }.joined(separator: ", ")
            },
            value: { row in
                row.receivers.map { JSONObject(["receiver": $0.name, "strength": $0.strength]) }
            })
        let fields: [Field<Row>] = [
            Field(
                "address", cell: { $0.device.address.description + ($0.device.addressIsDurable ? "" : " (changing)") },
                value: { $0.device.address.description }), .json("durable") { $0.device.addressIsDurable },
            Field("name") { $0.device.name },
            Field("strength", "dBm") { $0.device.strength },
            Field("profiles", cell: { $0.profiles.joined(separator: " ") }, value: { $0.profiles }),
            .json("is") { ifPresent($0.advice?.names) }, .json("next") { ifPresent($0.advice?.commands) },
            Field("adopted") { $0.isAdopted }, Field("bonded") { $0.device.isBonded },
            .json("connected") { $0.device.isConnected }, .json("adapter") { $0.device.adapter },
        ]
        try context.write(shown, areReceived ? fields + [receiverField] : fields)
        if context.format != .ndjson {
            let hidden = rows.count - shown.count
            if hidden > 0 { context.note("\(Readable.count(hidden, "device")) without a profile not shown (use --all)") }
            if shown.contains(where: { $0.profiles.isEmpty && !$0.isAdopted }) {
                context.note("if a device of yours has no profile, write a report with 'vitalgate devices request ADDRESS'")
            }
            for row in shown {
                guard let advice = row.advice else { continue }
                context.note(
                    "\(row.device.address) (\(advice.names.joined(separator: ", "))): \(advice.commands.joined(separator: "; "))")
            }
        }
        return .success
    }

    private struct Row {
        var device: NearbyDevice
        var profiles: [String]
        var advice: DeviceAdvice?
        var isAdopted: Bool
        /// The radios of Home Assistant that hear it.
        var receivers: [(name: String, strength: Int?)]

        init(
            device: NearbyDevice, profiles: [String], advice: DeviceAdvice?, adopted: Set<String>,
            receivers: [(name: String, strength: Int?)]
        ) {
            self.device = device
            self.profiles = profiles
            self.receivers = receivers
            isAdopted = adopted.contains(DeviceAssembly.storedAddress(device.address))
            self.advice = isAdopted ? nil : advice
        }
    }
}
