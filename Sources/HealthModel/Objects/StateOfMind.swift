/// A person's state of mind (`HKStateOfMind`). Its valence, from -1 to 1, is the sample's number.
public struct StateOfMind: Hashable, Sendable, Codable {
    /// `momentaryEmotion` or `dailyMood` (``ObjectValues/stateOfMindKind``).
    public var kind: String
    /// The feelings, from ``ObjectValues/stateOfMindLabel``.
    public var labels: [String]
    /// The related topics, from ``ObjectValues/stateOfMindAssociation``.
    public var associations: [String]

    /// A state of mind with its parts.
    public init(kind: String, labels: [String] = [], associations: [String] = []) {
        (self.kind, self.labels, self.associations) = (kind, labels, associations)
    }
}

extension StateOfMind: ObjectBody {
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        try InvalidObject.checkName(kind, in: ObjectValues.stateOfMindKind, "stateOfMindKind")
        for label in labels { try InvalidObject.checkName(label, in: ObjectValues.stateOfMindLabel, "labels") }
        for association in associations {
            try InvalidObject.checkName(association, in: ObjectValues.stateOfMindAssociation, "associations")
        }
    }
}
