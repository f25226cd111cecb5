@testable import SampleStore

extension SampleStore {
    /// Enters what one client was given.
    func enterReads(_ entries: [ReadEntry], readBy client: Client) throws {
        try enterReads(entries.map { ReadJournal.Entry(client: client.id, read: $0) })
    }
}
