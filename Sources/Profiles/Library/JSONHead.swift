import HealthModel

/// Extracts the first object of a JSON array, to recognize the file's format.
enum JSONHead {
    private static let maximumDepth = 32

    /// Returns the paths of the first object's members, such as `value.bpm`, or nil if the text contains no complete object.
    ///
    /// - Parameter rows: the member of the file's top-level object with the list of objects.
    static func firstObject(of text: String, rows: String? = nil) -> Set<String>? {
        var text = text
        return text.withUTF8 { text in
            let bytes = UnsafeRawBufferPointer(text)
            guard let range = try? firstObject(in: bytes, rows: rows),
                let value = try? JSONValue.parse(json5: Array(bytes[range]))
            else {
                return nil
            }
            var paths: Set<String> = []
            collect(value, "", &paths)
            return paths
        }
    }

    /// Returns the range of the first object, which ends before the text may.
    private static func firstObject(in bytes: UnsafeRawBufferPointer, rows: String?) throws(JSONFault) -> Range<Int>? {
        var reader = JSONReader<JSONFault>(
            bytes, from: bytes.starts(with: "\u{FEFF}".utf8) ? 3 : 0, checks: .structure, maximumDepth: maximumDepth)
        reader.skipBlanks()
        if let rows {
            try reader.open("{")
            var count = 0
            while try reader.nextName(after: count).map({ $0.text(in: bytes) }) != rows {
                try reader.colon()
                _ = try reader.value()
                count += 1
                if reader.isAtEnd { return nil }
            }
            try reader.colon()
            try reader.open("[")
        } else {
            _ = reader.take("[")
        }
        reader.skipBlanks()
        return try reader.kind() == .object ? try reader.value() : nil
    }

    private static func collect(_ value: JSONValue, _ path: String, _ paths: inout Set<String>) {
        switch value {
        case .object(let object):
            for (key, value) in object {
                // Extended JSON writes a number as an object that contains its type and its digits.
                if key.utf8.first == UInt8(ascii: "$") {
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
}
