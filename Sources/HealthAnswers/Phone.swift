import FileSource
import HealthModel
import SampleStore

/// A phone that posts health data: a client with an app.
package struct Phone: Sendable {
    package var client: Client
    package var app: PhoneApp
    /// The people for whom it may write, in the order of their ids.
    package var people: [String]
    /// The ledger entry of its last post, or `nil` if it has not posted yet.
    package var entry: IngestAccount?

    /// The time of the last post, or `nil` before the first post.
    package var posted: Instant? { entry.map { Instant(microseconds: $0.finished ?? $0.received) } }

    /// The maximum number of ledger entries in which a last post is searched.
    private static let reach = 5000

    /// The phones of a store, by name.
    ///
    /// - Throws: ``StoreError``.
    package static func all(in store: SampleStore) throws -> [Phone] {
        let clients = try store.clients.all().compactMap { client in
            PhoneApp(id: client.app).map { (client: client, app: $0) }
        }
        guard !clients.isEmpty else { return [] }
        let accounts = try store.ledger.accounts(limit: reach)
        return try clients.map { client, app in
            Phone(
                client: client, app: app,
                people: Set(try store.clients.grants(of: client).filter(\.mayWrite).map(\.person)).sorted(),
                entry: accounts.last { $0.kind == .import && $0.name == client.ledgerName })
        }
    }
}
