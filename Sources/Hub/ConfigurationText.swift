import FleetProtocol
import Profiles

/// Changes members in the text of a configuration. All other text stays as it is, with its comments and its order.
///
/// The text must be a valid configuration.
package enum ConfigurationText {
    /// Sets values that the center of a fleet may change.
    ///
    /// - Returns: the new text, which is not checked.
    /// - Throws: ``ConfigurationError`` if a key occurs twice, or if a value is not an object.
    package static func setting(_ settings: [HubSetting], in bytes: [UInt8]) throws(ConfigurationError) -> [UInt8] {
        var bytes = bytes
        for setting in settings {
            let value = setting.isNumber ? "\(Int(setting.value) ?? 0)" : JSON5Text.quoted(setting.value)
            bytes = try self.setting(setting.path[...], to: value, in: bytes)
        }
        return bytes
    }

    private static func setting(
        _ path: ArraySlice<String>, to value: String, in bytes: [UInt8]
    ) throws(ConfigurationError) -> [UInt8] {
        guard !isBlank(bytes) else { return Array("{\n    \(nested(path, value)),\n}\n".utf8) }
        var position: Int?
        var place = ""
        for (index, name) in zip(path.indices, path) {
            let object = try members(of: bytes, at: position, place)
            guard let member = try only(name, of: object) else {
                return inserting(nested(path[index...], value), into: object, of: bytes)
            }
            guard index < path.endIndex - 1 else {
                var result = bytes
                result.replaceSubrange(member.value, with: value.utf8)
                return result
            }
            (position, place) = (member.value.lowerBound, name)
        }
        return bytes
    }

    /// A member, with objects around it for all but the first key.
    private static func nested(_ path: ArraySlice<String>, _ value: String) -> String {
        guard let first = path.first else { return value }
        let rest = path.dropFirst()
        return "\(JSON5Text.key(first)): " + (rest.isEmpty ? value : "{ \(nested(rest, value)) }")
    }

    /// Whether a text has nothing but blanks.
    static func isBlank(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { $0 <= 0x20 } }

    /// The member of an object with a key, or `nil`.
    ///
    /// - Throws: ``ConfigurationError`` if the key occurs twice.
    static func only(_ key: String, of object: JSON5Members) throws(ConfigurationError) -> JSON5Members.Member? {
        let found = object.all.filter { $0.key == key }
        guard found.count <= 1 else { throw ConfigurationError("'\(key)' occurs twice") }
        return found.first
    }

    /// The members of the outermost object, or of the object at a position.
    ///
    /// - Parameter place: The key of the object, for the error.
    static func members(
        of bytes: [UInt8], at position: Int? = nil, _ place: String = ""
    ) throws(ConfigurationError) -> JSON5Members {
        do throws(JSON5Fault) {
            if let members = try JSON5Members.find(in: bytes, at: position) { return members }
        } catch {
            throw ConfigurationError("not JSON5: \(error)")
        }
        throw ConfigurationError("\(place.isEmpty ? "" : "'\(place)': ")expected an object in braces")
    }

    static func inserting(_ text: String, into object: JSON5Members, of bytes: [UInt8]) -> [UInt8] {
        let line = lineStart(of: object.close, in: bytes)
        let inner = indentation(of: object, in: bytes)
        var result = bytes
        if line > object.open, bytes[line..<object.close].allSatisfy(isSpace) {
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

    /// Removes a member, and a comment after it on its last line.
    static func removing(_ member: JSON5Members.Member, from bytes: [UInt8]) -> [UInt8] {
        var (start, end) = (member.start, member.end)
        let line = lineStart(of: start, in: bytes)
        let isAtLineStart = bytes[line..<start].allSatisfy(isSpace)
        while end < bytes.count, isSpace(bytes[end]) { end += 1 }
        let rest = bytes[end...].prefix { $0 != 0x0A }
        if isAtLineStart, rest.isEmpty || rest.starts(with: "//".utf8) || rest.elementsEqual([0x0D]) {
            (start, end) = (line, min(rest.endIndex + 1, bytes.count))
        }
        return Array(bytes[..<start] + bytes[end...])
    }

    /// The blanks before the members of an object.
    static func indentation(of object: JSON5Members, in bytes: [UInt8]) -> String {
        if let first = object.all.first, lineStart(of: first.start, in: bytes) > object.open {
            return String(decoding: lineIndentation(of: first.start, in: bytes), as: UTF8.self)
        }
        return String(decoding: lineIndentation(of: object.open, in: bytes), as: UTF8.self) + "    "
    }

    static func lineStart(of position: Int, in bytes: [UInt8]) -> Int {
        bytes[..<position].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    }

    private static func lineIndentation(of position: Int, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes[lineStart(of: position, in: bytes)..<position].prefix(while: isSpace)
    }

    /// Whether a byte is a blank within a line.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
