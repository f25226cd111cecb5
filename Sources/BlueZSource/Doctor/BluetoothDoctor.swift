import EventLoopKit
import Pipeline
import SystemdKit

/// Finds Bluetooth problems on this machine, from the kernel upward. Each finding contains the command that fixes it.
///
///     BluetoothDoctor(bus: bus).examine { findings in … }
package final class BluetoothDoctor {
    private let bus: SystemBus
    private let radios: Radios
    private let version: DaemonVersion?
    private let user: BusUser
    private var tree: ObjectTree?
    private var timer: EventLoop.Timer?
    private var completion: (([Finding]) -> Void)?

    /// - Parameter bus: a bus that is not open yet.
    package convenience init(bus: SystemBus) {
        self.init(bus: bus, radios: .ofThisMachine(), version: .installed(), user: .current())
    }

    init(bus: SystemBus, radios: Radios, version: DaemonVersion?, user: BusUser) {
        self.bus = bus
        self.radios = radios
        self.version = version
        self.user = user
    }

    /// Examines the machine within the time limit, and closes the bus.
    package func examine(within limit: Duration = .seconds(20), completion: @escaping ([Finding]) -> Void) {
        self.completion = completion
        let tree = ObjectTree(bus: bus)
        self.tree = tree
        tree.onChange = { [weak self] change in
            switch change {
            case .filled: self?.finish(self?.adapters(in: tree) ?? [])
            case .refused(let error): self?.refused(error)
            default: break
            }
        }
        bus.onConnected = { [weak tree] in tree?.start() }
        bus.onLost = { [weak self] error in
            self?.finish([
                Finding(.broken, "D-Bus", "no connection (\(error.message))", command: "sudo systemctl start dbus")
            ])
        }
        timer = bus.loop.after(limit) { [weak self] in
            self?.finish([
                Finding(
                    .broken, "bluetoothd", "it does not respond", command: "sudo systemctl restart bluetooth")
            ])
        }
        bus.open()
    }

    private func finish(_ findings: [Finding]) {
        guard let completion else { return }
        self.completion = nil
        timer?.cancel()
        // Act after the bus's callback has returned.
        bus.loop.after(.zero) { [self] in
            tree?.onChange = nil
            tree?.stop()
            bus.onLost = nil
            bus.close()
            completion(Self.evaluate(radios) + Self.evaluate(version) + findings)
        }
    }

    private func refused(_ error: BusError) {
        switch LinkFailure(error) {
        case .accessDenied: finish([user.refusal])
        case .unknownObject where version == nil:
            finish([Finding(.broken, "bluetoothd", "it is not installed", command: "sudo apt install bluez")])
        case .unknownObject:
            finish([Finding(.broken, "bluetoothd", "it is not running", command: "sudo systemctl enable --now bluetooth")])
        default:
            finish([
                Finding(.broken, "bluetoothd", "it refused the request: \(error.name)", command: "systemctl status bluetooth")
            ])
        }
    }

    private func adapters(in tree: ObjectTree) -> [Finding] {
        let adapters = tree.objects.compactMap { path, interfaces in interfaces[BlueZ.adapter].map { (path, $0) } }
            .sorted { $0.0 < $1.0 }
        var findings = [Finding(.good, "bluetoothd", "running")]
        if adapters.isEmpty, !radios.controllers.isEmpty {
            findings.append(
                Finding(
                    .broken, "bluetoothd", "the kernel has an adapter, but bluetoothd does not",
                    command: "sudo systemctl restart bluetooth"))
        }
        for (path, properties) in adapters {
            let name = "adapter \(path.split(separator: "/").last ?? "")"
            if properties["Powered"]?.truth == true {
                findings.append(Finding(.good, name, "powered"))
            } else {
                findings.append(Finding(.broken, name, "it is off", command: "bluetoothctl power on"))
            }
            // org.bluez.Adapter1, Roles: absent before 5.54.
            if let roles = properties["Roles"]?.texts, !roles.contains(where: { $0.hasPrefix("central") }) {
                findings.append(
                    Finding(.broken, name, "it does not support the central role of Bluetooth Low Energy: use another adapter"))
            }
        }
        return findings
    }

    static func evaluate(_ radios: Radios) -> [Finding] {
        var findings: [Finding] = []
        if let failure = radios.failure {
            findings.append(Finding(.broken, "kernel", failure, command: "sudo modprobe bluetooth btusb"))
        } else if radios.controllers.isEmpty {
            findings.append(
                Finding(
                    .broken, "kernel", "there is no Bluetooth adapter",
                    command: "lsusb; dmesg | grep -i bluetooth  # on a Pi: is dtoverlay=disable-bt in config.txt?"))
        }
        for controller in radios.controllers where controller.isUp && !controller.supportsLowEnergy {
            findings.append(
                Finding(
                    .broken, "adapter \(controller.name)",
                    "it does not support Bluetooth Low Energy: use an adapter with Bluetooth 4.0 or later"))
        }
        for name in radios.switches.filter(\.isSoftBlocked).map(\.name) {
            findings.append(Finding(.broken, "rfkill \(name)", "switched off", command: "sudo rfkill unblock bluetooth"))
        }
        for name in radios.switches.filter(\.isHardBlocked).map(\.name) {
            findings.append(Finding(.broken, "rfkill \(name)", "switched off by a hardware switch"))
        }
        if findings.isEmpty {
            findings.append(
                Finding(
                    .good, "kernel", "found \(radios.controllers.map(\.name).joined(separator: ", ")), not blocked"))
        }
        return findings
    }

    static func evaluate(_ version: DaemonVersion?) -> [Finding] {
        guard let version else { return [] }
        guard let fault = version.fault else { return [Finding(.good, "bluetoothd", "version \(version)")] }
        return [
            Finding(
                .warning, "bluetoothd", "version \(version) \(fault)", command: "sudo apt update && sudo apt install bluez")
        ]
    }
}
