import BlueZSource
import CommandLineKit
import Formats
import Gateway
import HealthModel
import Ingestion
import SampleStore

/// `devices`: manages the adopted devices.
enum DevicesCommand: Command {
    static let specification = CommandSpecification(
        name: "devices", summary: "List, adopt, pair, forget, merge, part, assign and report devices.",
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List the adopted devices.", options: [SharedOptions.timeZone, Format.option, Format.safe]),
            CommandSpecification(
                name: "adopt", summary: "Read a device from now on.",
                discussion: """
                    Without --profile the device has to be near: all profiles that match what it advertises are taken. A device that \
                    is adopted already is changed where an option says so. A running hub takes it up when it is sent SIGHUP, or \
                    started anew. A device on a serial line goes by the path of its port that stays the same, as 'ls /dev/serial/by-id' \
                    and 'ls /dev/serial/by-path' show it; behind most adapters --profile has to say what it is.
                    """,
                arguments: [RadioOptions.device],
                options: [
                    Option(
                        names: ["--profile"], value: "ID", help: "Read it by this profile, whatever it advertises.",
                        repeating: true,
                        completion: .command("vitalgate profile list --ids")),
                    Option(
                        names: ["--person"], formerNames: ["--subject"], value: "ID",
                        help: "Whose readings they are: me (the default; a room's are nobody's), a name, unassigned or a UUID."),
                    Option(names: ["--name"], value: "TEXT", help: "What you call it."),
                    Option(
                        names: ["--bind-key"], value: "HEX",
                        help:
                            "The key of its encrypted advertisements: 16 octets. What stands here is seen in ps and in the history: - reads it from standard input."
                    ),
                    RadioOptions.seconds,
                ],
                examples: [
                    Example("vitalgate devices adopt C0:01:02:03:04:01 --name 'chest strap'", "Read this strap."),
                    Example(
                        "vitalgate devices adopt /dev/serial/by-id/usb-Silicon_Labs_CP2102_0042-if00-port0 --profile contec-cms50d",
                        "Read the oximeter on this cable."),
                ]),
            CommandSpecification(
                name: "pair", summary: "Bond with a device that answers only bonded hubs.",
                discussion: "The device has to be in pairing mode. A number to type or to compare is asked for on the terminal.",
                arguments: [RadioOptions.address], options: [RadioOptions.seconds]),
            CommandSpecification(
                name: "forget", summary: "Read a device no longer, and remove its bond.",
                discussion: "Its samples stay.", arguments: [RadioOptions.device],
                options: [Option(names: ["--bond"], help: "Remove only the bond; the device stays adopted.")]),
            CommandSpecification(
                name: "merge", summary: "Let a device go by its earlier key.",
                discussion: """
                    Where a device came back under another key (repaired, or with a new address), its readings would be taken for \
                    another device's. Give keys, or addresses of adopted devices, as 'vitalgate devices list' shows them.
                    """,
                arguments: [
                    Argument(name: "NEW", help: "The key that the device has now."),
                    Argument(name: "OLD", help: "The key that its earlier readings have."),
                ]),
            CommandSpecification(
                name: "part", summary: "Tell a device from another that says the same of itself.",
                discussion: """
                    Some makers give all their devices one serial number. Their readings are then taken for those of one device; a running \
                    hub says so where it hears both. From now on the readings of this one go by a key that is made of the common one and its \
                    address; what is stored stays where it is. Not for devices that keep readings: what they send again would be stored \
                    again. A running hub goes by it when it is sent SIGHUP, or started anew; 'vitalgate devices merge' takes it back.
                    """,
                arguments: [RadioOptions.address],
                examples: [
                    Example("vitalgate devices part C0:01:02:03:04:02", "Tell this strap from the other one, whose key stays.")
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
                "vitalgate: no Bluetooth adapter answers, so a bond stays if there is one: `bluetoothctl remove \(address)`")
            return context.invocation.flag("--bond") ? .unavailable : .success
        }
        let answer: Result<Void, BusError>? = radio.run(limit: .seconds(10)) { radio.source.forget(address, completion: $0) }
        switch answer {
        case .success: return .success
        case .failure(let error) where error.name == "org.bluez.Error.DoesNotExist":
            if context.invocation.flag("--bond") { context.note("vitalgate: there is no bond with \(address)") }
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
                    ? "a device's key; no device is known yet"
                    : "the address or key of a device that is known: \(known.prefix(20).joined(separator: ", "))"
                        + (known.count > 20 ? ", …; 'vitalgate devices list' shows those adopted" : ""))
        }
        try store.merge(device: new, into: old)
        context.note("readings of \(new) go by \(old) from now on")
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
                "vitalgate: \(address) keeps readings and may send them again: under another key they would be stored a second time. "
                    + "'vitalgate devices forget' leaves one of the two out")
            return .dataError
        }
        let key = try store.part(device: stored)
        context.note("readings of \(address) go by \(key) from now on; what is stored stays as it is")
        return .success
    }
}
