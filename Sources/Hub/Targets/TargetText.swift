import Profiles

/// Adds a target or a source to the text of a configuration, or removes it. All other text stays as it is, with its comments and its order.
///
/// The text must be a valid configuration.
package enum TargetText {
    /// Adds a target after the others.
    ///
    /// - Parameters:
    ///   - object: its settings in JSON5.
    ///   - key: the configuration's key for all of them.
    /// - Returns: the new text.
    /// - Throws: ``ConfigurationError`` if the text has no object for the target.
    package static func adding(
        _ name: String, _ object: String, to bytes: [UInt8], under key: String = TargetConfiguration.key
    ) throws(ConfigurationError) -> [UInt8] {
        let member = "\(JSON5Text.key(name)): \(object)"
        guard !ConfigurationText.isBlank(bytes) else {
            return Array("{\n    \(key): {\n        \(member),\n    },\n}\n".utf8)
        }
        let root = try ConfigurationText.members(of: bytes)
        guard let targets = try ConfigurationText.only(key, of: root) else {
            let inner = ConfigurationText.indentation(of: root, in: bytes)
            let text = "\(key): {\n\(inner)    \(member),\n\(inner)}"
            return ConfigurationText.inserting(text, into: root, of: bytes)
        }
        return ConfigurationText.inserting(member, into: try members(of: targets, in: bytes, key), of: bytes)
    }

    /// Removes a target, and a comment after it on its last line.
    ///
    /// - Returns: the new text, or `nil` if it has no such target.
    package static func removing(
        _ name: String, from bytes: [UInt8], under key: String = TargetConfiguration.key
    ) throws(ConfigurationError) -> [UInt8]? {
        let root = try ConfigurationText.members(of: bytes)
        guard let targets = root.all.last(where: { $0.key == key }) else { return nil }
        let found = try members(of: targets, in: bytes, key).all.filter { $0.key == name }
        guard found.count == 1, let member = found.first else { return nil }
        return ConfigurationText.removing(member, from: bytes)
    }

    private static func members(
        of targets: JSON5Members.Member, in bytes: [UInt8], _ key: String
    ) throws(ConfigurationError) -> JSON5Members {
        try ConfigurationText.members(of: bytes, at: targets.value.lowerBound, key)
    }
}
