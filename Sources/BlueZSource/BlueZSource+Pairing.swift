import SystemdKit

/// Asks the user during pairing. Answers may come later, and each closure is called once.
package protocol PairingDialogue: AnyObject {
    /// Asks for the number on the device's display, 0 to 999999. Answer nil to cancel.
    func enterPasskey(for address: String, _ answer: @escaping (UInt32?) -> Void)
    /// Shows a number that the user types on the device.
    func showPasskey(_ passkey: UInt32, for address: String)
    /// Asks whether both sides show this number.
    func confirmPasskey(_ passkey: UInt32, for address: String, _ answer: @escaping (Bool) -> Void)
}

extension BlueZSource {
    /// Bonds with a device, which must be in range. ``dialogue`` asks the user. Without it, only devices that need no number ("just works")
    /// can be paired.
    package func pair(_ address: BluetoothAddress, completion: @escaping (Result<Void, BusError>) -> Void) {
        guard let path = path(of: address), let adapter = tree[path: path, interface: BlueZ.device]?["Adapter"]?.text else {
            return completion(
                .failure(BusError("org.bluez.Error.DoesNotExist", "\(address) was not found: is it in pairing mode?")))
        }
        agent.device = path
        // Otherwise BlueZ pairs for this link only and keeps no keys (org.bluez.Adapter1, Pairable).
        bus.set(adapter, BlueZ.adapter, "Pairable", .boolean(true)) { [weak self] _ in
            self?.bond(with: address, at: path, completion)
        }
    }

    private func bond(
        with address: BluetoothAddress, at path: String, _ completion: @escaping (Result<Void, BusError>) -> Void
    ) {
        // The user may need time to find the number. BlueZ has its own bonding timeout.
        bus.call(.device(path, "Pair"), timeout: .seconds(150)) { [weak self] answer in
            guard let self else { return }
            agent.device = nil
            if let error = answer.failure, error.name != "org.bluez.Error.AlreadyExists" { return completion(.failure(error)) }
            let properties = tree[path: path, interface: BlueZ.device] ?? [:]
            guard properties["Bonded"]?.truth ?? properties["Paired"]?.truth ?? false else {
                return completion(
                    .failure(
                        BusError(
                            "org.bluez.Error.Failed",
                            "the device was paired, but its keys were not kept: "
                                + "run 'vitalgate devices forget \(address) --bond' and try again"
                        )))
            }
            // BlueZ connects to a trusted device when it advertises, even after the hub restarts (org.bluez.Device1, Trusted).
            bus.set(path, BlueZ.device, "Trusted", .boolean(true))
            sessions[address]?.bondChanged()
            completion(.success(()))
        }
    }

    /// Removes the bond and everything that BlueZ stores about the device. The device must then be paired again.
    package func forget(_ address: BluetoothAddress, completion: @escaping (Result<Void, BusError>) -> Void) {
        guard let path = path(of: address), let adapter = tree[path: path, interface: BlueZ.device]?["Adapter"]?.text else {
            return completion(.failure(BusError("org.bluez.Error.DoesNotExist", "BlueZ does not know \(address)")))
        }
        bus.call(.adapter(adapter, "RemoveDevice"), [.path(path)]) { completion($0.map { _ in () }) }
    }
}
