/// What the undoing of an entry of the ledger comes to: the entry may be an undoing itself, of one before, and so on down to the first that was
/// no undoing.
struct UndoChain {
    /// From the entry that is undone to the first.
    private let entries: [Int64]

    init(of undone: Int64, _ connection: Connection) throws(StoreError) {
        var entries = [undone]
        // What an entry undoes is older than itself.
        while let last = entries.last,
            let next = try connection.integer("SELECT undoes FROM ingest WHERE id = ? AND undoes IS NOT NULL", .integer(last)),
            next < last
        {
            entries.append(next)
        }
        self.entries = entries
    }

    /// What is undone.
    var undone: Int64 { entries.first ?? 0 }
    /// What it all is about.
    var root: Int64 { entries.last ?? 0 }
    /// What undid the first directly; `nil` where that is only now done.
    var firstUndoing: Int64? { entries.dropLast().last }
    /// Whether the first is taken back by it; else it holds again.
    var takesBack: Bool { entries.count % 2 == 1 }
    /// Whether it is an undoing that is undone.
    var isOfUndoing: Bool { entries.count > 1 }

    /// Each holds, or is undone, in turn.
    func keepStates(_ connection: Connection) throws(StoreError) {
        for (index, entry) in entries.enumerated() {
            try connection.run(
                "UPDATE ingest SET state = ? WHERE id = ?", .text(index % 2 == 0 ? "undone" : "done"), .integer(entry))
        }
    }
}
