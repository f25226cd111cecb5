import EventLoopKit
import Glibc
import SystemdKit

@testable import BlueZSource
@testable import SystemdKit

/// Makes values from the bytes of an input. When none are left, it uses zeros, which is BlueZ's normal behavior.
struct RandomValues {
    private var rest: ArraySlice<UInt8>

    init(_ input: [UInt8]) { rest = input[...] }

    var isSpent: Bool { rest.isEmpty }

    mutating func next() -> UInt8 { rest.popFirst() ?? 0 }
    mutating func flag() -> Bool { next() & 1 == 1 }
    private mutating func one(of texts: [String]) -> String { texts[Int(next()) % texts.count] }

    mutating func bytes() -> [UInt8] { (0..<Int(next())).map { _ in next() } }

    mutating func text() -> String {
        let kind = Int(next())
        if kind == 0xFF { return String(decoding: bytes(), as: UTF8.self) }
        return Self.words[kind % Self.words.count]
    }

    mutating func path() -> String { one(of: Self.tree.map(\.path)) }
    mutating func interface() -> String { one(of: Self.interfaces) }

    mutating func error() -> String {
        one(
            of: [
                "Failed", "NotReady", "InProgress", "NotPermitted", "NotAuthorized", "NotConnected", "AlreadyExists", "Rejected",
            ].map {
                "org.bluez.Error." + $0
            } + [
                "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.AccessDenied",
                "org.freedesktop.DBus.Error.UnknownObject",
            ])
    }

    // MARK: BlueZ's messages

    /// Its objects. Each property is normal, missing, or of any type.
    mutating func objects() -> BusValue {
        var objects: [String: [BusValue.Entry]] = [:]
        for object in Self.tree where next() != 1 {
            var properties = object.properties
            for name in object.properties.keys.sorted() {
                switch next() {
                case 0: break
                case 1: properties[name] = nil
                default: properties[name] = value()
                }
            }
            objects[object.path, default: []].append(.init(.string(object.interface), .options(properties)))
        }
        let entries = objects.sorted { $0.key < $1.key }.map { path, interfaces in
            BusValue.Entry(.path(path), .dictionary(key: "s", value: "a{sv}", interfaces))
        }
        return .dictionary(key: "o", value: "a{sa{sv}}", entries)
    }

    /// The interfaces of one object, normal or changed.
    mutating func interfaces() -> BusValue {
        let object = Self.tree[Int(next()) % Self.tree.count]
        let properties = object.properties.merging(properties()) { $1 }
        return .dictionary(key: "s", value: "a{sv}", [.init(.string(object.interface), .options(properties))])
    }

    mutating func properties() -> [String: BusValue] {
        var properties: [String: BusValue] = [:]
        for _ in 0..<Int(next() % 4) { properties[one(of: Self.names)] = value() }
        return properties
    }

    // MARK: Anything

    /// The arguments of a message.
    mutating func some() -> [BusValue] { (0..<Int(next() % 4)).map { _ in value() } }

    mutating func value() -> BusValue { value(of: signature(depth: 0), depth: 0) }

    private mutating func signature(depth: Int) -> String {
        let basic = ["s", "b", "y", "n", "q", "i", "u", "x", "t", "d", "o", "g", "h"]
        let kind = Int(next()) % 24
        if kind < basic.count || depth > 6 { return basic[kind % basic.count] }
        switch kind {
        case 13, 14: return "ay"
        case 15: return "v"
        case 16: return "as"
        case 17, 18: return "a" + signature(depth: depth + 1)
        case 19: return "a{sv}"
        case 20: return "a{qv}"
        case 21: return "a{" + basic[Int(next()) % basic.count] + signature(depth: depth + 1) + "}"
        case 22: return "a{oa{sa{sv}}}"
        default: return "(" + (0...next() % 3).map { _ in signature(depth: depth + 1) }.joined() + ")"
        }
    }

    private mutating func number() -> UInt64 {
        switch next() {
        case 0xFF: UInt64.max
        case 0xFE: UInt64(1) << 63
        case 0xFD: UInt64(Int64.max)
        case 0xFC: (0..<8).reduce(0) { number, _ in number << 8 | UInt64(next()) }
        case let small: UInt64(small)
        }
    }

    private mutating func value(of signature: String, depth: Int) -> BusValue {
        switch signature.utf8.first {
        case UInt8(ascii: "b"): return .boolean(flag())
        case UInt8(ascii: "y"): return .byte(next())
        case UInt8(ascii: "n"): return .int16(Int16(truncatingIfNeeded: number()))
        case UInt8(ascii: "q"): return .uint16(UInt16(truncatingIfNeeded: number()))
        case UInt8(ascii: "i"): return .int32(Int32(truncatingIfNeeded: number()))
        case UInt8(ascii: "u"): return .uint32(UInt32(truncatingIfNeeded: number()))
        case UInt8(ascii: "x"): return .int64(Int64(bitPattern: number()))
        case UInt8(ascii: "t"): return .uint64(number())
        case UInt8(ascii: "d"): return .double(Double(bitPattern: number()))
        case UInt8(ascii: "o"): return .path(path())
        case UInt8(ascii: "g"): return .signature(one(of: ["", "s", "a{sv}", "(iiay)"]))
        case UInt8(ascii: "h"): return Descriptor(copying: 0).map { .descriptor($0) } ?? .byte(0)
        case UInt8(ascii: "v"): return .variant(depth > 16 ? .byte(0) : value(of: self.signature(depth: depth), depth: depth + 1))
        case UInt8(ascii: "("):
            return .structure(Self.types(in: signature.dropFirst().dropLast()).map { value(of: $0, depth: depth + 1) })
        case UInt8(ascii: "a"):
            let element = String(signature.dropFirst())
            if element == "y" { return .bytes(bytes()) }
            let count = Int(next() % 5)
            guard element.hasPrefix("{") else {
                return .array(of: element, (0..<count).map { _ in value(of: element, depth: depth + 1) })
            }
            let types = Self.types(in: element.dropFirst().dropLast())
            guard types.count == 2 else { return .byte(0) }
            let entries = (0..<count).map { _ in
                BusValue.Entry(value(of: types[0], depth: depth + 1), value(of: types[1], depth: depth + 1))
            }
            return .dictionary(key: types[0], value: types[1], entries)
        default: return .string(text())
        }
    }

    /// The single complete types of a signature.
    private static func types(in signature: Substring) -> [String] {
        var types: [String] = []
        var current = ""
        var depth = 0
        for letter in signature {
            current.append(letter)
            if "({".contains(letter) { depth += 1 }
            if ")}".contains(letter) { depth -= 1 }
            if depth == 0, letter != "a" {
                types.append(current)
                current = ""
            }
        }
        return types
    }

    // MARK: A usual BlueZ

    private struct Object {
        var path: String
        var interface: String
        var properties: [String: BusValue]
    }

    /// Never changed, and used on one thread.
    nonisolated(unsafe) private static let tree: [Object] = {
        let adapter = "/org/bluez/hci0"
        var tree = [
            Object(
                path: adapter, interface: BlueZ.adapter,
                properties: ["Address": .string("00:11:22:33:44:55"), "Powered": .boolean(true), "Discovering": .boolean(false)])
        ]
        let services: [[(UInt16, [UInt16])]] = [
            [(0x180D, [0x2A37, 0x2A38]), (0x180A, [0x2A29, 0x2A24, 0x2A25, 0x2A23])],
            [(0x1808, [0x2A18, 0x2A34, 0x2A52]), (0x1805, [0x2A2B])],
            [],
        ]
        for (address, services) in zip(RandomBlueZ.addresses, services) {
            let device = adapter + "/dev_" + String(address.map { $0 == ":" ? "_" : $0 })
            tree.append(
                Object(
                    path: device, interface: BlueZ.device,
                    properties: [
                        "Address": .string(address), "Adapter": .path(adapter), "AddressType": .string("random"),
                        "Connected": .boolean(false), "ServicesResolved": .boolean(false), "Paired": .boolean(true),
                        "Bonded": .boolean(true), "Name": .string("Device"), "RSSI": .int16(-50),
                        "UUIDs": .array(of: "s", services.map { .string(BluetoothUUID($0.0).text) }),
                        "ServiceData": .options([BluetoothUUID(0xFCD2).text: .bytes([0x40, 0x01, 0x64])]),
                        "ManufacturerData": .dictionary(
                            key: "q", value: "v", [.init(.uint16(0x0157), .variant(.bytes([1, 2, 3])))]),
                    ]))
            for (service, characteristics) in services {
                let path = device + "/service" + String(service, radix: 16)
                tree.append(
                    Object(
                        path: path, interface: BlueZ.gattService,
                        properties: ["UUID": .string(BluetoothUUID(service).text), "Device": .path(device)]))
                for characteristic in characteristics {
                    var properties: [String: BusValue] = [
                        "UUID": .string(BluetoothUUID(characteristic).text), "Service": .path(path),
                        "Flags": .array(of: "s", [.string("read"), .string("notify"), .string("write")]),
                        "Value": .bytes([0, 72]),
                    ]
                    if characteristic == 0x2A37 || characteristic == 0x2A18 { properties["NotifyAcquired"] = .boolean(false) }
                    tree.append(
                        Object(
                            path: path + "/char" + String(characteristic, radix: 16), interface: BlueZ.characteristic,
                            properties: properties))
                }
            }
            tree.append(Object(path: device, interface: BlueZ.battery, properties: ["Percentage": .byte(80)]))
        }
        return tree
    }()

    private static let names = Set(tree.flatMap(\.properties.keys)).sorted()
    private static let interfaces = Set(tree.map(\.interface)).sorted() + ["org.freedesktop.DBus.Properties"]
    private static let words =
        names + interfaces + RandomBlueZ.addresses + tree.map(\.path) + ["", "random", "public", "notify", "2a37"]
}
