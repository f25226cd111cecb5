/// Which entries of the ledger are active. An entry is active until it is undone, and again when that is undone.
final class LedgerStates {
    private let connection: Connection
    private var active: [Int64: Bool] = [:]
    private var changed: [Int64: Int64] = [:]

    init(connection: Connection) { self.connection = connection }

    /// Whether an entry is active. An entry that was removed from the ledger counts as active.
    func isActive(_ entry: Int64) throws(StoreError) -> Bool {
        if let known = active[entry] { return known }
        let isActive = try !connection.ledger.isUndone(entry)
        active[entry] = isActive
        return isActive
    }

    /// Returns the last entry in the chain of undos of an entry, or the entry itself if it was never undone. If the entry is not active,
    /// undoing that last one makes it active again.
    func changed(_ entry: Int64) throws(StoreError) -> Int64 {
        if let known = changed[entry] { return known }
        let last = try connection.ledger.lastUndo(of: entry)
        changed[entry] = last
        return last
    }

    /// Returns the entry, the entry it undoes, the one that this undoes, and so on. Their states change when the entry is undone.
    func chain(from entry: Int64) throws(StoreError) -> [Int64] {
        var chain = [entry]
        // An entry is newer than the one it undoes.
        while let last = chain.last, let next = try connection.ledger.undone(by: last), next < last { chain.append(next) }
        return chain
    }

    /// Sets the states to those that will apply after a chain is undone.
    func assume(_ chain: [Int64], undoneBy undoing: Int64) {
        for (index, entry) in chain.enumerated() {
            active[entry] = index % 2 != 0
            changed[entry] = undoing
        }
    }

    /// Undoes the first entry of a chain. The states of the chain's entries alternate: the first is undone, the second active again, and so
    /// on.
    func undo(_ chain: [Int64], by undoing: Int64) throws(StoreError) {
        try connection.ledger.set(undone: chain.first, by: undoing)
        for (index, entry) in chain.enumerated() {
            try connection.ledger.set(state: index % 2 == 0 ? "undone" : "done", of: entry)
        }
        active.removeAll()
        changed.removeAll()
    }
}
