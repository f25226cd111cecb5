import BlueZSource
import HealthModel
import Profiles
import SampleStore

/// Services that are read in addition to those a device was adopted for. It may not advertise them, and they are found when it is
/// connected.
extension DeviceAssembly {
    /// Returns the profiles that read a device's frames: its own, and those that accompany a connected device.
    package func readers(of device: AdoptedDevice) -> [Profile] {
        let own = device.profiles.compactMap { library[$0] }
        guard device.bluetoothAddress != nil, own.contains(where: { $0.connection.presence != .adverts }) else { return own }
        return own + library.profiles.filter { $0.connection.accompanies && !device.profiles.contains($0.id) }
    }

    /// Whether a profile of the device only accompanies the others, whichever of them it was adopted with.
    static func isAccompaniment(_ profile: Profile, _ all: [Profile]) -> Bool {
        profile.connection.accompanies && all.contains { !$0.connection.accompanies && $0.connection.presence != .adverts }
    }

    /// Returns the characteristics whose values describe the data of other characteristics.
    static func descriptions(of profile: Profile) -> [CharacteristicName] {
        let describing = profile.describingCharacteristics
        return names(profile.connection.reads.filter { describing.contains($0.characteristic) })
    }
}
