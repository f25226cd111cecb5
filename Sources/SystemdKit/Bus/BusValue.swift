import EventLoopKit

/// A D-Bus value of any type (D-Bus specification, "Type System").
package indirect enum BusValue: Equatable {
    /// `y`: one unsigned byte.
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`: any text.
    case string(String)
    /// `o`: the path of an object, such as `/org/bluez/hci0`.
    case path(String)
    /// `g`: the signature of a type, in the form of ``signature``.
    case signature(String)
    /// `h`: a descriptor. A received one is a copy that stays open after its message is gone.
    case descriptor(Descriptor)
    /// `ay`: bytes, such as the value of a characteristic.
    case bytes([UInt8])
    /// Any other array, with the signature of its elements.
    case array(of: String, [BusValue])
    /// An array of dictionary entries, with the signatures of keys and values.
    case dictionary(key: String, value: String, [Entry])
    /// `(…)`: its fields in their order.
    case structure([BusValue])
    /// `v`: a value with its own type.
    case variant(BusValue)

    /// One entry of a dictionary.
    package struct Entry: Equatable {
        /// The key, which has a basic type. Its signature is the dictionary's `key`.
        package var key: BusValue
        /// The value. Its signature is the dictionary's `value`.
        package var value: BusValue
        package init(_ key: BusValue, _ value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    /// Returns a dictionary `a{sv}`, the form of D-Bus options and properties, sorted by name.
    package static func options(_ values: [String: BusValue]) -> BusValue {
        .dictionary(
            key: "s", value: "v",
            values.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
    }

    /// The type in D-Bus notation.
    package var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .path: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{" + key + value + "}"
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

/// Typed access to values. The result is `nil` if the peer sent another type, because a peer's mistake must not cause a trap.
extension BusValue {
    /// The value inside variants.
    package var unwrapped: BusValue {
        if case .variant(let inner) = self { return inner.unwrapped }
        return self
    }

    /// The text of a string, a path or a signature.
    package var text: String? {
        switch unwrapped {
        case .string(let text), .path(let text), .signature(let text): text
        default: nil
        }
    }

    /// The value of a boolean. A number gives nil.
    package var truth: Bool? {
        if case .boolean(let value) = unwrapped { return value }
        return nil
    }

    /// The value of a whole number of any width, or nil if it exceeds `Int64.max`.
    package var integer: Int64? {
        switch unwrapped {
        case .byte(let value): Int64(value)
        case .int16(let value): Int64(value)
        case .uint16(let value): Int64(value)
        case .int32(let value): Int64(value)
        case .uint32(let value): Int64(value)
        case .int64(let value): value
        case .uint64(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The bytes of a byte array (`ay`), such as a characteristic's value.
    package var bytes: [UInt8]? {
        if case .bytes(let value) = unwrapped { return value }
        return nil
    }

    /// The texts in an array. Other elements are omitted.
    package var texts: [String]? {
        guard case .array(_, let values) = unwrapped else { return nil }
        return values.compactMap(\.text)
    }

    /// The entries of a dictionary whose keys are text, or empty if the value is not a dictionary.
    package var members: [String: BusValue] {
        guard case .dictionary(_, _, let entries) = unwrapped else { return [:] }
        var members: [String: BusValue] = [:]
        for entry in entries {
            if let key = entry.key.text { members[key] = entry.value.unwrapped }
        }
        return members
    }
}
