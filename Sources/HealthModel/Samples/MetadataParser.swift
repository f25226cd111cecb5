/// Parses the JSON that ``Metadata/json`` prints and nothing looser, since the store contains only our own JSON. The length is not limited
/// here, because the writer does not limit it. Data from outside is bounded when it is read.
struct MetadataParser {
    private var reader: JSONReader<MetadataError>

    static func parse(_ json: String) throws(MetadataError) -> [(String, MetadataValue)] {
        var json = json
        let result: Result<[(String, MetadataValue)], MetadataError> = json.withUTF8 { bytes in
            var parser = MetadataParser(reader: JSONReader(UnsafeRawBufferPointer(bytes), maximumDepth: 1))
            do throws(MetadataError) {
                return .success(try parser.object())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private mutating func expect(_ text: StaticString) throws(MetadataError) {
        for character in text.description.unicodeScalars {
            guard reader.take(character) else { throw reader.fault(.value) }
        }
    }

    private mutating func object() throws(MetadataError) -> [(String, MetadataValue)] {
        var entries: [(String, MetadataValue)] = []
        var keys: Set<String> = []
        try expect("{")
        while !reader.take("}") {
            if !entries.isEmpty { try expect(",") }
            let key = try string()
            guard keys.insert(key).inserted else { throw .repeated(key: key) }
            try expect(":")
            entries.append((key, try value()))
        }
        guard reader.isAtEnd else { throw reader.fault(.value) }
        return entries
    }

    private mutating func value() throws(MetadataError) -> MetadataValue {
        switch try reader.kind() {
        case .string: return .string(try string())
        case .object: return try quantity()
        case .yes:
            try expect("true")
            return .boolean(true)
        case .no:
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
        let start = reader.index
        try reader.number()
        let text = String(decoding: reader.bytes[start..<reader.index], as: UTF8.self)
        if let numeral = try? Numeral(text) { return numeral }
        // `+1e-200` is written with all its zeros, which are more digits than a numeral may have.
        guard let value = Double(text), let numeral = try? Numeral(value.description) else { throw .malformed(offset: start) }
        return numeral
    }

    private mutating func string() throws(MetadataError) -> String {
        guard try reader.kind() == .string else { throw reader.fault(.name) }
        let start = reader.index
        let string = try reader.string()
        let text = string.text(in: reader.bytes)
        guard string.isEscaped else { return text }
        // Only the escapes that the writer uses.
        var own: [UInt8] = []
        JSONText.append(stored: text, to: &own)
        guard reader.bytes[start..<reader.index].elementsEqual(own) else { throw .malformed(offset: start) }
        return text
    }
}
