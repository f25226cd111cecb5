/// Which entries of the ledger are active. An entry is active until it is undone, and again when that is undone.
final class LedgerStates {
    private let connection: Connection
    private var active: [Int64: Bool] = [:]
    private var changed: [Int64: Int64] = [:]

    init(connection: Connection) { self.connection = connection }

    /// Whether an entry is active. An entry that the ledger does not have any more is.
    func isActive(_ entry: Int64) throws(StoreError) -> Bool {
        if let known = active[entry] { return known }
        let isActive =
            try connection.integer("SELECT 1 FROM main.ingest WHERE id = ? AND state = 'undone'", .integer(entry)) == nil
        active[entry] = isActive
        return isActive
    }

    /// The last entry that undid an entry, or undid what had undone it, and so on; the entry itself where none did. Undoing that one makes an
    /// entry active that is not.
    func changed(_ entry: Int64) throws(StoreError) -> Int64 {
        if let known = changed[entry] { return known }
        let last = try connection.integer(
            """
            WITH RECURSIVE later(id) AS (
                SELECT ?1 UNION SELECT ingest.id FROM later CROSS JOIN main.ingest ON ingest.undoes = later.id)
            SELECT max(id) FROM later
            """, .integer(entry))
        changed[entry] = last ?? entry
        return last ?? entry
    }

    /// The entry with what it undoes, what that undoes, and so on: the states of these change when the entry is undone.
    func chain(from entry: Int64) throws(StoreError) -> [Int64] {
        var chain = [entry]
        // What an entry undoes is older than itself.
        while let last = chain.last,
            let next = try connection.integer("SELECT undoes FROM ingest WHERE id = ? AND undoes IS NOT NULL", .integer(last)),
            next < last
        {
            chain.append(next)
        }
        return chain
    }

    /// Lets the states be as they will be once a chain is undone.
    func assume(_ chain: [Int64], undoneBy undoing: Int64) {
        for (index, entry) in chain.enumerated() {
            active[entry] = index % 2 != 0
            changed[entry] = undoing
        }
    }

    /// Undoes the first entry of a chain: what it undid is active again, what that undid is not, in turn.
    func undo(_ chain: [Int64], by undoing: Int64) throws(StoreError) {
        try connection.run("UPDATE ingest SET undoes = ? WHERE id = ?", .optional(chain.first), .integer(undoing))
        for (index, entry) in chain.enumerated() {
            try connection.run(
                "UPDATE ingest SET state = ? WHERE id = ?", .text(index % 2 == 0 ? "undone" : "done"), .integer(entry))
        }
        active.removeAll()
        changed.removeAll()
    }
}
