import CSQLite

/// A read transaction: all that is read while it lasts is of one state of the store. Within a writer's transaction it is that one.
final class Snapshot {
    private let connection: Connection
    private var open: Bool

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        open = sqlite3_get_autocommit(connection.handle) != 0
        if open { try connection.execute("BEGIN") }
    }

    deinit { end() }

    func end() {
        guard open else { return }
        open = false
        // Nothing was written; a failure to end leaves nothing behind that the connection's end does not clear.
        _ = try? connection.execute("COMMIT")
    }
}
