import HealthModel

/// Sorts the keys of samples with a temporary SQLite database. It uses at most two megabytes of memory and a temporary file for the rest,
/// which is removed with this object.
final class SampleSorter {
    private let order: [SampleOrder]
    private let limit: Int?
    private let scratch: Connection
    private let insert: Statement
    private let trim: Statement?
    private var sorted: Statement?
    private var added = 0

    /// The number of samples added beyond a limit before the surplus is removed.
    private static let slack = 4096

    /// - Parameter limit: The maximum number of samples that will be read.
    init(_ order: [SampleOrder], limit: Int?) throws(StoreError) {
        self.order = order
        self.limit = limit
        scratch = try Connection(path: "", writable: true)
        try scratch.execute(
            "PRAGMA cache_size = -2000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE")
        let keys = order.indices.map { "key\($0)" }
        let columns = (keys + ["part", "series", "start", "hash"]).joined(separator: ", ")
        try scratch.execute("CREATE TABLE found(number INTEGER PRIMARY KEY, \(columns)); BEGIN")
        let values = Array(repeating: "?", count: keys.count + 4).joined(separator: ", ")
        insert = try Statement(scratch, "INSERT INTO found(\(columns)) VALUES(\(values))")
        if let limit, limit < Int.max / 4 {
            trim = try Statement(
                scratch,
                "DELETE FROM found WHERE number NOT IN (SELECT number FROM found ORDER BY \(Self.clause(order)) LIMIT \(limit))")
        } else {
            trim = nil
        }
    }

    /// The `ORDER BY` clause. Samples that are equal in all fields keep the order in which they were added.
    private static func clause(_ order: [SampleOrder]) -> String {
        (order.indices.map { "key\($0) \(order[$0].descending ? "DESC" : "ASC") NULLS LAST" } + ["number"]).joined(
            separator: ", ")
    }

    /// Adds a sample's sort keys and its row key.
    func add(_ sample: Sample, part: Int, at key: SampleKey) throws(StoreError) {
        insert.reset()
        try insert.bind(
            order.map { $0.key(of: sample).value }
                + [.integer(Int64(part)), .integer(key.series), .integer(key.start), .blob(key.hash)])
        _ = try insert.step()
        added += 1
        guard let trim, let limit, added >= limit + max(limit, Self.slack) else { return }
        insert.reset()
        trim.reset()
        _ = try trim.step()
        trim.reset()
        added = limit
    }

    /// Ends the adding and starts the sorting.
    func sort() throws(StoreError) {
        insert.reset()
        sorted = try Statement(scratch, "SELECT part, series, start, hash FROM found ORDER BY \(Self.clause(order))")
    }

    /// Returns the next key in order, or nil after the last one. It can be called again after that.
    func next() throws(StoreError) -> (part: Int, key: SampleKey)? {
        guard let sorted, try sorted.step() else {
            // SQLite restarts a statement that is stepped after its end.
            sorted = nil
            return nil
        }
        let key = try SampleKey(series: sorted.integer(1), start: sorted.integer(2), hash: sorted.blob(3))
        return (Int(sorted.integer(0)), key)
    }
}

extension SampleOrder.Key {
    fileprivate var value: Value {
        switch self {
        case .integer(let number): .integer(number)
        case .number(let number): .real(number)
        case .text(let text): .text(text)
        case .missing: .null
        }
    }
}
