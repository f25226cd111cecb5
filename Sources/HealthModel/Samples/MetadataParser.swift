/// Parses the JSON that ``Metadata/json`` prints and nothing looser, since the store contains only our own JSON. The length is not limited
/// here, because the writer does not limit it. Data from outside is bounded when it is read.
struct MetadataParser {
    private let bytes: [UInt8]
    private var index = 0

    static func parse(_ json: String) throws(MetadataError) -> [(String, MetadataValue)] {
        var parser = MetadataParser(bytes: Array(json.utf8))
        return try parser.object()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var malformed: MetadataError { .malformed(offset: index) }

    private mutating func expect(_ text: StaticString) throws(MetadataError) {
        for byte in text.description.utf8 {
            guard next == byte else { throw malformed }
            index += 1
        }
    }

    private mutating func object() throws(MetadataError) -> [(String, MetadataValue)] {
        var entries: [(String, MetadataValue)] = []
        var keys: Set<String> = []
        try expect("{")
        while next != UInt8(ascii: "}") {
            if !entries.isEmpty { try expect(",") }
            let key = try string()
            guard keys.insert(key).inserted else { throw .repeated(key: key) }
            try expect(":")
            entries.append((key, try value()))
        }
        try expect("}")
        guard index == bytes.count else { throw malformed }
        return entries
    }

    private mutating func value() throws(MetadataError) -> MetadataValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "{"): return try quantity()
        case UInt8(ascii: "t"):
            try expect("true")
            return .boolean(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .boolean(false)
        default: return .number(try number())
        }
    }

    private mutating func quantity() throws(MetadataError) -> MetadataValue {
        try expect("{\"value\":")
        let numeral = try number()
        try expect(",\"unit\":")
        let code = try string()
        try expect("}")
        do throws(UnitError) {
            return .quantity(numeral, try Unit(ucum: code))
        } catch {
            throw .unit(error)
        }
    }

    private mutating func number() throws(MetadataError) -> Numeral {
        let start = index
        while let byte = next, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}") { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard JSONText.isNumber(text) else { throw .malformed(offset: start) }
        if let numeral = try? Numeral(text) { return numeral }
        // `+1e-200` is written with all its zeros, which are more digits than a numeral may have.
        guard let value = Double(text), let numeral = try? Numeral(value.description) else { throw .malformed(offset: start) }
        return numeral
    }

    private mutating func string() throws(MetadataError) -> String {
        try expect("\"")
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw malformed }
            index += 1
            if byte == UInt8(ascii: "\\") { text.append(try escape()) } else { text.append(byte) }
        }
        try expect("\"")
        return String(decoding: text, as: UTF8.self)
    }

    /// The character after a backslash. Our JSON escapes only ASCII.
    private mutating func escape() throws(MetadataError) -> UInt8 {
        guard let byte = next else { throw malformed }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): return byte
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "u"):
            try expect("00")
            let code = UInt8(String(decoding: bytes[index..<min(index + 2, bytes.count)], as: UTF8.self), radix: 16)
            guard let code, code < 0x20, index + 2 <= bytes.count else { throw malformed }
            index += 2
            return code
        default: throw .malformed(offset: index - 1)
        }
    }
}
