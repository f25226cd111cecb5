/// A read transaction. Everything that is read while it lasts belongs to one state of the store. Within a writer's transaction or another
/// snapshot it joins that one. A shared snapshot lasts until all of its users have ended.
///
/// The connection cannot write while it lasts. A change would become durable only at the end of the snapshot, if that succeeds.
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
    /// Begins a read transaction or joins the current one. Returns false within a writer's transaction.
    fileprivate func beginReading() throws(StoreError) -> Bool {
        if readers == 0 {
            guard !isInTransaction else { return false }
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
        // Nothing was written, so commit and rollback have the same effect. If both fail, the connection rejects the next change.
        if (try? execute("COMMIT")) == nil { _ = try? execute("ROLLBACK") }
        if isWritable { _ = try? execute("PRAGMA query_only = OFF") }
    }

    /// Checks that no snapshot is open.
    ///
    /// - Throws: ``StoreError`` if a snapshot is open, because a change would not be durable when it returns.
    func refuseWithinReading() throws(StoreError) {
        guard readers > 0 else { return }
        throw StoreError(.defect, "a change was started while the same connection is reading: finish reading first")
    }
}
