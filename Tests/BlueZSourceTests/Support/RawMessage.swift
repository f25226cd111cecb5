/// A D-Bus message, byte by byte, with content that no library would send (D-Bus specification, "Message Format").
///
///     l  type  flags  1 │ length of body │ serial │ fields a(yv) │ padding to 8 │ body
struct RawMessage {
    enum Kind: UInt8 {
        case call = 1
        case answer, error, signal
    }

    /// Values in the order and with the alignment that D-Bus asks for.
    struct MessageReader {
        var bytes: [UInt8] = []

        mutating func align(_ size: Int) { while !bytes.count.isMultiple(of: size) { bytes.append(0) } }

        mutating func add(_ number: UInt32) {
            align(4)
            for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }

        mutating func add(_ text: String) {
            add(UInt32(text.utf8.count))
            bytes += text.utf8
            bytes.append(0)
        }

        mutating func add(signature: String) {
            bytes.append(UInt8(signature.utf8.count))
            bytes += signature.utf8
            bytes.append(0)
        }
    }

    var kind: Kind
    var serial: UInt32 = 1
    var path = ""
    var interface = ""
    var member = ""
    var error = ""
    var answers: UInt32 = 0
    var destination = ""
    var sender = ""
    var signature = ""
    var body: [UInt8] = []

    var bytes: [UInt8] {
        var fields = MessageReader()
        let texts: [(UInt8, String, String)] = [
            (1, "o", path), (2, "s", interface), (3, "s", member), (4, "s", error), (6, "s", destination), (7, "s", sender),
        ]
        for (code, type, text) in texts where !text.isEmpty {
            fields.align(8)
            fields.bytes.append(code)
            fields.add(signature: type)
            fields.add(text)
        }
        if answers > 0 {
            fields.align(8)
            fields.bytes.append(5)
            fields.add(signature: "u")
            fields.add(answers)
        }
        if !signature.isEmpty {
            fields.align(8)
            fields.bytes.append(8)
            fields.add(signature: "g")
            fields.add(signature: signature)
        }
        var message = MessageReader()
        message.bytes = [UInt8(ascii: "l"), kind.rawValue, kind == .call ? 0 : 1, 1]
        message.add(UInt32(body.count))
        message.add(serial)
        message.add(UInt32(fields.bytes.count))
        message.bytes += fields.bytes
        message.align(8)
        return message.bytes + body
    }

    /// Removes the first received message. Only its kind, serial and length are read.
    static func take(from bytes: inout [UInt8]) -> (kind: UInt8, serial: UInt32)? {
        func number(_ place: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
        }
        guard bytes.count >= 16 else { return nil }
        let length = (16 + number(12) + 7) / 8 * 8 + number(4)
        guard bytes.count >= length else { return nil }
        defer { bytes.removeFirst(length) }
        return (bytes[1], UInt32(truncatingIfNeeded: number(8)))
    }
}
