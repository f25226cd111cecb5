import Profiles

/// Adds a target to the text of a configuration, or removes it. All other text stays as it is, with its comments and its order.
///
/// The text must be a valid configuration.
public enum TargetText {
    /// Adds a target after the others.
    ///
    /// - Parameter object: its settings in JSON5.
    /// - Returns: the new text.
    /// - Throws: ``ConfigurationError`` if the text has no object for the target.
    public static func adding(_ name: String, _ object: String, to bytes: [UInt8]) throws(ConfigurationError) -> [UInt8] {
        let member = "\(JSON5Text.key(name)): \(object)"
        guard !bytes.allSatisfy({ $0 <= 0x20 }) else {
            return Array("{\n    \(TargetConfiguration.key): {\n        \(member),\n    },\n}\n".utf8)
        }
        let root = try members(of: bytes)
        let old = root.all.filter { $0.key == TargetConfiguration.key }
        guard old.count <= 1 else { throw ConfigurationError("'\(TargetConfiguration.key)' occurs twice") }
        guard let targets = old.first else {
            let inner = indentation(of: root, in: bytes)
            let text = "\(TargetConfiguration.key): {\n\(inner)    \(member),\n\(inner)}"
            return inserting(text, into: root, of: bytes)
        }
        return inserting(member, into: try members(of: bytes, at: targets.value.lowerBound), of: bytes)
    }

    /// Removes a target, and a comment after it on its last line.
    ///
    /// - Returns: the new text, or `nil` if it has no such target.
    public static func removing(_ name: String, from bytes: [UInt8]) throws(ConfigurationError) -> [UInt8]? {
        guard let targets = try members(of: bytes).all.last(where: { $0.key == TargetConfiguration.key }) else { return nil }
        let found = try members(of: bytes, at: targets.value.lowerBound).all.filter { $0.key == name }
        guard found.count == 1, let member = found.first else { return nil }
        var start = member.start
        var end = member.end
        let line = lineStart(of: start, in: bytes)
        let isAtLineStart = bytes[line..<start].allSatisfy(isBlank)
        while end < bytes.count, isBlank(bytes[end]) { end += 1 }
        let rest = bytes[end...].prefix { $0 != 0x0A }
        if isAtLineStart, rest.isEmpty || rest.starts(with: "//".utf8) || rest.elementsEqual([0x0D]) {
            (start, end) = (line, min(rest.endIndex + 1, bytes.count))
        }
        return Array(bytes[..<start] + bytes[end...])
    }

    private static func members(of bytes: [UInt8], at position: Int? = nil) throws(ConfigurationError) -> JSON5Members {
        do throws(JSON5Fault) {
            if let members = try JSON5Members.find(in: bytes, at: position) { return members }
        } catch {
            throw ConfigurationError("not JSON5: \(error)")
        }
        let place = position == nil ? "" : "'\(TargetConfiguration.key)': "
        throw ConfigurationError("\(place)expected an object in braces")
    }

    /// Inserts a member as the last one of an object.
    private static func inserting(_ text: String, into object: JSON5Members, of bytes: [UInt8]) -> [UInt8] {
        let line = lineStart(of: object.close, in: bytes)
        let inner = indentation(of: object, in: bytes)
        var result = bytes
        if line > object.open, bytes[line..<object.close].allSatisfy(isBlank) {
            result.insert(contentsOf: "\(inner)\(text),\n".utf8, at: line)
            // After the new line, so that its position stays valid.
            if let last = object.all.last, last.comma == nil { result.insert(UInt8(ascii: ","), at: last.value.upperBound) }
        } else if let last = object.all.last {
            result.insert(contentsOf: (last.comma == nil ? ", \(text)" : " \(text),").utf8, at: last.end)
        } else {
            let outer = String(decoding: lineIndentation(of: object.open, in: bytes), as: UTF8.self)
            // A comment may be between the braces, so the member is directly after the first one.
            result.insert(contentsOf: "\n\(inner)\(text),\n\(outer)".utf8, at: object.open + 1)
        }
        return result
    }

    /// The blanks before the members of an object.
    private static func indentation(of object: JSON5Members, in bytes: [UInt8]) -> String {
        if let first = object.all.first, lineStart(of: first.start, in: bytes) > object.open {
            return String(decoding: lineIndentation(of: first.start, in: bytes), as: UTF8.self)
        }
        return String(decoding: lineIndentation(of: object.open, in: bytes), as: UTF8.self) + "    "
    }

    private static func lineStart(of position: Int, in bytes: [UInt8]) -> Int {
        bytes[..<position].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }

    private static func lineIndentation(of position: Int, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes[lineStart(of: position, in: bytes)..<position].prefix(while: isBlank)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
