/// A message to publish.
struct MQTTMessage: Hashable, Sendable {
    var topic: String
    /// The payload. Empty to remove a retained message.
    var payload: [UInt8]
    /// Whether the broker keeps the message for later subscribers.
    var isRetained: Bool
}
