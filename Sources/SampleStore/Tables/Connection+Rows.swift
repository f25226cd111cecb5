/// Short forms for statements on a few rows. `read` must not run the same statement again.
extension Connection {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ bindings: [Value]) throws(StoreError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        _ = try statement.step()
    }

    /// What `read` returns for the first row, or `nil` if there is no row.
    func first<Result>(
        _ sql: String, _ bindings: [Value], _ read: (Statement) throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? try read(statement) : nil
    }

    /// What `read` returns for each row.
    func list<Result>(
        _ sql: String, _ bindings: [Value] = [], _ read: (Statement) throws(StoreError) -> Result
    ) throws(StoreError) -> [Result] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        var found: [Result] = []
        while try statement.step() { try found.append(read(statement)) }
        return found
    }

    /// The keys of all rows of a query, whose columns are `series`, `start`, and `hash`.
    func sampleKeys(_ sql: String, _ bindings: [Value] = []) throws(StoreError) -> [SampleKey] {
        try list(sql, bindings) { row throws(StoreError) in try SampleKey(row, at: 0) }
    }

    /// Whether a query returns a row.
    func exists(_ sql: String, _ bindings: [Value] = []) throws(StoreError) -> Bool {
        try first(sql, bindings) { _ in true } ?? false
    }
}

extension SampleKey {
    /// The key in three adjacent columns of a row.
    init(_ row: Statement, at column: Int32) throws(StoreError) {
        try self.init(series: row.integer(column), start: row.integer(column + 1), hash: row.blob(column + 2))
    }

    /// Series, start, and hash as they are bound to a statement.
    var values: [Value] { [.integer(series), .integer(start), .blob(hash)] }
}
