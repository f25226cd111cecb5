/// Asks a person during pairing. Answers may come later; each closure is called once.
public protocol PairingDialogue: AnyObject {
    /// The number on the device's display, 0 to 999999; none to give up.
    func enterPasskey(for address: String, _ answer: @escaping (UInt32?) -> Void)
    /// To be typed on the device.
    func showPasskey(_ passkey: UInt32, for address: String)
    /// Whether both show this number.
    func confirmPasskey(_ passkey: UInt32, for address: String, _ answer: @escaping (Bool) -> Void)
}

extension BlueZSource {
    /// Bonds with a device, which has to be near. The person is asked by ``dialogue``; without one only devices that need no number
    /// ("just works") can be paired.
    public func pair(_ address: BluetoothAddress, completion: @escaping (Result<Void, BusError>) -> Void) {
        guard let path = path(of: address), let adapter = tree[path: path, interface: BlueZ.device]?["Adapter"]?.text else {
            return completion(
                .failure(BusError("org.bluez.Error.DoesNotExist", "\(address) was not heard; is it in pairing mode?")))
        }
        agent.device = path
        // Without it BlueZ pairs for this link only, and keeps no keys (org.bluez.Adapter1, Pairable).
        bus.set(adapter, BlueZ.adapter, "Pairable", .boolean(true)) { [weak self] _ in
            self?.bond(with: address, at: path, completion)
        }
    }

    private func bond(
        with address: BluetoothAddress, at path: String, _ completion: @escaping (Result<Void, BusError>) -> Void
    ) {
        // The person may look for a number on a display: BlueZ gives up by itself (bonding timeout).
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
                            "it was paired, and no keys were kept; 'vitalgate devices forget \(address) --bond', and try again")))
            }
            // BlueZ connects to a trusted device when it advertises, also after our own restart (org.bluez.Device1, Trusted).
            bus.set(path, BlueZ.device, "Trusted", .boolean(true))
            sessions[address]?.bondChanged()
            completion(.success(()))
        }
    }

    /// Removes the bond and all that BlueZ remembers of the device; it has to be paired anew.
    public func forget(_ address: BluetoothAddress, completion: @escaping (Result<Void, BusError>) -> Void) {
        guard let path = path(of: address), let adapter = tree[path: path, interface: BlueZ.device]?["Adapter"]?.text else {
            return completion(.failure(BusError("org.bluez.Error.DoesNotExist", "BlueZ does not know \(address)")))
        }
        bus.call(.adapter(adapter, "RemoveDevice"), [.path(path)]) { completion($0.map { _ in () }) }
    }
}
