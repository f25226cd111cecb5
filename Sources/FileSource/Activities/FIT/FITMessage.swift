/// A data message of a FIT file: the bytes of its fields, with the definition that describes them.
struct FITMessage {
    struct Field {
        var number: UInt8
        var size: Int
        var type: UInt8
    }

    struct DeveloperField {
        var number: UInt8
        var size: Int
        var index: UInt8
    }

    /// The meaning of a local message number until it is redefined.
    struct Definition {
        var message: UInt16
        var isBigEndian: Bool
        var fields: [Field]
        var developers: [DeveloperField]
        /// The length in bytes of all fields, including developer fields.
        var length: Int
    }

    let definition: Definition
    let bytes: ArraySlice<UInt8>
    /// The time of the recording in FIT seconds, from the message's timestamp field or its header.
    let time: UInt64?

    init(_ definition: Definition, _ bytes: ArraySlice<UInt8>, headerTime: UInt64?) {
        (self.definition, self.bytes) = (definition, bytes)
        time = headerTime ?? Self.raw(FITProfile.timestamp, definition, bytes).map(\.bits)
    }

    /// Returns an unsigned number or an enumeration's value, or `nil` if the field is missing or invalid.
    func unsigned(_ number: UInt8) -> UInt64? { Self.raw(number, definition, bytes).flatMap { $0.isSigned ? nil : $0.bits } }

    /// Returns a signed number, or `nil` if the field is missing or invalid.
    func signed(_ number: UInt8) -> Int64? {
        Self.raw(number, definition, bytes).flatMap { $0.isSigned ? Int64(bitPattern: $0.bits) : nil }
    }

    /// Returns a text up to its end or its first zero byte, or `nil` if it is missing or empty.
    func text(_ number: UInt8) -> [UInt8]? {
        guard let (field, bytes) = Self.find(number, definition, bytes), field.type == 0x07 else { return nil }
        let text = Array(bytes.prefix { $0 != 0 })
        return text.isEmpty ? nil : text
    }

    /// Passes the number of each field that has a value to `field`, and each developer field that has one to `developer`.
    func forEachFieldWithValue(_ field: (UInt8) -> Void, developer: (DeveloperField) -> Void) {
        var start = bytes.startIndex
        for known in definition.fields {
            let end = start + known.size
            guard end <= bytes.endIndex else { return }
            if FITBaseType.isValid(bytes[start..<end], known.type, isBigEndian: definition.isBigEndian) { field(known.number) }
            start = end
        }
        for known in definition.developers {
            let end = start + known.size
            guard end <= bytes.endIndex else { return }
            // The invalid value depends on the field's description. It has all bits set in nearly all types.
            if bytes[start..<end].contains(where: { $0 != 0xFF }) { developer(known) }
            start = end
        }
    }

    private static func find(
        _ number: UInt8, _ definition: Definition, _ bytes: ArraySlice<UInt8>
    ) -> (Field, ArraySlice<UInt8>)? {
        var start = bytes.startIndex
        for field in definition.fields {
            guard field.number == number else {
                start += field.size
                continue
            }
            guard start + field.size <= bytes.endIndex else { return nil }
            return (field, bytes[start..<start + field.size])
        }
        return nil
    }

    /// Returns a single number, or `nil` if the field is missing, is an array, or contains the invalid value.
    private static func raw(
        _ number: UInt8, _ definition: Definition, _ bytes: ArraySlice<UInt8>
    ) -> (bits: UInt64, isSigned: Bool)? {
        guard let (field, bytes) = find(number, definition, bytes), let type = FITBaseType(field.type), type.size == field.size
        else { return nil }
        var bits: UInt64 = 0
        if definition.isBigEndian {
            for byte in bytes { bits = bits << 8 | UInt64(byte) }
        } else {
            for byte in bytes.reversed() { bits = bits << 8 | UInt64(byte) }
        }
        guard bits != type.invalid else { return nil }
        guard type.isSigned else { return (bits, false) }
        let unused = UInt64(64 - 8 * type.size)
        return (UInt64(bitPattern: Int64(bitPattern: bits << unused) >> Int64(unused)), true)
    }
}

/// The base type of a numeric field.
///
/// Source: the base types of Garmin's FIT protocol, with the invalid value of each.
struct FITBaseType {
    let size: Int
    let isSigned: Bool
    let invalid: UInt64

    /// Whether the bytes of a number or an array contain a valid value.
    static func isValid(_ bytes: ArraySlice<UInt8>, _ code: UInt8, isBigEndian: Bool) -> Bool {
        if code == 0x07 { return bytes.contains { $0 != 0 } }
        guard let type = FITBaseType(code), !bytes.isEmpty, bytes.count % type.size == 0 else {
            return bytes.contains { $0 != 0xFF }
        }
        var start = bytes.startIndex
        while start < bytes.endIndex {
            var bits: UInt64 = 0
            for index in 0..<type.size {
                bits = bits << 8 | UInt64(bytes[start + (isBigEndian ? index : type.size - 1 - index)])
            }
            if bits != type.invalid { return true }
            start += type.size
        }
        return false
    }

    /// `nil` for texts, floating-point numbers and types that the protocol does not define.
    init?(_ code: UInt8) {
        switch code {
        case 0x00, 0x02, 0x0D: (size, isSigned, invalid) = (1, false, 0xFF)
        case 0x01: (size, isSigned, invalid) = (1, true, 0x7F)
        case 0x83: (size, isSigned, invalid) = (2, true, 0x7FFF)
        case 0x84: (size, isSigned, invalid) = (2, false, 0xFFFF)
        case 0x85: (size, isSigned, invalid) = (4, true, 0x7FFF_FFFF)
        case 0x86: (size, isSigned, invalid) = (4, false, 0xFFFF_FFFF)
        case 0x0A: (size, isSigned, invalid) = (1, false, 0)
        case 0x8B: (size, isSigned, invalid) = (2, false, 0)
        case 0x8C: (size, isSigned, invalid) = (4, false, 0)
        case 0x8E: (size, isSigned, invalid) = (8, true, 0x7FFF_FFFF_FFFF_FFFF)
        case 0x8F: (size, isSigned, invalid) = (8, false, .max)
        case 0x90: (size, isSigned, invalid) = (8, false, 0)
        default: return nil
        }
    }
}
