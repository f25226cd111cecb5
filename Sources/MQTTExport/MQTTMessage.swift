/// A message to be published.
struct MQTTMessage: Hashable, Sendable {
    var topic: String
    /// Empty for a retained one that is to go.
    var payload: [UInt8]
    /// Whether the broker keeps it, for who comes later.
    var isRetained: Bool
}
