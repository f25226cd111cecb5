import FleetProtocol
import Pipeline

/// A request of a hub, opened if it was sealed.
package struct ReceivedRequest: Sendable {
    /// The request, or the reason why it cannot be read.
    let content: Result<FleetRequest, DeliveryError>
    /// The hub's store, as the broker reports it.
    package let store: String
    /// The hub that has sealed it.
    package var sender: RequestSender

    /// Reads a request. Its changes are decoded and checked here.
    package init(bytes: [UInt8], store: String, sender: RequestSender = .unsealed) {
        (self.store, self.sender) = (store, sender)
        do throws(BlockFault) {
            content = .success(try FleetRequest(bytes: bytes))
        } catch {
            content = .failure(DeliveryError(error == .tooLong ? .tooLarge : .refused, "\(error)"))
        }
    }
}
