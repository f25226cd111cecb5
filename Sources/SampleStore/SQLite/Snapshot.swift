import CSQLite

/// A read transaction: all that is read while it lasts is of one state of the store. Within a writer's transaction it is that one; within
/// another snapshot it is that one, which lasts until all have ended.
///
/// While it lasts the connection writes nothing: a change would be durable only with the snapshot's end, if that succeeds.
final class Snapshot {
    private let connection: Connection
    private var open = true

    init(_ connection: Connection) throws(StoreError) {
        self.connection = connection
        open = try connection.beginReading()
    }

    deinit { end() }

    func end() {
        guard open else { return }
        open = false
        connection.endReading()
    }
}

extension Connection {
    /// Begins a read transaction, or joins the one that there is; false within a writer's transaction.
    fileprivate func beginReading() throws(StoreError) -> Bool {
        if readers == 0 {
            guard sqlite3_get_autocommit(handle) != 0 else { return false }
            try execute("BEGIN")
            do throws(StoreError) {
                if isWritable { try execute("PRAGMA query_only = ON") }
                try hidePending()
            } catch {
                _ = try? execute("ROLLBACK")
                throw error
            }
        }
        readers += 1
        return true
    }

    fileprivate func endReading() {
        readers -= 1
        guard readers == 0 else { return }
        // Nothing was written: either way of ending leaves the store as it is. A connection that could not be ended refuses what comes next.
        if (try? execute("COMMIT")) == nil { _ = try? execute("ROLLBACK") }
        if isWritable { _ = try? execute("PRAGMA query_only = OFF") }
    }

    /// - Throws: ``StoreError`` where something is being read: a change would not be durable when it says that it is.
    func refuseWithinReading() throws(StoreError) {
        guard readers > 0 else { return }
        throw StoreError(.defect, "a change was begun while the same connection reads; the reading has to end first")
    }
}
