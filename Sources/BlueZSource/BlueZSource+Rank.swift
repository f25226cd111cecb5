import EventLoopKit
import Pipeline

extension BlueZSource {
    /// Whom an object of BlueZ's matters to; nothing where it is part of a device, and goes by that.
    func rank(of interfaces: [String: ObjectTree.Properties]) -> ObjectTree.Rank? {
        if interfaces[BlueZ.adapter] != nil { return .adapter }
        guard let device = interfaces[BlueZ.device] else { return nil }
        if let address = device["Address"]?.text.flatMap({ BluetoothAddress($0) }), sessions[address] != nil { return .adopted }
        return ["Paired", "Bonded", "Trusted"].contains { device[$0]?.truth == true } ? .known : .other
    }
}
