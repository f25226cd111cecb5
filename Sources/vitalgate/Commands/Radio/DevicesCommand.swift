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
        name: "devices", summary: "Manage devices: adopt, pair, assign, merge and report.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the adopted devices.", options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "adopt", summary: "Add a device to read.",
                discussion: """
                    Without --profile, the device must be nearby, and all profiles that match its advertisements are used. For an \
                    adopted device, only the given options change. Send SIGHUP to a running hub to apply the change. For a serial \
                    device, give the permanent path of its port from /dev/serial/by-id or /dev/serial/by-path. Most serial adapters also \
                    need --profile.
                    """,
                arguments: [RadioOptions.device],
                options: [
                    Option(
                        names: ["--profile"], value: "ID", help: "Use this profile, whatever the device advertises.",
                        repeating: true,
                        completion: .command("vitalgate profile list --ids")),
                    Option(
                        names: ["--person"], formerNames: ["--subject"], value: "ID",
                        help:
                            "Person who uses it: me, a name, unassigned or a UUID (default: me, or unassigned for room sensors)."),
                    Option(names: ["--name"], value: "TEXT", help: "Your name for the device."),
                    Option(
                        names: ["--bind-key"], value: "HEX",
                        help:
                            "Key of its encrypted advertisements, 16 bytes (- reads standard input and hides it from ps)."
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
                name: "pair", summary: "Pair with a device that requires a bond.",
                discussion:
                    "The device must be in pairing mode. The terminal asks you to type or compare a number if the device needs it.",
                arguments: [RadioOptions.address], options: [RadioOptions.seconds]),
            CommandSpecification(
                name: "forget", summary: "Stop reading a device and remove its bond.",
                discussion: "Samples of the device are kept.", arguments: [RadioOptions.device],
                options: [Option(names: ["--bond"], help: "Remove only the bond and keep the device adopted.")]),
            CommandSpecification(
                name: "merge", summary: "Join a device with its earlier key.",
                discussion: """
                    If a device returns with another key (after a repair or with a new address), its readings would count as another \
                    device's. Give keys or addresses from 'vitalgate devices list'.
                    """,
                arguments: [
                    Argument(name: "NEW", help: "Current key of the device."),
                    Argument(name: "OLD", help: "Key of its earlier readings."),
                ]),
            CommandSpecification(
                name: "part", summary: "Separate two devices with the same serial number.",
                discussion: """
                    Some makers give all their devices the same serial number, so the hub cannot separate their readings. The hub warns if \
                    both are in range. This device's new readings get a key of their own. Stored readings do not change. \
                    Devices with a memory cannot be separated, because they would send stored readings again. Send SIGHUP to a running \
                    hub to apply the change. 'vitalgate devices merge' reverts it.
                    """,
                arguments: [RadioOptions.address],
                examples: [
                    Example("vitalgate devices part C0:01:02:03:04:02", "Separate this strap from another, which keeps its key.")
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
        return device.subject == store.subject ? "me" : device.subject
    }

    private static func list(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let zone = try context.zone()
        let devices = try store.adoptedDevices()
        if context.format == .ndjson {
            for device in devices {
                var object = JSONObject()
                object.set("address", device.address)
                object.set("key", device.goesBy)
                object.set("name", device.name)
                object.set("profiles", device.profiles)
                object.set("subject", device.subject == store.subject ? "me" : device.subject)
                let ranges = device.sharedBy.map { use in
                    var range = JSONObject()
                    range.set("subject", use.subject == store.subject ? "me" : use.subject)
                    range.set("low", use.weights.lowerBound)
                    range.set("high", use.weights.upperBound)
                    return range
                }
                if !ranges.isEmpty { object.set("ranges", ranges) }
                let users = device.users.map { user in
                    var object = JSONObject()
                    object.set("number", user.number)
                    object.set("subject", user.subject == store.subject ? "me" : user.subject)
                    object.set("consents", user.consent != nil)
                    return object
                }
                if !users.isEmpty { object.set("users", users) }
                object.set("adopted", Instant(microseconds: device.adopted).description)
                object.set("manufacturer", device.device?.manufacturer)
                object.set("model", device.device?.model)
                object.set("serial", device.device?.serial)
                object.set("firmware", device.device?.firmware)
                object.set("lastRecord", device.lastRecord.map { Int($0.number) })
                try context.streams.output.write(object.line)
            }
            return .success
        }
        let rows = devices.map { device in
            let adopted = Instant(microseconds: device.adopted)
            return [
                device.address, device.name, device.goesBy, device.profiles.joined(separator: " "),
                Self.owner(of: device, in: store),
                zone.date(of: adopted),
            ]
        }
        try TableOutput(context: context).write(header: ["address", "name", "key", "profiles", "subject", "adopted"], rows: rows)
        return .success
    }

    private static func forget(_ context: CommandContext) throws -> ExitCode {
        if let path = context.invocation.argument("ADDRESS"), SerialAdoption.isPath(path) {
            try context.access().openForWriting(creating: false).forget(device: DeviceAssembly.storedAddress(serial: path))
            return .success
        }
        let address = try context.bluetoothAddress()
        if !context.invocation.flag("--bond") {
            try context.access().openForWriting(creating: false).forget(device: DeviceAssembly.storedAddress(address))
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
        let devices = try store.adoptedDevices()
        let key = { (name: String) -> String in
            let text = context.invocation.argument(name) ?? ""
            let address = BluetoothAddress(text).map(DeviceAssembly.storedAddress) ?? text
            return devices.first { $0.address == address }?.goesBy ?? text
        }
        let (new, old) = (key("NEW"), key("OLD"))
        let known = try store.deviceKeys()
        for (name, key) in [("NEW", new), ("OLD", old)] where !known.contains(key) {
            throw context.invocation.invalid(
                name, value: key,
                expected: known.isEmpty
                    ? "a device's key, but no device is known yet"
                    : "the address or key of a known device: \(known.prefix(20).joined(separator: ", "))"
                        + (known.count > 20 ? ", … (see 'vitalgate devices list')" : ""))
        }
        try store.merge(device: new, into: old)
        context.note("new readings of \(new) are stored as \(old)")
        return .success
    }

    private static func part(_ context: CommandContext) throws -> ExitCode {
        let address = try context.bluetoothAddress()
        let stored = DeviceAssembly.storedAddress(address)
        let store = try context.access().openForWriting(creating: false)
        let assembly = DeviceAssembly(library: try ProfileCommand.library(context))
        let description = try store.adoptedDevices().first { $0.address == stored }.flatMap(assembly.description)
        guard description?.isStream ?? true else {
            context.note(
                "vitalgate: \(address) has a memory and may send readings again, which would be stored twice under another key: "
                    + "use 'vitalgate devices forget' to exclude one of the two")
            return .dataError
        }
        let key = try store.part(device: stored)
        context.note("new readings of \(address) are stored as \(key), and stored readings do not change")
        return .success
    }
}
