/// A Bluetooth UUID. A 16-bit UUID of the SIG is expanded to its 128-bit form.
package struct BluetoothUUID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 36 characters in lower case, as in BlueZ.
    package let text: String

    private static let base = "-0000-1000-8000-00805f9b34fb"

    /// Creates a UUID from a 16-bit number of the SIG: `BluetoothUUID(0x180D)`.
    package init(_ short: UInt16) {
        let digits = String(short, radix: 16)
        text = "0000" + String(repeating: "0", count: 4 - digits.count) + digits + Self.base
    }

    /// Parses `2A37`, `00002a37` or the long form, in any case.
    package init?(_ text: some StringProtocol) {
        let text = text.lowercased()
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
        switch text.utf8.count {
        case 4: self.text = "0000" + text + Self.base
        case 8 where digits.count == 8: self.text = text + Self.base
        case 36 where digits.count == 32 && text.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12]: self.text = text
        default: return nil
        }
    }

    /// The name for a channel: `2A37` for a 16-bit UUID, otherwise the long form in upper case.
    package var description: String {
        let isShort = text.hasPrefix("0000") && text.hasSuffix(Self.base)
        return (isShort ? String(text.dropFirst(4).prefix(4)) : text).uppercased()
    }

    package static func < (one: BluetoothUUID, other: BluetoothUUID) -> Bool { one.text < other.text }
}

package struct CharacteristicName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package var service: BluetoothUUID
    package var characteristic: BluetoothUUID

    /// Creates a name from full UUIDs.
    package init(_ service: BluetoothUUID, _ characteristic: BluetoothUUID) {
        self.service = service
        self.characteristic = characteristic
    }

    /// Creates a name from 16-bit numbers: `CharacteristicName(0x180D, 0x2A37)`.
    package init(_ service: UInt16, _ characteristic: UInt16) {
        self.init(BluetoothUUID(service), BluetoothUUID(characteristic))
    }

    package var description: String { "\(service)/\(characteristic)" }

    package static func < (one: CharacteristicName, other: CharacteristicName) -> Bool {
        (one.service, one.characteristic) < (other.service, other.characteristic)
    }
}

/// A device's address, in upper case with colons.
package struct BluetoothAddress: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Six pairs of hexadecimal digits, such as `00:11:22:AA:BB:CC`, as in BlueZ.
    package let description: String

    /// Parses six pairs of hexadecimal digits with colons, in any case. Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.uppercased().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts.allSatisfy({ $0.count == 2 && UInt8($0, radix: 16) != nil && $0.first != "+" }) else {
            return nil
        }
        description = parts.joined(separator: ":")
    }

    package static func < (one: BluetoothAddress, other: BluetoothAddress) -> Bool { one.description < other.description }
}
