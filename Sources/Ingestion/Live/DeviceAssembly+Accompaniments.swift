import BlueZSource
import HealthModel
import Profiles
import SampleStore

/// What is read beside what a device was adopted for: services that it may not advertise, and are found when it is connected.
extension DeviceAssembly {
    /// The profiles that a device's frames are read by: its own, and those that accompany a connected device.
    public func readers(of device: AdoptedDevice) -> [Profile] {
        let own = device.profiles.compactMap { library[$0] }
        guard device.bluetoothAddress != nil, own.contains(where: { $0.connection.presence != .adverts }) else { return own }
        return own + library.profiles.filter { $0.connection.accompanies && !device.profiles.contains($0.id) }
    }

    /// Whether a profile of the device is there for the sake of the others, whichever of them it was adopted with.
    static func isBeside(_ profile: Profile, _ all: [Profile]) -> Bool {
        profile.connection.accompanies && all.contains { !$0.connection.accompanies && $0.connection.presence != .adverts }
    }

    /// The reads of a profile that say something of what other characteristics send.
    static func descriptions(of profile: Profile) -> [CharacteristicName] {
        let describing = profile.describingCharacteristics
        return names(profile.connection.reads.filter { describing.contains($0.characteristic) })
    }
}
