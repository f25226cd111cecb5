import HealthModel
import Profiles
import SampleStore

extension AdoptedDevice {
    package static let bluetooth = "bluetooth:"

    /// The Bluetooth address such as `C0:01:02:03:04:01`, or `nil` for other devices.
    package var bluetoothAddress: String? {
        address.hasPrefix(Self.bluetooth) ? String(address.dropFirst(Self.bluetooth.count)) : nil
    }

    /// The prefix of the addresses of devices that do not exist.
    package static let simulated = "simulated:"
}

extension Profile {
    /// The same profile with a source that marks all its readings as simulated.
    package var simulated: Profile {
        naming { SourceRevision(id: "simulation.\($0.id)", name: "Vitalgate simulation: \($0.name)", version: $0.version) }
    }
}
