import HealthModel

/// The Device Information Service (180A), combined into a device and its most durable name.
package struct DeviceInformation: Sendable {
    /// The characteristics of the service.
    package static let fields: [BluetoothUUID] = [
        BluetoothUUID(0x2A29), BluetoothUUID(0x2A24), BluetoothUUID(0x2A25), BluetoothUUID(0x2A27), BluetoothUUID(0x2A26),
        BluetoothUUID(0x2A28), BluetoothUUID(0x2A23), BluetoothUUID(0x2B00),
    ]

    /// The fields from which ``device(name:address:addressIsDurable:profile:)`` makes a key with a serial number.
    static let keyFields: [BluetoothUUID] = [BluetoothUUID(0x2A29), BluetoothUUID(0x2A24), BluetoothUUID(0x2A25)]

    var hasKey: Bool { texts[BluetoothUUID(0x2A25)].map(Self.isRealSerialNumber) ?? false }

    private var texts: [BluetoothUUID: String] = [:]
    private var systemIdentifier: String?

    /// Creates an empty description.
    package init() {}

    /// Adds the value of one of the ``fields``.
    package mutating func add(_ field: BluetoothUUID, _ bytes: [UInt8]) {
        if field == BluetoothUUID(0x2A23) {
            // EUI-64, least significant byte first. Equal bytes mean that the maker did not set it.
            guard bytes.count == 8, Set(bytes).count > 1 else { return }
            systemIdentifier = bytes.reversed().map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
            return
        }
        // Some devices pad with zeros or blanks, and some end at the first zero.
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let trimmed = text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed()
        if !trimmed.isEmpty { texts[field] = String(trimmed) }
    }

    /// Returns the device. Its key does not change with a new bond, a new battery or another hub (DESIGN, section 4).
    package func device(name: String?, address: BluetoothAddress, addressIsDurable: Bool, profile: String) -> Device {
        let text = { (number: UInt16) in texts[BluetoothUUID(number)] }
        let (manufacturer, model, serial) = (text(0x2A29), text(0x2A24), text(0x2A25))
        let key: String
        if let serial, Self.isRealSerialNumber(serial) {
            key = [manufacturer, model, serial].compactMap { $0 }.joined(separator: "/")
        } else if let systemIdentifier {
            key = "system:\(systemIdentifier)"
        } else if addressIsDurable {
            key = "bluetooth:\(address)"
        } else {
            key = profile
        }
        return Device(
            key: key, name: name, manufacturer: manufacturer, model: model, serial: serial, hardware: text(0x2A27),
            firmware: text(0x2A26), software: text(0x2A28))
    }

    /// Whether a serial number is a real one. Makers who do not number their devices use 0, 0000 or a word.
    private static func isRealSerialNumber(_ serial: String) -> Bool { serial.contains { $0.isNumber && $0 != "0" } }

    /// Whether an address is durable. A public or static random address is, but a resolvable or non-resolvable private one changes every
    /// few minutes (Core specification, vol 6, part B, 1.3.2). For a bonded device BlueZ reports the identity address.
    package static func isDurable(_ address: BluetoothAddress, type: String?, bonded: Bool) -> Bool {
        if type != "random" || bonded { return true }
        return UInt8(address.description.prefix(2), radix: 16).map { $0 >= 0xC0 } ?? false
    }
}
