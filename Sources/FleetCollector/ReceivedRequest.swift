import FleetProtocol

/// A request of a hub, opened if it was sealed.
public struct ReceivedRequest: Sendable {
    /// The request.
    public var bytes: [UInt8]
    /// The hub's store, as the broker reports it.
    public var store: String
    /// The hub that has sealed it.
    public var sender: RequestSender

    /// A request without a seal by default.
    public init(bytes: [UInt8], store: String, sender: RequestSender = .unsealed) {
        (self.bytes, self.store, self.sender) = (bytes, store, sender)
    }
}
