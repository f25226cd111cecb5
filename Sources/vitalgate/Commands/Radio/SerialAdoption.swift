import CommandLineKit
import Glibc
import HealthModel
import Hub
import Ingestion
import Pipeline
import Profiles
import SampleStore
import SerialSource

/// `devices adopt` for a serial device.
struct SerialAdoption {
    let context: CommandContext
    let library: ProfileLibrary

    /// Whether an address is the path of a serial port.
    static func isPath(_ text: String) -> Bool { text.hasPrefix("/") }

    func run(_ path: String, profiles ids: [String]) throws -> ExitCode {
        let plugs = UdevPlugs.present()
        let plug = plugs.first { $0.node == path || $0.links.contains(path) || $0.node == Folder.resolved(path) }
        let durable = path == plug?.node ? plug?.durablePath ?? path : path
        let stored = DeviceAssembly.storedAddress(serial: durable)
        let store = try context.access().openForWriting(creating: true, takesStreams: true)
        let known = try store.devices.adopted().first { $0.address == stored }
        var profiles = ids
        if profiles.isEmpty, known == nil {
            guard let found = self.profiles(for: plug, at: path) else { return .dataError }
            profiles = found
        }
        var device =
            known
            ?? AdoptedDevice(
                address: stored, key: stored, profiles: profiles, name: "", person: store.owner,
                adopted: context.machine.now().microseconds)
        if !profiles.isEmpty { device.profiles = profiles }
        if let person = try context.invocation.string("--person").map({ try StoreAccess.person($0, in: store) }) {
            device.person = person
        }
        if let name = context.invocation.string("--name") { device.name = name }
        try store.devices.save(device)
        if durable != path { context.note("\(path) may change its name when it is plugged in, so it is adopted as \(durable)") }
        context.note("\(durable) is adopted and read by \(device.profiles.joined(separator: ", "))")
        return .success
    }

    /// The profiles that match the plug, or `nil` if the user must name one.
    private func profiles(for plug: SerialPlug?, at path: String) -> [String]? {
        guard let plug else {
            let isThere = access(path, F_OK) == 0
            context.note(
                isThere
                    ? "vitalgate: cannot identify the device at \(path): name its profile with --profile ID"
                    : "vitalgate: nothing is plugged in at \(path): plug it in, or name its profile with --profile ID")
            return nil
        }
        let (own, shared) = DeviceAssembly(library: library).profiles(for: plug)
        if let first = own.first { return [first.id] }
        let candidates = (shared.isEmpty ? library.profiles.filter { !$0.serialChannels.isEmpty } : shared).map(\.id)
        context.note(
            "vitalgate: \(path) is an adapter (\(plug.vendor):\(plug.product)) that many kinds of devices use: name the profile "
                + "with --profile ID, such as \(candidates.joined(separator: ", "))")
        return nil
    }
}
