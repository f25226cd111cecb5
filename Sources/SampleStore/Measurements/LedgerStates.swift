import HealthModel

/// Which entries of the ledger are active (``UndoHistory``).
final class LedgerStates {
    private let connection: Connection
    private var active: [Int64: Bool] = [:]
    private var changed: [Int64: Int64] = [:]
    /// An undo that is not in the ledger yet.
    private var assumed: UndoHistory.Undo?

    init(connection: Connection) { self.connection = connection }

    /// Whether an entry is active. An entry that was removed from the ledger counts as active.
    func isActive(_ entry: Int64) throws(StoreError) -> Bool {
        if let known = active[entry] { return known }
        let isActive = try assumed == nil ? !connection.ledger.isUndone(entry) : history(of: entry).isActive(entry)
        active[entry] = isActive
        return isActive
    }

    /// Returns the entry since which an entry has been in its state (``UndoHistory/changed(_:)``).
    func changed(_ entry: Int64) throws(StoreError) -> Int64 {
        if let known = changed[entry] { return known }
        let last = try history(of: entry).changed(entry)
        changed[entry] = last
        return last
    }

    /// The undos on which an entry's state depends.
    private func history(of entry: Int64) throws(StoreError) -> UndoHistory {
        let undos = try connection.ledger.undos(of: entry)
        var history = UndoHistory(undos)
        if let assumed, assumed.undone == entry || undos.contains(where: { $0.entry == assumed.undone }) { history.add(assumed) }
        return history
    }

    /// Returns the entry, the entry it undoes, the one that this undoes, and so on. Their states may change when the entry is undone.
    func chain(from entry: Int64) throws(StoreError) -> [Int64] {
        var chain = [entry]
        // An entry is newer than the one it undoes.
        while let last = chain.last, let next = try connection.ledger.undone(by: last), next < last { chain.append(next) }
        return chain
    }

    /// Computes the states as they will be after an entry is undone.
    func assume(_ entry: Int64, undoneBy undoing: Int64) {
        assumed = UndoHistory.Undo(entry: undoing, undone: entry)
        forget()
    }

    /// Undoes an entry, and stores the states of the entries that depend on it.
    func undo(_ entry: Int64, by undoing: Int64) throws(StoreError) {
        try connection.ledger.set(undone: entry, by: undoing)
        assumed = nil
        for entry in try chain(from: entry) {
            try connection.ledger.set(state: history(of: entry).isActive(entry) ? "done" : "undone", of: entry)
        }
        forget()
    }

    private func forget() {
        active.removeAll()
        changed.removeAll()
    }
}
