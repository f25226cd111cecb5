import BlueZSource
import Profiles

/// What a person does with a device that was heard and is not read yet.
public struct DeviceAdvice: Hashable, Sendable {
    /// What it is, by the names of the profiles that read it.
    public var names: [String]
    /// Commands, in their order; what a person has to know is in capital letters.
    public var commands: [String]
}

extension DeviceAssembly {
    /// How a device comes to be read; nil where no profile reads it.
    public func advice(for device: NearbyDevice) -> DeviceAdvice? {
        let all = profiles(for: device)
        // A battery is no device to adopt.
        guard all.contains(where: { !$0.tellsOnlyOfDevice }) else { return nil }
        let address = device.address.description
        let wantsBond = all.contains { $0.connection.needsBond } && !device.isBonded
        var commands: [String] = []
        if wantsBond || !device.addressIsDurable { commands.append("vitalgate devices pair \(address)") }
        let wantsKey = all.contains { $0.devices.contains { $0.needs?.contains("bind key") == true } }
        commands.append("vitalgate devices adopt \(address)" + (wantsKey ? " [--bind-key KEY]" : ""))
        if all.contains(where: { $0.connection.dialogue == .userData }) {
            commands.append("vitalgate devices assign \(address) --subject me --user NUMBER --consent CODE")
        }
        let told = all.filter { !$0.tellsOnlyOfDevice }.map(\.name)
        return DeviceAdvice(names: told, commands: commands)
    }
}
