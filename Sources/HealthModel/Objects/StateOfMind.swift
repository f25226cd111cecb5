/// How somebody feels (`HKStateOfMind`); how pleasant that is, from -1 to 1, is the sample's number.
public struct StateOfMind: Hashable, Sendable, Codable {
    /// `momentaryEmotion` or `dailyMood` (``ObjectValues/stateOfMindKind``).
    public var kind: String
    /// What it is called, of ``ObjectValues/stateOfMindLabel``.
    public var labels: [String]
    /// What it has to do with, of ``ObjectValues/stateOfMindAssociation``.
    public var associations: [String]

    /// A state of mind of its parts.
    public init(kind: String, labels: [String] = [], associations: [String] = []) {
        (self.kind, self.labels, self.associations) = (kind, labels, associations)
    }
}
