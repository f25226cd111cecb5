import CBluetooth
import Glibc

/// The kernel's Bluetooth controllers and switches, asked without bluetoothd, so that it works when that does not.
public struct Radios: Sendable {
    /// A Bluetooth adapter as the kernel has it.
    public struct Controller: Hashable, Sendable {
        /// The kernel's name, such as `hci0`.
        public var name: String
        /// Whether the kernel has it running (HCI_UP).
        public var isUp: Bool
        /// Whether the controller says so among its features (Core specification, vol 2, part C, 3.3).
        public var supportsLowEnergy: Bool
    }

    /// A switch of rfkill that is for Bluetooth.
    public struct Switch: Hashable, Sendable {
        /// The kernel's name, from sysfs; that of its folder, such as `rfkill0`, where it has none.
        public var name: String
        /// By a program: `rfkill unblock bluetooth`.
        public var isSoftBlocked: Bool
        /// By a key or a pin of the board.
        public var isHardBlocked: Bool
    }

    /// Those that answered, in the order of their numbers.
    public var controllers: [Controller]
    /// Sorted by name; empty where the kernel shows none for Bluetooth.
    public var switches: [Switch]
    /// Why the controllers could not be asked.
    public var failure: String?

    /// Tests have their own; the program asks ``ofThisMachine(root:)``.
    public init(controllers: [Controller], switches: [Switch], failure: String? = nil) {
        self.controllers = controllers
        self.switches = switches
        self.failure = failure
    }

    /// Asks this machine.
    /// - Parameter root: of the sysfs tree; tests have their own.
    public static func ofThisMachine(root: String = "/sys") -> Radios {
        var radios = Radios(controllers: [], switches: switches(root))
        for number in 0..<Int32(HCI_MAX_DEV) {
            var information = hci_dev_info()
            // hci_devinfo (libbluetooth) opens a raw HCI socket, which needs no privilege to ask.
            if hci_devinfo(number, &information) >= 0 {
                radios.controllers.append(Controller(number, information))
            } else if errno != ENODEV {
                radios.failure = errno == EAFNOSUPPORT ? "it has no Bluetooth" : "it does not tell: \(errorText(errno))"
                break
            }
        }
        return radios
    }

    private static func switches(_ root: String) -> [Switch] {
        let folder = root + "/class/rfkill"
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var switches: [Switch] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            let file = folder + "/" + name + "/"
            guard name.hasPrefix("rfkill"), line(file + "type") == "bluetooth" else { continue }
            switches.append(
                Switch(
                    name: line(file + "name") ?? name, isSoftBlocked: line(file + "soft") == "1",
                    isHardBlocked: line(file + "hard") == "1"))
        }
        return switches.sorted { $0.name < $1.name }
    }

    private static func line(_ path: String) -> String? {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var octets = [UInt8](repeating: 0, count: 256)
        let count = read(file, &octets, octets.count)
        guard count > 0 else { return nil }
        return String(decoding: octets[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

extension Radios.Controller {
    init(_ number: Int32, _ information: hci_dev_info) {
        name = "hci\(number)"
        isUp = information.flags >> UInt32(HCI_UP) & 1 == 1
        // Core specification, vol 2, part C, 3.3: octet 4, bit 6 is LE Supported (Controller).
        supportsLowEnergy = withUnsafeBytes(of: information.features) { $0[4] & UInt8(LMP_LE) != 0 }
    }
}
