/// A connection to a database that the exporters of several hubs can share, one after the other.
public final class PostgreSQLSession {
    let settings: PostgreSQLSettings
    let schema: DatabaseSchema
    /// The checked connection, or `nil` if the next exporter has to open one.
    private(set) var connection: PostgreSQLConnection?
    /// The numbers of the hubs in the database, by their stores.
    private(set) var hubs: [String: Int] = [:]

    private static let mostHubs = 10_000

    /// The command that creates the tables, or `nil` for that of a target.
    let creation: String?

    /// Creates a session without connecting.
    public init(_ settings: PostgreSQLSettings, creation: String? = nil) {
        (self.settings, self.creation) = (settings, creation)
        schema = DatabaseSchema(name: settings.schema)
    }

    /// Keeps a checked connection and the number of a hub.
    func begin(_ connection: PostgreSQLConnection, hub: Int, of store: String) {
        self.connection = connection
        if hubs.count >= Self.mostHubs { hubs.removeAll() }
        hubs[store] = hub
    }

    /// Closes the connection. A transaction that is open is rolled back.
    package func end() {
        connection = nil
        hubs.removeAll()
    }
}
