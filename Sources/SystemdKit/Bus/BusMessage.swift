import CSystemd
import EventLoopKit
import Glibc

/// A received or prepared message. It owns one reference in sd-bus.
package final class BusMessage {
    let pointer: OpaquePointer
    private let counters: BusCounters
    private var allowance = Allowance()

    /// The limit on the values read from one message. D-Bus allows 128 MiB, which would take many times that as values.
    private struct Allowance {
        private var values = 65_536
        private var bytes = 1 << 20
        var isSpent: Bool { values < 0 || bytes < 0 }

        /// Whether this many bytes of one value may be copied.
        mutating func takes(_ count: Int) -> Bool {
            values -= 1
            bytes -= count
            return !isSpent
        }
    }

    /// Takes ownership of a reference.
    init(owning pointer: OpaquePointer, counters: BusCounters) {
        self.pointer = pointer
        self.counters = counters
        counters.messages += 1
    }

    /// Adds a reference to a message that sd-bus lends during a callback.
    convenience init?(lent pointer: OpaquePointer?, counters: BusCounters) {
        guard let pointer = sd_bus_message_ref(pointer) else { return nil }
        self.init(owning: pointer, counters: counters)
    }

    deinit {
        sd_bus_message_unref(pointer)
        counters.messages -= 1
    }

    /// The sender's bus name, or empty if the message has none.
    package var sender: String { text(sd_bus_message_get_sender(pointer)) }
    var path: String { text(sd_bus_message_get_path(pointer)) }
    var interface: String { text(sd_bus_message_get_interface(pointer)) }
    var member: String { text(sd_bus_message_get_member(pointer)) }
    /// The types of its arguments in D-Bus notation.
    package var signature: String { text(sd_bus_message_get_signature(pointer, 1)) }
    var isMethodCall: Bool { sd_bus_message_is_method_call(pointer, nil, nil) > 0 }

    var error: BusError? {
        guard sd_bus_message_is_method_error(pointer, nil) > 0, let error = sd_bus_message_get_error(pointer) else { return nil }
        return BusError(text(error.pointee.name), text(error.pointee.message))
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    // MARK: Reading

    func arguments() throws(BusError) -> [BusValue] {
        allowance = Allowance()
        try check(sd_bus_message_rewind(pointer, 1), "rewind")
        let values = try valuesToEnd(depth: 0)
        guard !allowance.isSpent else { throw .tooLarge }
        return values
    }

    /// Reads a message whose only argument is a dictionary. Only one entry at a time is held as values.
    /// - Returns: the number of skipped entries, each of which is larger than any documented message.
    package func readEntries(_ body: (_ key: BusValue, _ value: BusValue) -> Void) throws(BusError) -> Int {
        try check(sd_bus_message_rewind(pointer, 1), "rewind")
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(sd_bus_message_peek_type(pointer, &type, &contents), "peek") > 0, type == code("a") else {
            throw .unexpected
        }
        let signature = text(contents)
        guard signature.utf8.first == UInt8(ascii: "{") else { throw .unexpected }
        let inner = String(signature.dropFirst().dropLast())
        var passed = 0
        try check(sd_bus_message_enter_container(pointer, type, signature), "enter")
        while try check(sd_bus_message_enter_container(pointer, code("e"), inner), "enter") > 0 {
            allowance = Allowance()
            let pair = try valuesToEnd(depth: 2)
            try check(sd_bus_message_exit_container(pointer), "exit")
            if allowance.isSpent {
                passed += 1
            } else if pair.count == 2 {
                body(pair[0], pair[1])
            }
        }
        return passed
    }

    private func valuesToEnd(depth: Int) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while !allowance.isSpent, let value = try nextValue(depth: depth) { values.append(value) }
        if allowance.isSpent { try skipToEnd() }
        return values
    }

    /// Skips to the end of the message or container without reading values.
    private func skipToEnd() throws(BusError) {
        while true {
            let result = sd_bus_message_skip(pointer, nil)
            // At the end of a structure, skip reports a missing type (ENXIO). At the end of an array, it returns 0.
            if result == 0 || result == -ENXIO { return }
            try check(result, "skip")
        }
    }

    /// Returns the next value, or `nil` at the end of the message or container.
    private func nextValue(depth: Int) throws(BusError) -> BusValue? {
        // The specification allows 32 nested arrays and 32 nested structures. sd-bus checks that, but recursion is also limited here.
        guard depth <= 64 else { throw .unexpected }
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard try check(sd_bus_message_peek_type(pointer, &type, &contents), "peek") > 0 else { return nil }
        let signature = text(contents)
        _ = allowance.takes(0)
        switch UInt8(truncatingIfNeeded: type) {
        case UInt8(ascii: "y"): return .byte(try basic(type, UInt8(0)))
        case UInt8(ascii: "b"): return .boolean(try basic(type, Int32(0)) != 0)
        case UInt8(ascii: "n"): return .int16(try basic(type, Int16(0)))
        case UInt8(ascii: "q"): return .uint16(try basic(type, UInt16(0)))
        case UInt8(ascii: "i"): return .int32(try basic(type, Int32(0)))
        case UInt8(ascii: "u"): return .uint32(try basic(type, UInt32(0)))
        case UInt8(ascii: "x"): return .int64(try basic(type, Int64(0)))
        case UInt8(ascii: "t"): return .uint64(try basic(type, UInt64(0)))
        case UInt8(ascii: "d"): return .double(try basic(type, Double(0)))
        case UInt8(ascii: "s"): return .string(try basicText(type))
        case UInt8(ascii: "o"): return .path(try basicText(type))
        case UInt8(ascii: "g"): return .signature(try basicText(type))
        case UInt8(ascii: "h"):
            // The message closes its descriptors, so make a copy.
            guard let copy = Descriptor(copying: try basic(type, Int32(-1))) else { throw .system(-errno, "descriptor") }
            return .descriptor(copy)
        case UInt8(ascii: "v"):
            return .variant(try inside(type, signature, depth).first ?? .structure([]))
        case UInt8(ascii: "r"):
            return .structure(try inside(type, signature, depth))
        case UInt8(ascii: "a"):
            return try array(type, signature, depth)
        default:
            throw .unexpected
        }
    }

    private func array(_ type: CChar, _ signature: String, _ depth: Int) throws(BusError) -> BusValue {
        if signature == "y" {
            var start: UnsafeRawPointer?
            var count = 0
            try check(sd_bus_message_read_array(pointer, code("y"), &start, &count), "read")
            guard allowance.takes(count) else { return .bytes([]) }
            return .bytes(Array(UnsafeRawBufferPointer(start: start, count: count)))
        }
        guard signature.utf8.first == UInt8(ascii: "{") else { return .array(of: signature, try inside(type, signature, depth)) }
        var entries: [BusValue.Entry] = []
        let inner = String(signature.dropFirst().dropLast())
        try check(sd_bus_message_enter_container(pointer, type, signature), "enter")
        while try check(sd_bus_message_enter_container(pointer, code("e"), inner), "enter") > 0 {
            let pair = try valuesToEnd(depth: depth + 2)
            try check(sd_bus_message_exit_container(pointer), "exit")
            if allowance.isSpent {
                try skipToEnd()
                break
            }
            guard pair.count == 2 else { throw .unexpected }
            entries.append(BusValue.Entry(pair[0], pair[1]))
        }
        try check(sd_bus_message_exit_container(pointer), "exit")
        return .dictionary(key: String(inner.prefix(1)), value: String(inner.dropFirst()), entries)
    }

    private func inside(_ type: CChar, _ signature: String, _ depth: Int) throws(BusError) -> [BusValue] {
        try check(sd_bus_message_enter_container(pointer, type, signature), "enter")
        let values = try valuesToEnd(depth: depth + 1)
        try check(sd_bus_message_exit_container(pointer), "exit")
        return values
    }

    private func basic<Value: BitwiseCopyable>(_ type: CChar, _ zero: Value) throws(BusError) -> Value {
        var value = zero
        let code = withUnsafeMutableBytes(of: &value) { sd_bus_message_read_basic(pointer, type, $0.baseAddress) }
        try check(code, "read")
        return value
    }

    private func basicText(_ type: CChar) throws(BusError) -> String {
        var characters: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(pointer, type, &characters), "read")
        guard let characters, allowance.takes(strlen(characters)) else { return "" }
        return text(characters)
    }

    // MARK: Writing

    func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value) }
    }

    func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .byte(let value): try append("y", value)
        case .boolean(let value): try append("b", Int32(value ? 1 : 0))
        case .int16(let value): try append("n", value)
        case .uint16(let value): try append("q", value)
        case .int32(let value): try append("i", value)
        case .uint32(let value): try append("u", value)
        case .int64(let value): try append("x", value)
        case .uint64(let value): try append("t", value)
        case .double(let value): try append("d", value)
        case .string(let text): try check(sd_bus_message_append_basic(pointer, code("s"), text), "append")
        case .path(let text): try check(sd_bus_message_append_basic(pointer, code("o"), text), "append")
        case .signature(let text): try check(sd_bus_message_append_basic(pointer, code("g"), text), "append")
        case .descriptor(let descriptor): try append("h", descriptor.number)
        case .bytes(let bytes):
            let result = bytes.withUnsafeBytes { sd_bus_message_append_array(pointer, code("y"), $0.baseAddress, $0.count) }
            try check(result, "append")
        case .array(let element, let values):
            try container("a", element, values)
        case .structure(let fields):
            try container("r", fields.map(\.signature).joined(), fields)
        case .variant(let inner):
            try container("v", inner.signature, [inner])
        case .dictionary(let key, let value, let entries):
            try check(sd_bus_message_open_container(pointer, code("a"), "{" + key + value + "}"), "open")
            for entry in entries { try container("e", key + value, [entry.key, entry.value]) }
            try check(sd_bus_message_close_container(pointer), "close")
        }
    }

    private func container(_ type: Unicode.Scalar, _ contents: String, _ values: [BusValue]) throws(BusError) {
        try check(sd_bus_message_open_container(pointer, code(type), contents), "open")
        try append(values)
        try check(sd_bus_message_close_container(pointer), "close")
    }

    private func append<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ value: Value) throws(BusError) {
        let result = withUnsafeBytes(of: value) { sd_bus_message_append_basic(pointer, code(type), $0.baseAddress) }
        try check(result, "append")
    }

    private func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

    @discardableResult
    private func check(_ code: Int32, _ action: String) throws(BusError) -> Int32 {
        guard code >= 0 else { throw .system(code, "message, \(action)") }
        return code
    }
}
