@testable import SampleStore

extension SampleStore {
    /// Records the reads of one client.
    func enterReads(_ entries: [ReadEntry], readBy client: Client) throws {
        try clients.enterReads(entries.map { ReadJournal.Entry(client: client.id, read: $0) })
    }
}
