import BlueZSource
import CommandLineKit
import EventLoopKit
import HealthModel
import Hub
import Ingestion
import Pipeline
import SampleStore

extension CommandContext {
    /// A radio that sends its notices to the log.
    func radio(isVerbose: Bool = false) throws -> Radio {
        let radio = Radio(machine: machine, zone: try machine.zone(configuration().timeZone))
        radio.onNotice = { log($0, isVerbose: isVerbose) }
        return radio
    }

    /// Logs a notice. Notices contain no values.
    func log(_ notice: SourceNotice, isVerbose: Bool) {
        switch notice.weight {
        case .detail: if isVerbose { log("detail", notice.description, .debug) }
        case .information: inform(notice.description)
        case .warning: warn(notice.description)
        case .action: log("action", notice.description, .error)
        }
    }

    /// The adopted devices. Empty if there is no store.
    func adoptedDevices() throws -> [AdoptedDevice] {
        let access = try access()
        do throws(StoreError) {
            return try access.openForReading().devices.adopted()
        } catch {
            guard error.kind == .missing || error.kind == .invalid else { throw error }
            return []
        }
    }

    /// The adopted device with an address, path or name.
    func adoptedDevice(_ text: String, in store: SampleStore) throws -> AdoptedDevice {
        let address =
            SerialAdoption.isPath(text)
            ? DeviceAssembly.storedAddress(serial: text) : BluetoothAddress(text).map(DeviceAssembly.storedAddress) ?? text
        let found = try store.devices.adopted().filter { $0.address == address || $0.name == text }
        guard found.count == 1 else {
            throw StoreError(
                .invalid,
                found.isEmpty
                    ? "no adopted device has the address or name '\(text)' (see 'vitalgate devices list')"
                    : "\(found.count) adopted devices are named '\(text)': use an address from 'vitalgate devices list'")
        }
        return found[0]
    }

    func bluetoothAddress() throws -> BluetoothAddress {
        let text = invocation.argument("ADDRESS") ?? ""
        guard let address = BluetoothAddress(text) else {
            throw invocation.invalid(
                "ADDRESS", value: text, expected: "a Bluetooth address such as C0:01:02:03:04:01 (see 'vitalgate scan')")
        }
        return address
    }

    /// Reports that there is no adapter, and the remedy.
    func noAdapter() -> ExitCode {
        note(
            "vitalgate: no Bluetooth adapter answers: check that bluetooth is running (`systemctl status bluetooth`) "
                + "and the adapter is plugged in")
        return .unavailable
    }
}

/// Options and arguments that the device commands share.
enum RadioOptions {
    static let address = Argument(name: "ADDRESS", help: "Bluetooth address, as shown by 'vitalgate scan'.")
    static let device = Argument(
        name: "ADDRESS", help: "Bluetooth address, as shown by 'vitalgate scan', or path of a serial port.")
    static let seconds = Option(names: ["--seconds"], value: "N", help: "Seconds to listen for devices (default: 10).")
    static let verbose = Option(names: ["--verbose"], help: "Also log routine events.")
}
