import BlueZSource
import CommandLineKit
import Formats
import HealthModel
import Hub
import Ingestion
import SampleStore
import SystemdKit

/// `devices`: manages the adopted devices.
enum DevicesCommand: Command {
    static let specification = CommandSpecification(
        name: "devices", summary: "Add, pair and remove devices, and assign them to people.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the adopted devices, which are those that the hub reads.",
                options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "adopt", summary: "Add a device that the hub reads.",
                discussion: """
                    Without --profile, the device must be nearby. The command then listens to the advertisements that the device \
                    broadcasts, and selects all profiles that match them. If the device is already adopted, the command changes \
                    only what you give as options. A running hub applies the change after 'sudo systemctl reload vitalgate' (or \
                    the signal SIGHUP).

                    For a serial device, give the permanent path of its port in /dev/serial/by-id or /dev/serial/by-path. With \
                    most serial adapters you also need --profile.
                    """,
                arguments: [RadioOptions.device],
                options: [
                    Option(
                        names: ["--profile"], value: "ID",
                        help: "Profile that reads the device (default: detected from its advertisements).",
                        repeating: true,
                        completion: .profiles),
                    Option(
                        names: ["--person"], formerNames: ["--subject"], value: "ID",
                        help:
                            """
                            Person who uses the device: me (the store's owner, default), a name, a UUID, or unassigned (the \
                            default for room sensors).
                            """),
                    Option(names: ["--name"], value: "TEXT", help: "Your name for the device."),
                    Option(
                        names: ["--bind-key"], value: "HEX",
                        help:
                            """
                            Key that decrypts the device's advertisements, 16 bytes in hexadecimal (- reads it from standard \
                            input, so that 'ps' does not show it).
                            """
                    ),
                    RadioOptions.seconds,
                ],
                examples: [
                    Example("vitalgate devices adopt C0:01:02:03:04:01 --name 'chest strap'", "Read a chest strap."),
                    Example(
                        "vitalgate devices adopt /dev/serial/by-id/usb-Silicon_Labs_CP2102_0042-if00-port0 --profile contec-cms50d",
                        "Read an oximeter on a serial cable."),
                ]),
            CommandSpecification(
                name: "pair", summary: "Pair with a device that requires it.",
                discussion:
                    """
                    First put the device into pairing mode, as its manual describes. If the device needs a number, the command \
                    asks you to type or compare it.
                    """,
                arguments: [RadioOptions.address], options: [RadioOptions.seconds]),
            CommandSpecification(
                name: "forget", summary: "Stop reading a device and remove its pairing.",
                discussion: """
                    The device's samples are kept. The pairing (or bond) is the key that both sides stored when you paired them.
                    """, arguments: [RadioOptions.device],
                options: [Option(names: ["--bond"], help: "Remove only the pairing and keep the device adopted.")]),
            CommandSpecification(
                name: "merge", summary: "Continue to store a device's readings under its earlier key.",
                discussion: """
                    The store identifies each device by a key, such as its address or serial number. The key of a device can \
                    change, for example when its maker repaired it or when its address changed. Its readings then count as those \
                    of another device. After this command, new readings are stored under the earlier key again. 'vitalgate \
                    devices list' shows keys and addresses.
                    """,
                arguments: [
                    Argument(name: "NEW", help: "Current key or address of the device."),
                    Argument(name: "OLD", help: "Key or address under which its earlier readings are stored."),
                ]),
            CommandSpecification(
                name: "part", summary: "Separate two devices that report the same serial number.",
                discussion: """
                    Some makers give all their devices the same serial number. The hub then stores the readings of two such \
                    devices as those of one device, and warns you if both are in range. This command gives the device at ADDRESS \
                    its own key for new readings. Stored readings do not change. 'vitalgate devices merge' reverts the change.

                    The command refuses a device that keeps readings in its memory. Such a device can send old readings again, \
                    and they would be stored twice under different keys. A running hub applies the change after 'sudo systemctl \
                    reload vitalgate' (or the signal SIGHUP).
                    """,
                arguments: [RadioOptions.address],
                examples: [
                    Example(
                        "vitalgate devices part C0:01:02:03:04:02",
                        "Give this strap its own key. The other strap keeps the old one.")
                ]),
            DeviceAssignment.specification,
            DeviceRequestCommand.specification,
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "adopt": return try DeviceAdoption(context: context).run()
        case "pair": return try DevicePairing(context: context).run()
        case "forget": return try forget(context)
        case "assign": return try DeviceAssignment(context: context).run()
        case "merge": return try merge(context)
        case "part": return try part(context)
        case "request": return try DeviceRequestCommand(context: context).run()
        default: return try list(context)
        }
    }

    private static func owner(of device: AdoptedDevice, in store: SampleStore) -> String {
        guard device.sharers.isEmpty else { return "shared by \(device.sharers.count)" }
        return store.subject(device.person)
    }

    private static func list(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        func ranges(_ device: AdoptedDevice) -> [JSONObject]? {
            device.sharedBy.isEmpty
                ? nil
                : device.sharedBy.map {
                    ["subject": store.subject($0.person), "low": $0.weights.lowerBound, "high": $0.weights.upperBound]
                }
        }
        func users(_ device: AdoptedDevice) -> [JSONObject]? {
            device.users.isEmpty
                ? nil
                : device.users.map {
                    ["number": $0.number, "subject": store.subject($0.person), "consents": $0.consent != nil]
                }
        }
        try context.write(
            try store.devices.adopted(),
            [
                Field("address") { $0.address }, .json("key") { $0.storageKey }, Field("name") { $0.name },
                .column("key") { $0.storageKey },
                Field("profiles", cell: { $0.profiles.joined(separator: " ") }, value: { $0.profiles }),
                Field("subject", cell: { Self.owner(of: $0, in: store) }, value: { store.subject($0.person) }),
                .json("ranges") { ifPresent(ranges($0)) }, .json("users") { ifPresent(users($0)) },
                Field(
                    "adopted", cell: { zone.date(of: Instant(microseconds: $0.adopted)) },
                    value: { Instant(microseconds: $0.adopted) }),
                .json("manufacturer") { $0.device?.manufacturer }, .json("model") { $0.device?.model },
                .json("serial") { $0.device?.serial }, .json("firmware") { $0.device?.firmware },
                .json("lastRecord") { $0.lastRecord.map { Int($0.number) } },
            ])
        return .success
    }

    private static func forget(_ context: CommandContext) throws -> ExitCode {
        if let path = context.invocation.argument("ADDRESS"), SerialAdoption.isPath(path) {
            try context.access().openForWriting(creating: false).devices.forget(
                device: DeviceAssembly.storedAddress(serial: path))
            return .success
        }
        let address = try context.bluetoothAddress()
        if !context.invocation.flag("--bond") {
            try context.access().openForWriting(creating: false).devices.forget(device: DeviceAssembly.storedAddress(address))
        }
        let radio = try context.radio()
        radio.source.start()
        defer { radio.source.stop() }
        guard radio.waitForAdapter() else {
            context.note(
                "vitalgate: no Bluetooth adapter answers: remove a bond later with `bluetoothctl remove \(address)`")
            return context.invocation.flag("--bond") ? .unavailable : .success
        }
        let answer: Result<Void, BusError>? = radio.run(limit: .seconds(10)) { radio.source.forget(address, completion: $0) }
        switch answer {
        case .success: return .success
        case .failure(let error) where error.name == "org.bluez.Error.DoesNotExist":
            if context.invocation.flag("--bond") { context.note("vitalgate: \(address) has no bond") }
            return context.invocation.flag("--bond") ? .noInput : .success
        case .failure(let error):
            context.note("vitalgate: the bond could not be removed: \(error)")
            return .ioError
        case nil: return .tryAgain
        }
    }

    private static func merge(_ context: CommandContext) throws -> ExitCode {
        let store = try context.access().openForWriting(creating: false)
        let devices = try store.devices.adopted()
        let key = { (name: String) -> String in
            let text = context.invocation.argument(name) ?? ""
            let address = BluetoothAddress(text).map(DeviceAssembly.storedAddress) ?? text
            return devices.first { $0.address == address }?.storageKey ?? text
        }
        let (new, old) = (key("NEW"), key("OLD"))
        let known = try store.devices.keys()
        for (name, key) in [("NEW", new), ("OLD", old)] where !known.contains(key) {
            throw context.invocation.invalid(
                name, value: key,
                expected: known.isEmpty
                    ? "a device's key, but no device is known yet"
                    : "the address or key of a known device: \(known.prefix(20).joined(separator: ", "))"
                        + (known.count > 20 ? ", … (see 'vitalgate devices list')" : ""))
        }
        try store.devices.merge(device: new, into: old)
        context.note("new readings of \(new) are stored as \(old)")
        return .success
    }

    private static func part(_ context: CommandContext) throws -> ExitCode {
        let address = try context.bluetoothAddress()
        let stored = DeviceAssembly.storedAddress(address)
        let store = try context.access().openForWriting(creating: false)
        let assembly = DeviceAssembly(library: try ProfileCommand.library(context))
        let description = try store.devices.adopted().first { $0.address == stored }.flatMap(assembly.description)
        guard description?.isStream ?? true else {
            context.note(
                "vitalgate: \(address) has a memory and may send readings again, which would be stored twice under another key: "
                    + "use 'vitalgate devices forget' to exclude one of the two")
            return .dataError
        }
        let key = try store.devices.part(device: stored)
        context.note("new readings of \(address) are stored as \(key), and stored readings do not change")
        return .success
    }
}
