import FleetProtocol

/// A request of a hub, opened if it was sealed.
package struct ReceivedRequest: Sendable {
    package var bytes: [UInt8]
    /// The hub's store, as the broker reports it.
    package var store: String
    /// The hub that has sealed it.
    package var sender = RequestSender.unsealed
}
