import FleetProtocol
import Pipeline
import PostgreSQLExport

/// Deliveries of any hubs that a collector writes in one transaction, because one commit for each would take most of the time.
struct DeliveryGroup {
    /// A delivery with the request that brought it.
    struct Member {
        let request: FleetRequest
        let batch: PreparedBatch
        let store: String
        let sender: RequestSender
        /// The place of the request among those that were received together.
        let index: Int
    }

    private(set) var members: [Member] = []
    private var changes = 0
    private var bytes = 0

    /// The number of requests that a collector takes at once.
    static let maximumRequests = 16
    /// The number of changes after which a group is written.
    private static let maximumChanges = 8192
    /// The length in bytes after which a group is written.
    static let maximumBytes = 4 << 20

    /// Adds a delivery after the others.
    mutating func add(_ request: FleetRequest, _ batch: PreparedBatch, _ sent: ReceivedRequest, index: Int) {
        members.append(Member(request: request, batch: batch, store: sent.store, sender: sent.sender, index: index))
        changes += batch.changes
        bytes += request.length
    }

    /// Whether it has to be written before more is added.
    var isFull: Bool { changes >= Self.maximumChanges || bytes >= Self.maximumBytes }
}
