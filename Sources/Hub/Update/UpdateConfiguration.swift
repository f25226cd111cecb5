/// What happens at night without a person: the key `update` of the configuration. Both are off by default.
///
///     update: { check: true, apply: true }
package struct UpdateConfiguration: Decodable, Sendable {
    /// Whether the repository is asked for a newer version each night.
    package var checks = false
    /// Whether a newer version is also installed. This includes the check.
    package var applies = false

    /// The keys of the object.
    static let knownKeys = ["check", "apply"]

    package init() {}

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: SettingKey.self)
        if let unknown = members.allKeys.map(\.stringValue).sorted().first(where: { !Self.knownKeys.contains($0) }) {
            throw ConfigurationError(
                "'update.\(unknown)': unknown key, expected one of \(Self.knownKeys.joined(separator: ", "))")
        }
        applies = try members.decodeIfPresent(Bool.self, forKey: SettingKey("apply")) ?? false
        checks = try members.decodeIfPresent(Bool.self, forKey: SettingKey("check")) ?? false || applies
    }
}
