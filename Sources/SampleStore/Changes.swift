import HealthModel

/// One entry of the change log, as a reader sees it.
public enum StoreChange: Sendable {
    case added(StoredSample)
    case deleted(StoredDeletion)

    /// Its number in the change log.
    public var seq: Int64 {
        switch self {
        case .added(let stored): stored.seq
        case .deleted(let deletion): deletion.seq
        }
    }
}

/// A sample that is no longer there, as readers of changes hear of it.
public struct StoredDeletion: Hashable, Sendable {
    /// The sample's.
    public var uuid: SampleIdentity
    /// The sample's type.
    public var type: QuantityType
    /// The sample that a correction put in its place.
    public var replacedBy: String?
    /// The ingest that deleted it.
    public var ingest: Int64
    /// The deletion's place in the change log.
    public var seq: Int64
}

extension SampleStore {
    /// Gives every change behind an anchor to `body`, in order, each once; a sample that was added and deleted since shows as deleted
    /// only.
    ///
    /// - Parameter anchor: the number of the last change seen; 0 for all. A number says nothing of the store that it is of: readers
    ///   keep an ``Anchor``.
    func changes(after anchor: Int64, types: Set<QuantityType>?, _ body: (StoreChange) throws -> Void) throws {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        let decoder = SampleDecoder(connection: connection)
        let names = Dictionary(uniqueKeysWithValues: try series(matching: SampleQuery(types: types)).map { ($0.id, $0.type) })
        var ranges: [Range] = []
        var end = Int64.min
        let statement = try Statement(
            connection,
            """
            SELECT series, first_seq, last_seq, deletion, low, high FROM change WHERE last_seq > ? ORDER BY first_seq
            """)
        try statement.bind([.integer(anchor)])
        while try statement.step() {
            guard let type = names[statement.integer(0)] else { continue }
            let range = Range(
                series: statement.integer(0), type: type, seqs: (statement.integer(1), statement.integer(2)),
                deletion: statement.integer(3) != 0, times: (statement.integer(4), statement.integer(5)))
            // Entries that overlap in number are sorted together; a commit's own never overlap.
            if range.seqs.0 > end {
                try give(ranges, after: anchor, decoder, body)
                ranges.removeAll(keepingCapacity: true)
            }
            end = max(end, range.seqs.1)
            ranges.append(range)
        }
        try give(ranges, after: anchor, decoder, body)
    }

    private struct Range {
        var series: Int64
        var type: QuantityType
        var seqs: (Int64, Int64)
        var deletion: Bool
        var times: (Int64, Int64)
    }

    private func give(
        _ ranges: [Range], after anchor: Int64, _ decoder: SampleDecoder, _ body: (StoreChange) throws -> Void
    ) throws {
        var changes: [StoreChange] = []
        for range in ranges {
            let bindings: [Value] = [
                .integer(range.series), .integer(range.times.0), .integer(range.times.1), .integer(max(anchor + 1, range.seqs.0)),
                .integer(range.seqs.1),
            ]
            if range.deletion {
                let statement = try connection.statement(
                    """
                    SELECT start, hash, skew, replaced_by, ingest, deleted_seq FROM deleted JOIN context ON context.id = deleted.context
                    WHERE series = ? AND start BETWEEN ? AND ? AND deleted_seq BETWEEN ? AND ?
                    """)
                defer { statement.reset() }
                try statement.bind(bindings)
                while try statement.step() {
                    let hash = try HashBytes.read(statement.blob(1))
                    let nominal = statement.integer(0) &+ statement.integer(2)
                    changes.append(
                        .deleted(
                            StoredDeletion(
                                uuid: SampleIdentity(nominalStart: nominal, high: hash.high, low: hash.low), type: range.type,
                                replacedBy: statement.optionalText(3), ingest: statement.integer(4), seq: statement.integer(5))))
                }
            } else {
                let statement = try connection.statement(
                    "SELECT \(SampleDecoder.columns) FROM sample WHERE series = ? AND start BETWEEN ? AND ? AND seq BETWEEN ? AND ?"
                )
                defer { statement.reset() }
                try statement.bind(bindings)
                while try statement.step() { changes.append(.added(try decoder.decode(statement, series: range.series))) }
            }
        }
        changes.sort { $0.seq < $1.seq }
        for change in changes { try body(change) }
    }
}
