import FleetProtocol
import Pipeline
import PostgreSQLExport

/// A request of a hub, opened if it was sealed.
package struct ReceivedRequest: Sendable {
    /// The request, or the reason why it cannot be read.
    let content: Result<FleetRequest, DeliveryError>
    /// The changes of a delivery as they are written.
    let batch: PreparedBatch?
    /// The hub's store, as the broker reports it.
    package let store: String
    /// The hub that has sealed it.
    package var sender: RequestSender

    /// Reads a request. Its changes are decoded, checked, and prepared here.
    package init(bytes: [UInt8], store: String, sender: RequestSender = .unsealed) {
        (self.store, self.sender) = (store, sender)
        do throws(BlockFault) {
            let request = try FleetRequest(bytes: bytes)
            content = .success(request)
            batch = if case .deliver(let batch) = request.task { PreparedBatch(batch) } else { nil }
        } catch {
            batch = nil
            content = .failure(DeliveryError(error == .tooLong ? .tooLarge : .refused, "\(error)"))
        }
    }
}
