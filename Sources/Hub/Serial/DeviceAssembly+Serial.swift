import HealthModel
import Ingestion
import Profiles
import SampleStore
import SerialSource

extension DeviceAssembly {
    /// Returns the source's description of an adopted device, or `nil` if it is not a serial device or none of its profiles
    /// exists.
    func serial(_ adopted: AdoptedDevice) -> SerialDescription? {
        guard let path = adopted.serialPath else { return nil }
        for profile in adopted.profiles.compactMap({ library[$0] }) {
            guard let channel = profile.serialChannels.first, let match = profile.match(channel: channel),
                let framing = match.framing, let port = match.port
            else { continue }
            var description = SerialDescription(
                path: path, channel: match.channelName, settings: port, framing: framing,
                device: adopted.device ?? Device(key: adopted.key, name: profile.name))
            let conversation = profile.connection.serial
            description.opening = conversation.opening
            description.keepAlive = conversation.keepAlive.map { ($0.bytes, .seconds($0.every)) }
            description.closing = conversation.closing
            description.meter = Self.meter(conversation.dialogue)
            return description
        }
        return nil
    }

    private static func meter(_ dialogue: SerialConversation.Dialogue?) -> MeterKind? {
        switch dialogue {
        case .oneTouchUltra2: .oneTouchUltra2
        case .freeStyleOptium: .freeStyleOptium
        case nil: nil
        }
    }

    /// Returns the profiles for devices with this plug. The plug of a shared adapter may belong to any device.
    package func profiles(for plug: SerialPlug) -> (own: [Profile], shared: [Profile]) {
        func matches(_ profile: Profile, shared: Bool) -> Bool {
            profile.match.usb.contains {
                $0.vendor == plug.vendor && $0.product == plug.product && $0.isShared == shared
            }
        }
        return (library.profiles.filter { matches($0, shared: false) }, library.profiles.filter { matches($0, shared: true) })
    }

    /// Returns the address in the store's form, `serial:/dev/serial/by-id/…`.
    package static func storedAddress(serial path: String) -> String { AdoptedDevice.serial + path }
}

extension AdoptedDevice {
    /// The prefix of the addresses of devices on serial lines.
    static let serial = "serial:"

    /// The path `/dev/serial/by-id/…`, or `nil` for other devices.
    package var serialPath: String? { address.hasPrefix(Self.serial) ? String(address.dropFirst(Self.serial.count)) : nil }
}
