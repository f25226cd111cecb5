/// Which entries of the ledger are active: an entry is active unless an active entry undoes it.
///
///     let history = UndoHistory([.init(entry: 2, undone: 1), .init(entry: 3, undone: 2), .init(entry: 4, undone: 1)])
///     history.isActive(2)  // false
///     history.isActive(1)  // false: entry 4 undoes it as well
public struct UndoHistory: Sendable {
    /// An entry that undoes an earlier one.
    public struct Undo: Hashable, Sendable {
        public var entry: Int64
        public var undone: Int64

        public init(entry: Int64, undone: Int64) {
            self.entry = entry
            self.undone = undone
        }
    }

    private var undos: [Undo]

    /// - Parameter undos: In any order. An entry undoes at most one other.
    public init(_ undos: [Undo] = []) { self.undos = undos.sorted { $0.entry < $1.entry } }

    /// Adds an undo that is newer than all others.
    public mutating func add(_ undo: Undo) { undos.append(undo) }

    public func isActive(_ entry: Int64) -> Bool { isActive(entry, after: undos[...]) }

    /// The entry since which `entry` has been active or undone without interruption: the last undo that changed its state, or the entry itself.
    public func changed(_ entry: Int64) -> Int64 {
        var (wasActive, changed) = (true, entry)
        for index in undos.indices where undos[index].entry > entry {
            let isActive = isActive(entry, after: undos[...index])
            if isActive != wasActive { (wasActive, changed) = (isActive, undos[index].entry) }
        }
        return changed
    }

    /// An entry is newer than the one it undoes, so the state of the newest is known first.
    private func isActive(_ entry: Int64, after undos: ArraySlice<Undo>) -> Bool {
        var undone: Set<Int64> = []
        for undo in undos.reversed() where undo.entry > entry && !undone.contains(undo.entry) { undone.insert(undo.undone) }
        return !undone.contains(entry)
    }
}
