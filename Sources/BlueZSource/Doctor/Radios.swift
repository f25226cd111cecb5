import CBluetooth
import EventLoopKit
import Glibc
import Pipeline

/// The kernel's Bluetooth controllers and switches. They are read without bluetoothd, so that it may be broken.
package struct Radios: Sendable {
    /// A Bluetooth adapter in the kernel.
    package struct Controller: Hashable, Sendable {
        /// The kernel's name, such as `hci0`.
        package var name: String
        /// Whether the kernel has started it (HCI_UP).
        package var isUp: Bool
        /// Whether the controller's features include low energy (Core specification, vol 2, part C, 3.3).
        package var supportsLowEnergy: Bool
    }

    /// An rfkill switch for Bluetooth.
    package struct Switch: Hashable, Sendable {
        /// The kernel's name from sysfs, or the name of its folder, such as `rfkill0`, if it has none.
        package var name: String
        /// Whether it is blocked by software: `rfkill unblock bluetooth`.
        package var isSoftBlocked: Bool
        /// Whether it is blocked by a key or a pin of the board.
        package var isHardBlocked: Bool
    }

    /// The controllers that answered, in the order of their numbers.
    package var controllers: [Controller]
    /// The switches sorted by name, or empty if the kernel has none for Bluetooth.
    package var switches: [Switch]
    /// The reason why the controllers could not be read, or nil.
    package var failure: String?

    /// Reads the radios of this machine.
    /// - Parameter root: the root of the sysfs tree, which tests replace.
    package static func ofThisMachine(root: String = "/sys") -> Radios {
        var radios = Radios(controllers: [], switches: switches(root))
        for number in 0..<Int32(HCI_MAX_DEV) {
            var information = hci_dev_info()
            // hci_devinfo (libbluetooth) opens a raw HCI socket. Reading from it needs no privilege.
            if hci_devinfo(number, &information) >= 0 {
                radios.controllers.append(Controller(number, information))
            } else if errno != ENODEV {
                radios.failure =
                    errno == EAFNOSUPPORT
                    ? "the kernel does not support Bluetooth" : SystemFailure("adapters cannot be listed", errno).description
                break
            }
        }
        return radios
    }

    private static func switches(_ root: String) -> [Switch] {
        let folder = root + "/class/rfkill"
        let switches = (Folder.names(folder) ?? []).filter { $0.hasPrefix("rfkill") }.compactMap { name -> Switch? in
            let file = folder + "/" + name + "/"
            guard line(file + "type") == "bluetooth" else { return nil }
            return Switch(
                name: line(file + "name") ?? name, isSoftBlocked: line(file + "soft") == "1",
                isHardBlocked: line(file + "hard") == "1")
        }
        return switches.sorted { $0.name < $1.name }
    }

    private static func line(_ path: String) -> String? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

extension Radios.Controller {
    init(_ number: Int32, _ information: hci_dev_info) {
        name = "hci\(number)"
        isUp = information.flags >> UInt32(HCI_UP) & 1 == 1
        // Core specification, vol 2, part C, 3.3: byte 4, bit 6 is LE Supported (Controller).
        supportsLowEnergy = withUnsafeBytes(of: information.features) { $0[4] & UInt8(LMP_LE) != 0 }
    }
}
