import EventLoopKit
import Pipeline

extension BlueZSource {
    /// Returns the rank of a BlueZ object, or nil if it belongs to a device and has that device's rank.
    func rank(of interfaces: [String: ObjectTree.Properties]) -> ObjectTree.Rank? {
        if interfaces[BlueZ.adapter] != nil { return .adapter }
        guard let device = interfaces[BlueZ.device] else { return nil }
        if let address = device["Address"]?.text.flatMap({ BluetoothAddress($0) }), sessions[address] != nil { return .adopted }
        return ["Paired", "Bonded", "Trusted"].contains { device[$0]?.truth == true } ? .known : .other
    }
}
