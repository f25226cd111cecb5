/// The first object of a JSON array, to recognise the file by.
enum JSONHead {
    /// The paths of the first object's members, such as `value.bpm`; nothing where the text does not hold a whole one.
    static func firstObject(of text: String) -> Set<String>? {
        let bytes = Array(text.utf8)
        guard let start = bytes.firstIndex(of: UInt8(ascii: "{")) else { return nil }
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

    private static func collect(_ value: JSONValue, _ path: String, _ paths: inout Set<String>) {
        guard case .object(let object) = value else {
            paths.insert(path)
            return
        }
        for (key, value) in object { collect(value, path.isEmpty ? key : "\(path).\(key)", &paths) }
    }
}
