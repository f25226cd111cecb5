import HealthModel

/// The epochs in the history of a change log. Each epoch is a range of numbers written by one process.
///
/// A copy of the file shares the history up to the time of the copy and then continues with its own tokens. So both
/// stores accept an anchor from their common history, wherever the file is moved, and neither accepts an anchor of
/// changes that were lost.
struct Epochs {
    private let connection: Connection
    /// The known epochs, sorted by first number.
    private var known: [(first: Int64, token: String)] = []
    /// The last change number that `known` covers.
    private var end: Int64 = -1
    private var index = 0

    init(_ connection: Connection) { self.connection = connection }

    /// Adds the connection's epoch to the history together with its first change, in the same transaction.
    static func begin(_ connection: Connection) throws(StoreError) {
        guard let token = try connection.text("SELECT lower(hex(randomblob(8)))") else { return }
        try connection.execute(
            """
            CREATE TEMP TRIGGER epoch_begins AFTER UPDATE OF value ON main.setting
            WHEN new.name = 'seq' AND new.value > old.value AND NOT EXISTS (SELECT 1 FROM epoch WHERE token = '\(token)')
            BEGIN INSERT INTO epoch VALUES('\(token)', old.value + 1); END
            """)
    }

    /// Removes the number that a viewer must have reached.
    static func forget(viewer: String, _ connection: Connection) throws(StoreError) {
        try connection.run("DELETE FROM lost WHERE viewer = ?", .text(viewer))
    }

    /// Replaces the history of a copy, so that it accepts no anchor of the original store.
    static func renew(_ connection: Connection) throws(StoreError) {
        try connection.execute(
            "BEGIN; DELETE FROM epoch; INSERT INTO epoch VALUES(lower(hex(randomblob(8))), 0); COMMIT")
    }

    /// The change number after which a reader with this anchor continues.
    ///
    /// - Throws: ``StoreError`` of the kind `invalid` if the anchor does not belong to this store's history.
    func start(of anchor: Anchor) throws(StoreError) -> Int64 {
        guard let reason = try fault(of: anchor) else { return anchor.seq }
        throw StoreError(
            .invalid,
            "the anchor \(anchor) \(reason): read everything again with --after 0, "
                + "forget samples that are missing from it, and continue from its last anchor"
        )
    }

    /// The reason why the anchor does not belong to this store's history, or `nil` if it does.
    func fault(of anchor: Anchor) throws(StoreError) -> String? {
        guard anchor != .beginning else { return nil }
        guard let numbers = try numbers(of: anchor.token) else {
            return "belongs to another store, or to one that a backup has replaced"
        }
        guard numbers.contains(anchor.seq) else {
            return "refers to changes that this store no longer has, because it was restored from an older copy"
        }
        let lost =
            if let viewer = connection.viewer {
                try connection.integer("SELECT seq FROM main.lost WHERE viewer = ?", .text(viewer))
            } else {
                try connection.settings.integer("pruned")
            }
        return anchor.seq < lost ?? 0 ? "is older than samples that have been removed permanently" : nil
    }

    /// The change numbers of the epoch with this token, or `nil` if there is no such epoch.
    private func numbers(of token: String) throws(StoreError) -> ClosedRange<Int64>? {
        guard let first = try connection.integer("SELECT first_seq FROM epoch WHERE token = ?", .text(token)) else { return nil }
        let last = try connection.integer(
            "SELECT coalesce((SELECT min(first_seq) - 1 FROM epoch WHERE first_seq > ?1), \(SettingTable.value("seq")))",
            .integer(first))
        return first...max(first, last ?? first)
    }

    /// Whether an anchor belongs to this store's own history, even if changes were permanently removed since. Other
    /// anchors come from a copy, or from changes that were lost when the store was restored from a backup.
    func hasMade(_ anchor: Anchor) throws(StoreError) -> Bool {
        if anchor == .beginning { return true }
        return try numbers(of: anchor.token)?.contains(anchor.seq) ?? false
    }

    /// The anchor of a reader that has seen this change. Call this with ascending numbers.
    mutating func anchor(after seq: Int64) throws(StoreError) -> Anchor {
        if seq > end { try read() }
        while index + 1 < known.count, known[index + 1].first <= seq { index += 1 }
        guard known.indices.contains(index), known[index].first <= seq else {
            throw StoreError(.corrupt, "the change log has no beginning")
        }
        return Anchor(token: known[index].token, seq: seq)
    }

    private mutating func read() throws(StoreError) {
        end = try connection.settings.lastChange()
        known = try connection.list("SELECT first_seq, token FROM epoch ORDER BY first_seq") { ($0.integer(0), $0.text(1)) }
        index = 0
    }
}

/// A shared reference to epochs that two closures use.
private final class AnchorSource {
    private var epochs: Epochs
    init(_ epochs: Epochs) { self.epochs = epochs }
    func anchor(after seq: Int64) throws(StoreError) -> Anchor { try epochs.anchor(after: seq) }
}

extension SampleStore.Changes {
    /// Passes every change after an anchor to `body`, in order and exactly once, with the anchor to continue from. A
    /// sample that was added and then deleted appears only as deleted.
    ///
    /// - Parameter pruned: Called with each pruning, in the same order.
    /// - Throws: ``StoreError`` of the kind `invalid` if the anchor belongs to another store or to changes that the
    ///   store no longer has, or the error that `body` throws.
    public func read(
        after anchor: Anchor, types: Set<SampleType>?, pruned: (Pruning, Anchor) throws -> Void = { _, _ in },
        _ body: (SampleChange, Anchor) throws -> Void
    ) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let epochs = Epochs(connection)
        let start = try epochs.start(of: anchor)
        // Both closures advance the same list of epochs, but never at the same time.
        let anchors = AnchorSource(epochs)
        try read(
            after: start, types: types, pruned: { try pruned($0, try anchors.anchor(after: $0.seq)) },
            { try body($0, try anchors.anchor(after: $0.seq)) })
    }

    /// The anchor of a reader that has seen all current changes.
    public func latestAnchor() throws(StoreError) -> Anchor {
        let last = try store.lastChange()
        guard last > 0 else { return .beginning }
        var epochs = Epochs(connection)
        return try epochs.anchor(after: last)
    }

    /// The anchor of a reader that has seen this change, or `nil` if later changes were removed permanently.
    public func anchor(at number: Int64) throws(StoreError) -> Anchor? {
        var epochs = Epochs(connection)
        let anchor = try epochs.anchor(after: number)
        return try knows(anchor) ? anchor : nil
    }

    /// Whether an anchor belongs to this store's history, so that its reader can continue.
    public func knows(_ anchor: Anchor) throws(StoreError) -> Bool {
        do throws(StoreError) {
            _ = try Epochs(connection).start(of: anchor)
            return true
        } catch {
            guard error.kind == .invalid else { throw error }
            return false
        }
    }
}
