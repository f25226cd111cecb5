import Profiles

/// Adds an entry, such as a target, to an object in the text of a configuration, or removes it. All other text stays as it is, with its
/// comments and its order.
///
/// The text must be a valid configuration.
package enum TargetText {
    /// Adds an entry after the others.
    ///
    /// - Parameters:
    ///   - object: its settings in JSON5.
    ///   - path: the keys of the object with all entries, the outermost first.
    /// - Returns: the new text.
    /// - Throws: ``ConfigurationError`` if the text has no object for the entry.
    package static func adding(
        _ name: String, _ object: String, to bytes: [UInt8], under path: [String] = [TargetConfiguration.key]
    ) throws(ConfigurationError) -> [UInt8] {
        let member = "\(JSON5Text.key(name)): \(object)"
        guard !ConfigurationText.isBlank(bytes) else {
            return Array("{\n    \(nested(member, in: path[...], "    ")),\n}\n".utf8)
        }
        var object = try ConfigurationText.members(of: bytes)
        for (index, key) in path.enumerated() {
            guard let inner = try ConfigurationText.only(key, of: object) else {
                let text = nested(member, in: path[index...], ConfigurationText.indentation(of: object, in: bytes))
                return ConfigurationText.inserting(text, into: object, of: bytes)
            }
            object = try ConfigurationText.members(of: bytes, at: inner.value.lowerBound, key)
        }
        return ConfigurationText.inserting(member, into: object, of: bytes)
    }

    /// A member, with objects around it.
    private static func nested(_ member: String, in path: ArraySlice<String>, _ indentation: String) -> String {
        guard let key = path.first else { return member }
        let inner = indentation + "    "
        return "\(key): {\n\(inner)\(nested(member, in: path.dropFirst(), inner)),\n\(indentation)}"
    }

    /// Removes an entry, and a comment after it on its last line.
    ///
    /// - Returns: the new text, or `nil` if it has no such entry.
    package static func removing(
        _ name: String, from bytes: [UInt8], under path: [String] = [TargetConfiguration.key]
    ) throws(ConfigurationError) -> [UInt8]? {
        var object = try ConfigurationText.members(of: bytes)
        for key in path {
            guard let inner = object.all.last(where: { $0.key == key }) else { return nil }
            object = try ConfigurationText.members(of: bytes, at: inner.value.lowerBound, key)
        }
        let found = object.all.filter { $0.key == name }
        return found.count == 1 ? ConfigurationText.removing(found[0], from: bytes) : nil
    }
}
