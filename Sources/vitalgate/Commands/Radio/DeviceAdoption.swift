import BlueZSource
import CommandLineKit
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
                throw invocation.invalid("--profile", value: id, expected: "a profile from 'vitalgate profile list'")
            }
            guard !profile.binaryChannels.isEmpty else {
                throw invocation.invalid("--profile", value: id, expected: "a profile for devices, but this one reads files")
            }
        }
        if let path = invocation.argument("ADDRESS"), SerialAdoption.isPath(path) {
            if let id = ids.first(where: { library[$0]?.serialChannels.isEmpty ?? true }) {
                throw invocation.invalid("--profile", value: id, expected: "a profile for serial devices")
            }
            return try SerialAdoption(context: context, library: library).run(path, profiles: ids)
        }
        let address = try context.bluetoothAddress()
        let stored = DeviceAssembly.storedAddress(address)
        let store = try context.access().openForWriting(creating: true, takesStreams: true)
        let person = try context.person(in: store)
        let bindKey = try self.bindKey()
        var device: AdoptedDevice
        if let known = try store.devices.adopted().first(where: { $0.address == stored }) {
            device = known
            if !ids.isEmpty { device.profiles = ids }
        } else {
            let assembly = DeviceAssembly(library: library)
            var (profiles, name) = (ids, "")
            var nearby: NearbyDevice?
            if ids.isEmpty {
                let found = try look(for: address, assembly)
                guard case .found(let near) = found else { return found.code }
                profiles = assembly.profiles(for: near).map(\.id)
                name = near.name ?? ""
                nearby = near
            }
            device = AdoptedDevice(
                address: stored, key: stored, profiles: profiles, name: name,
                person: assembly.measuresOnlyRoom(nearby, profiles: profiles, bindKey: bindKey)
                    ? Origin.unassigned : store.owner,
                adopted: context.machine.now().microseconds)
            if person == nil, device.person == Origin.unassigned {
                context.note("its readings describe a room and are unassigned (use --person to assign them)")
            }
        }
        if let person { device.person = person }
        if let name = invocation.string("--name") { device.name = name }
        if let bindKey {
            device.bindKey = bindKey
            // After a battery change, a device restarts its advertisement counter. The new time makes a running hub treat this as
            // another adoption.
            device.counter = nil
            device.adopted = context.machine.now().microseconds
        }
        try store.devices.save(device)
        context.note("\(address) is adopted and read by \(device.profiles.joined(separator: ", "))")
        return .success
    }

    private enum Search {
        case found(NearbyDevice)
        case failed(ExitCode)
        var code: ExitCode { if case .failed(let code) = self { code } else { .success } }
    }

    private func look(for address: BluetoothAddress, _ assembly: DeviceAssembly) throws -> Search {
        let seconds = try context.invocation.integer("--seconds", in: 1...3600) ?? 10
        let radio = try context.radio()
        let receivers = try ReceiverScan(context, loop: radio.loop)
        radio.source.start()
        defer {
            receivers.stop()
            radio.source.stop()
        }
        guard receivers.isThere || radio.waitForAdapter() else { return .failed(context.noAdapter()) }
        var nearby: NearbyDevice?
        let isWanted: (NearbyDevice) -> Bool = { device in
            guard device.address == address else { return false }
            nearby = device
            return !assembly.profiles(for: device).isEmpty
        }
        let found: NearbyDevice?? = radio.run(limit: .seconds(seconds + 5)) { done in
            receivers.onDevice = { if isWanted($0) { done($0) } }
            radio.source.find(within: .seconds(seconds), where: isWanted) {
                done($0)
            }
        }
        guard let nearby else {
            context.note(
                "vitalgate: \(address) was not found within \(seconds) s: wake it up and bring it near, "
                    + "or name its profile with --profile")
            return .failed(.unavailable)
        }
        guard let near = found ?? nil else {
            context.note("vitalgate: no profile matches what \(address) advertises: name one with --profile ID")
            return .failed(.dataError)
        }
        guard nearby.addressIsDurable else {
            context.note(
                "vitalgate: \(address) changes its address every few minutes: run 'vitalgate devices pair \(address)' first")
            return .failed(.dataError)
        }
        return .found(near)
    }

    private func bindKey() throws -> String? {
        guard let text = try context.secret("--bind-key") else { return nil }
        guard let bytes = HexadecimalText.bytes(text), bytes.count == 16 else {
            // The message omits the value because it may be almost a key and must not end up in a log.
            throw context.invocation.invalid("--bind-key", value: "…", expected: "16 bytes as 32 hexadecimal digits")
        }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
