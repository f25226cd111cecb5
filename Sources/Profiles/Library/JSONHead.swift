/// Extracts the first object of a JSON array, to recognize the file's format.
enum JSONHead {
    /// Returns the paths of the first object's members, such as `value.bpm`, or nil if the text contains no complete object.
    ///
    /// - Parameter rows: the member of the file's top-level object with the list of objects.
    static func firstObject(of text: String, rows: String? = nil) -> Set<String>? {
        let bytes = Array(text.utf8)
        var first = 0
        if let rows {
            guard let list = list(named: rows, in: bytes) else { return nil }
            first = list
        }
        guard let start = bytes[first...].firstIndex(of: UInt8(ascii: "{")) else { return nil }
        var depth = 0
        var quoted = false
        var escaped = false
        for index in start..<bytes.count {
            let byte = bytes[index]
            if escaped {
                escaped = false
            } else if quoted {
                if byte == UInt8(ascii: "\\") { escaped = true }
                if byte == UInt8(ascii: "\"") { quoted = false }
            } else if byte == UInt8(ascii: "\"") {
                quoted = true
            } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                depth += 1
                if depth > 32 { return nil }
            } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                depth -= 1
                if depth == 0 {
                    guard let value = try? JSONValue.parse(json5: Array(bytes[start...index])) else { return nil }
                    var paths: Set<String> = []
                    collect(value, "", &paths)
                    return paths
                }
            }
        }
        return nil
    }

    private static func isWrapper(_ key: some Collection<UInt8>) -> Bool { key.first == UInt8(ascii: "$") }

    private static func collect(_ value: JSONValue, _ path: String, _ paths: inout Set<String>) {
        switch value {
        case .object(let object):
            for (key, value) in object {
                // Extended JSON writes a number as an object that contains its type and its digits.
                if Self.isWrapper(key.utf8) {
                    paths.insert(path)
                } else {
                    collect(value, path.isEmpty ? key : "\(path).\(key)", &paths)
                }
            }
        case .array(let array):
            for (index, value) in array.prefix(16).enumerated() { collect(value, "\(path)[\(index)]", &paths) }
            paths.insert(path)
        default: paths.insert(path)
        }
    }

    /// Returns the index at which the list with this name in the top-level object begins, or nil.
    private static func list(named name: String, in bytes: [UInt8]) -> Int? {
        let quoted = Array("\"\(name)\"".utf8)
        var depth = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let first = index
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard depth == 1, index < bytes.count, bytes[first...index].elementsEqual(quoted) else { break }
                let rest = bytes[(index + 1)...].drop { $0 <= 0x20 }
                guard rest.first == UInt8(ascii: ":") else { break }
                let value = rest.dropFirst().drop { $0 <= 0x20 }
                return value.first == UInt8(ascii: "[") ? value.startIndex : nil
            default: break
            }
            index += 1
        }
        return nil
    }
}
