import EventLoopKit

/// A D-Bus value of any type (D-Bus specification, "Type System").
public indirect enum BusValue: Equatable {
    /// `y`: one octet without a sign.
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
    /// `g`: the signature of a type, as ``signature`` has it.
    case signature(String)
    /// `h`: a received one is a copy of the message's, and stays open without it.
    case descriptor(Descriptor)
    /// `ay`, which carries every characteristic's value.
    case bytes([UInt8])
    /// Any other array, with the signature of its elements.
    case array(of: String, [BusValue])
    /// An array of dictionary entries, with the signatures of keys and values.
    case dictionary(key: String, value: String, [Entry])
    /// `(…)`: its fields in their order.
    case structure([BusValue])
    /// `v`: a value that brings its own type.
    case variant(BusValue)

    /// One entry of a dictionary.
    public struct Entry: Equatable {
        /// Of a basic type; its signature is the dictionary's `key`.
        public var key: BusValue
        /// Its signature is the dictionary's `value`.
        public var value: BusValue
        /// A key with its value.
        public init(_ key: BusValue, _ value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    /// `a{sv}`, the form of D-Bus options and properties, in the order of the names.
    public static func options(_ values: [String: BusValue]) -> BusValue {
        .dictionary(
            key: "s", value: "v",
            values.sorted { $0.key < $1.key }.map { Entry(.string($0.key), .variant($0.value)) })
    }

    /// Its type as D-Bus writes it.
    public var signature: String {
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

/// What a value is expected to be; `nil` where the peer sent something else, which is its mistake and not ours to trap on.
extension BusValue {
    /// The value inside variants.
    public var unwrapped: BusValue {
        if case .variant(let inner) = self { return inner.unwrapped }
        return self
    }

    /// Of a string, a path or a signature.
    public var text: String? {
        switch unwrapped {
        case .string(let text), .path(let text), .signature(let text): text
        default: nil
        }
    }

    /// Of a boolean only; a number is none.
    public var truth: Bool? {
        if case .boolean(let value) = unwrapped { return value }
        return nil
    }

    /// Of a whole number of any width; also nil for one above `Int64.max`.
    public var integer: Int64? {
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

    /// Of an array of octets (`ay`), such as a characteristic's value.
    public var octets: [UInt8]? {
        if case .bytes(let value) = unwrapped { return value }
        return nil
    }

    /// Of an array: the elements that are text; others are left out.
    public var texts: [String]? {
        guard case .array(_, let values) = unwrapped else { return nil }
        return values.compactMap(\.text)
    }

    /// The entries of a dictionary whose keys are text; empty where it is none.
    public var members: [String: BusValue] {
        guard case .dictionary(_, _, let entries) = unwrapped else { return [:] }
        var members: [String: BusValue] = [:]
        for entry in entries {
            if let key = entry.key.text { members[key] = entry.value.unwrapped }
        }
        return members
    }
}
