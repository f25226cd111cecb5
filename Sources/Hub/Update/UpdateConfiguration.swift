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
        let members = try decoder.members(hasOnly: Self.knownKeys)
        applies = try members["apply"] ?? false
        checks = try members["check"] ?? false || applies
    }
}
