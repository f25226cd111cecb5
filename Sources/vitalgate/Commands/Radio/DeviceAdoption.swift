import BlueZSource
import CommandLineKit
import Gateway
import HealthModel
import Ingestion
import Profiles
import SampleStore
import Wire

/// `devices adopt`.
struct DeviceAdoption {
    let context: CommandContext

    func run() throws -> ExitCode {
        let invocation = context.invocation
        let library = try ProfileCommand.library(context)
        let ids = invocation.strings("--profile")
        for id in ids {
            guard let profile = library[id] else {
                throw invocation.invalid("--profile", value: id, expected: "a profile; 'vitalgate profile list' shows them")
            }
            guard !profile.binaryChannels.isEmpty else {
                throw invocation.invalid("--profile", value: id, expected: "a profile of devices; this one reads files")
            }
        }
        if let path = invocation.argument("ADDRESS"), SerialAdoption.isPath(path) {
            if let id = ids.first(where: { library[$0]?.serialChannels.isEmpty ?? true }) {
                throw invocation.invalid("--profile", value: id, expected: "a profile of serial devices, for a serial port")
            }
            return try SerialAdoption(context: context, library: library).run(path, profiles: ids)
        }
        let address = try context.bluetoothAddress()
        let stored = DeviceAssembly.storedAddress(address)
        let store = try context.access().openForWriting(creating: true, takesStreams: true)
        let subject = try invocation.string("--subject").map { try StoreAccess.subject($0, in: store) }
        let bindKey = try self.bindKey()
        var device: AdoptedDevice
        if let known = try store.adoptedDevices().first(where: { $0.address == stored }) {
            device = known
            if !ids.isEmpty { device.profiles = ids }
        } else {
            var (profiles, name) = (ids, "")
            if ids.isEmpty {
                let found = try look(for: address, DeviceAssembly(library: library))
                guard case .found(let near) = found else { return found.code }
                profiles = near.profiles
                name = near.name
            }
            device = AdoptedDevice(
                address: stored, key: stored, profiles: profiles, name: name,
                subject: Self.subject(of: profiles, library, store), adopted: context.machine.now().microseconds)
            if subject == nil, device.subject == Origin.unassigned {
                context.note("what it measures is a room's and nobody's; --subject makes it a person's")
            }
        }
        if let subject { device.subject = subject }
        if let name = invocation.string("--name") { device.name = name }
        if let bindKey {
            device.bindKey = bindKey
            // With another battery it counts its advertisements anew; a hub that runs sees by the time that this is another adoption.
            device.counter = nil
            device.adopted = context.machine.now().microseconds
        }
        try store.save(device)
        context.note("\(address) is read by \(device.profiles.joined(separator: ", "))")
        return .success
    }

    /// Whose its readings are where nobody says it: a room has no body.
    private static func subject(of ids: [String], _ library: ProfileLibrary, _ store: SampleStore) -> String {
        let profiles = ids.compactMap { library[$0] }.filter { !$0.tellsOnlyOfDevice }
        return !profiles.isEmpty && profiles.allSatisfy(\.tellsOnlyOfRoom) ? Origin.unassigned : store.subject
    }

    private enum Search {
        case found((profiles: [String], name: String))
        case failed(ExitCode)
        var code: ExitCode { if case .failed(let code) = self { code } else { .success } }
    }

    private func look(for address: BluetoothAddress, _ assembly: DeviceAssembly) throws -> Search {
        let seconds = try context.invocation.integer("--seconds", in: 1...3600) ?? 10
        let radio = try context.radio()
        radio.source.start()
        defer { radio.source.stop() }
        guard radio.waitForAdapter() else { return .failed(context.noAdapter()) }
        var heard: NearbyDevice?
        let found: NearbyDevice?? = radio.run(limit: .seconds(seconds + 5)) { done in
            radio.source.find(within: .seconds(seconds)) { device in
                guard device.address == address else { return false }
                heard = device
                return !assembly.profiles(for: device).isEmpty
            } completion: {
                done($0)
            }
        }
        guard let heard else {
            context.note(
                "vitalgate: \(address) was not heard within \(seconds) s: wake it up, and bring it near; or name its profile "
                    + "with --profile")
            return .failed(.unavailable)
        }
        guard let near = found ?? nil else {
            context.note("vitalgate: no profile matches what \(address) advertises; --profile ID names one")
            return .failed(.dataError)
        }
        guard heard.addressIsDurable else {
            context.note("vitalgate: \(address) changes its address every few minutes; 'vitalgate devices pair \(address)' first")
            return .failed(.dataError)
        }
        return .found((assembly.profiles(for: near).map(\.id), near.name ?? ""))
    }

    private func bindKey() throws -> String? {
        guard let text = try context.secret("--bind-key") else { return nil }
        guard let octets = HexadecimalText.octets(text), octets.count == 16 else {
            // What is nearly a key must not end up in a log.
            throw context.invocation.invalid("--bind-key", value: "…", expected: "16 octets of two hexadecimal digits each")
        }
        return octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
