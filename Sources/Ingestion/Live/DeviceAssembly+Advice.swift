import BlueZSource
import Profiles

/// The steps to read a device that was detected but is not read yet.
package struct DeviceAdvice: Hashable, Sendable {
    package var names: [String]
    /// The commands in order. Values that the user has to fill in are in capital letters.
    package var commands: [String]
}

extension DeviceAssembly {
    /// Returns the steps to read a device, or `nil` if no profile reads it.
    package func advice(for device: NearbyDevice) -> DeviceAdvice? {
        let all = profiles(for: device)
        // A battery alone is not a device to adopt.
        guard all.contains(where: { !$0.describesOnlyDevice }) else { return nil }
        let address = device.address.description
        let wantsBond = all.contains { $0.connection.needsBond } && !device.isBonded
        var commands: [String] = []
        if wantsBond || !device.addressIsDurable { commands.append("vitalgate devices pair \(address)") }
        let wantsKey = all.contains { $0.hasEncryptedFrames }
        commands.append("vitalgate devices adopt \(address)" + (wantsKey ? " [--bind-key KEY]" : ""))
        if all.contains(where: { $0.connection.dialogue == .userData }) {
            commands.append("vitalgate devices assign \(address) --person me --user NUMBER --consent CODE")
        }
        let reported = all.filter { !$0.describesOnlyDevice }.map(\.name)
        return DeviceAdvice(names: reported, commands: commands)
    }
}
