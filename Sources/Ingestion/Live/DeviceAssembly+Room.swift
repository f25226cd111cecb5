import BlueZSource
import HealthModel
import Pipeline
import Profiles
import Wire

extension DeviceAssembly {
    /// Whether a device measures only a room and no person, judged by its profiles or by the readings received so far. Some
    /// advertisement formats (BTHome, MiBeacon) are used by both scales and thermometers, and only the readings show which it is.
    ///
    /// - Parameter bindKey: 32 hexadecimal digits if its advertisements are encrypted. Without the key they cannot be read.
    package func measuresOnlyRoom(_ device: NearbyDevice?, profiles ids: [String], bindKey: String?) -> Bool {
        let profiles = ids.compactMap { library[$0] }.filter { !$0.describesOnlyDevice }
        guard !profiles.isEmpty else { return false }
        if profiles.allSatisfy(\.measuresOnlyRoom) { return true }
        guard let device else { return false }
        let received = types(of: device, profiles, bindKey).subtracting([.batteryLevel])
        return !received.isEmpty && received.allSatisfy(\.isOfRoom)
    }

    /// Returns the types of the readings in its advertisements, as far as they can be read.
    private func types(of device: NearbyDevice, _ profiles: [Profile], _ bindKey: String?) -> Set<SampleType> {
        var options = BinaryOptions()
        options.secrets.bindKey = bindKey.flatMap { HexadecimalText.bytes($0) }
        options.secrets.address = HexadecimalText.bytes(device.address.description.filter { $0 != ":" })
        let registry = OriginRegistry(person: Origin.unassigned)
        var types: Set<SampleType> = []
        for profile in profiles {
            for channel in profile.binaryChannels {
                guard let part = AdvertisedData(channel: channel), let match = profile.match(channel: channel) else { continue }
                let interpreter = BinaryInterpreter(match, registry: registry, options: options)
                for bytes in part.frames(in: device.data) {
                    var readings: [Reading] = []
                    bytes.withUnsafeBytes { bytes in
                        let frame = RawFrame(
                            payload: .bytes(bytes), place: Place(.record, 1), received: Instant(seconds: 0), channel: channel)
                        _ = try? interpreter.interpret(frame, into: &readings)
                    }
                    for reading in readings { types.insert(reading.origin.type) }
                }
            }
        }
        return types
    }
}
