struct MQTTMessage: Hashable, Sendable {
    var topic: String
    /// The payload. Empty to remove a retained message.
    var payload: [UInt8]
    /// Whether the broker keeps the message for later subscribers.
    var isRetained: Bool
    /// After how many seconds the broker removes it, or `nil` for never.
    var expiry: UInt32?

    /// Whether the packet of the message is within the broker's limit: the header with at most 5 bytes, the topic with its length, the
    /// packet identifier, and properties (MQTT 5, section 3.3).
    func fits(_ limit: Int?) -> Bool { limit.map { payload.count + topic.utf8.count + 16 <= $0 } ?? true }
}
