import HealthModel
import Pipeline
import SQLiteKit

/// A connection to another program's database.
struct ForeignConnection {
    private let connection: SQLiteConnection<SQLiteError>

    init(_ origin: DatabaseFileSource.Origin) throws(SourceError) {
        do throws(SQLiteError) {
            switch origin {
            // Nothing changes the file while it is read, so open it without locks, a journal or other files next to it.
            case .file(let file): connection = try SQLiteConnection(.immutableFile(file.path), writable: false)
            case .script: connection = try SQLiteConnection(.memory, writable: true)
            }
        } catch {
            throw SourceError(.inputOutput, "the database cannot be opened (SQLite \(error.code & 0xFF))")
        }
        // Do not let the file or a test vector's script access other files.
        connection.distrust(maximumValue: DatabaseFileSource.maximumValue)
        guard case .script(let script) = origin else { return }
        do throws(SQLiteError) {
            try connection.execute(String(decoding: script, as: UTF8.self))
        } catch {
            throw SourceError(.malformed, "the script is not valid SQL (SQLite \(error.code & 0xFF))")
        }
    }

    private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// The parts of a wanted table that exist in the file.
    struct Plan {
        var table: ForeignTable
        var columns: [ForeignTable.Column]
        /// The indices of the joins that exist. Missing joins that are not required are left out.
        var joins: [Int]
        var exclusion: ForeignTable.Exclusion?
    }

    /// The existing wanted columns, or `nil` if the table is missing or lacks a required column.
    func plan(of table: ForeignTable) throws -> Plan? {
        let own = try names(of: table.name)
        guard !own.isEmpty else { return nil }
        var joined: [Int: Set<String>] = [:]
        for (index, join) in table.joins.enumerated() {
            guard (join.from.map { joined[$0] ?? [] } ?? own).contains(join.column) else { continue }
            let names = try names(of: join.table)
            if let period = join.period {
                guard [period.start, period.end].allSatisfy({ own.contains($0) && names.contains($0) }) else { continue }
            }
            if names.contains(join.key) { joined[index] = names }
        }
        var found: [ForeignTable.Column] = []
        for column in table.columns {
            // A row during which nothing lasted has an empty cell, also if the other table is missing.
            if (column.join.map { joined[$0] ?? [] } ?? own).contains(column.column)
                || column.join.map({ table.joins[$0].period != nil }) == true
            {
                found.append(column)
            } else if column.isRequired {
                return nil
            }
        }
        var exclusion = table.exclusion
        if let wanted = exclusion {
            let others = try names(of: wanted.table)
            let needed = [wanted.key] + (wanted.condition.map { [$0.column] } ?? [])
            if !own.contains(wanted.column) || !needed.allSatisfy(others.contains) { exclusion = nil }
        }
        return Plan(table: table, columns: found, joins: joined.keys.sorted(), exclusion: exclusion)
    }

    /// The columns of a table that is stored in the file. The set is empty if there is no such table.
    func names(of table: String) throws -> Set<String> {
        var names: Set<String> = []
        // Views and virtual tables have no root page.
        let sql =
            "SELECT i.name FROM sqlite_master m, pragma_table_info(m.name) i WHERE m.type = 'table' AND m.rootpage > 0 AND m.name = ?1"
        try run(sql, table) { cells in
            if names.count < 1000, let cell = cells.first { names.insert(String(decoding: cell, as: UTF8.self)) }
        }
        return names
    }

    func values(of column: ForeignTable.Column, in table: ForeignTable, limit: Int) throws -> Set<String> {
        var values: Set<String> = []
        try run("SELECT DISTINCT \(Self.quoted(column.column)) FROM \(Self.quoted(table.name)) LIMIT \(limit)") { cells in
            if let cell = cells.first { values.insert(String(decoding: cell, as: UTF8.self)) }
        }
        return values
    }

    /// Passes every row of a table to `body`.
    func rows(of plan: Plan, _ body: ([UnsafeRawBufferPointer]) throws -> Void) throws {
        func alias(_ join: Int?) -> String { join.map { "j\($0)" } ?? "a" }
        func value(_ column: ForeignTable.Column) -> String {
            if let join = column.join, !plan.joins.contains(join) { return "NULL" }
            let name = "\(alias(column.join)).\(Self.quoted(column.column))"
            return column.isBinary ? "CASE typeof(\(name)) WHEN 'blob' THEN lower(hex(\(name))) ELSE \(name) END" : name
        }
        var sql = "SELECT \(plan.columns.map(value).joined(separator: ", ")) FROM \(Self.quoted(plan.table.name)) a"
        for index in plan.joins {
            let join = plan.table.joins[index]
            if let period = join.period {
                sql += try joined(join, during: period, as: alias(index))
                continue
            }
            sql += " LEFT JOIN \(Self.quoted(join.table)) \(alias(index))"
            sql += " ON \(alias(join.from)).\(Self.quoted(join.column)) = \(alias(index)).\(Self.quoted(join.key))"
        }
        if let exclusion = plan.exclusion {
            sql += " WHERE a.\(Self.quoted(exclusion.column)) IS NULL OR a.\(Self.quoted(exclusion.column)) NOT IN"
            sql += " (SELECT \(Self.quoted(exclusion.key)) FROM \(Self.quoted(exclusion.table))"
            sql += " WHERE \(Self.quoted(exclusion.key)) IS NOT NULL"
            if let condition = exclusion.condition {
                let values = condition.values.map(Self.literal).joined(separator: ", ")
                sql += " AND CAST(\(Self.quoted(condition.column)) AS TEXT) IN (\(values))"
            }
            sql += ")"
        }
        let order = plan.table.order.compactMap { name in plan.columns.first { $0.name == name } }
        if !order.isEmpty {
            sql += " ORDER BY "
            sql += order.map { "\(alias($0.join)).\(Self.quoted($0.column))" }.joined(separator: ", ")
        }
        try run(sql, nil, body)
    }

    /// Returns the join with the row of another table that lasted in the middle of the row, and at least half of its time. The other table is
    /// copied into memory, because it may have no index for the search.
    private func joined(_ join: ForeignTable.Join, during period: ForeignTable.Join.Period, as alias: String) throws -> String {
        let (key, start, end) = (Self.quoted(join.key), Self.quoted(period.start), Self.quoted(period.end))
        let copy = Self.quoted("during \(join.table)")
        try unlessUnreadable { () throws(SQLiteError) in
            try connection.execute(
                """
                PRAGMA temp_store = MEMORY;
                DROP TABLE IF EXISTS temp.\(copy);
                CREATE TEMP TABLE \(copy) AS SELECT * FROM main.\(Self.quoted(join.table));
                CREATE INDEX temp.\(Self.quoted("period of \(join.table)")) ON \(copy)(\(key), \(start));
                """)
        }
        return """
             LEFT JOIN temp.\(copy) \(alias) ON \(alias).rowid = (SELECT o.rowid FROM temp.\(copy) o
                WHERE o.\(key) = a.\(Self.quoted(join.column)) AND o.\(start) <= (a.\(start) + a.\(end)) / 2
                ORDER BY o.\(start) DESC LIMIT 1)
                AND (min(\(alias).\(end), a.\(end)) - max(\(alias).\(start), a.\(start))) * 2 >= a.\(end) - a.\(start)
            """
    }

    /// The tables that are stored in the file, sorted by name.
    func tables() throws -> [String] {
        var tables: [String] = []
        let sql =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name LIMIT 4096"
        try run(sql) { cells in if let cell = cells.first { tables.append(String(decoding: cell, as: UTF8.self)) } }
        return tables
    }

    func rows(in table: String) throws -> Int {
        var count = 0
        try run("SELECT count(*) FROM \(Self.quoted(table))") { cells in count = Self.number(cells.first) }
        return count
    }

    /// The number of values in each column, without NULL and the texts that mean an empty value.
    func values(of columns: [String], in table: String, without empties: [String]) throws -> [Int] {
        let none = ([""] + empties).map(Self.literal).joined(separator: ", ")
        let sums = columns.map { "total(\(Self.quoted($0)) IS NOT NULL AND CAST(\(Self.quoted($0)) AS TEXT) NOT IN (\(none)))" }
        var counts: [Int] = []
        try run("SELECT \(sums.map { "CAST(\($0) AS INTEGER)" }.joined(separator: ", ")) FROM \(Self.quoted(table))") { cells in
            counts = cells.map { Self.number($0) }
        }
        return counts
    }

    private static func number(_ cell: UnsafeRawBufferPointer?) -> Int {
        cell.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    private static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    private func run(
        _ sql: String, _ text: String? = nil, _ body: ([UnsafeRawBufferPointer]) throws -> Void
    ) throws {
        let statement = try unlessUnreadable { () throws(SQLiteError) in
            let statement = try SQLiteStatement(connection, sql)
            if let text { try statement.bind(.text(text), at: 1) }
            return statement
        }
        let count = statement.columnCount
        var cells: [UnsafeRawBufferPointer] = []
        while try unlessUnreadable({ () throws(SQLiteError) in try statement.step() }) {
            cells.removeAll(keepingCapacity: true)
            for index in 0..<count {
                // Do not read blobs as text.
                cells.append(statement.isBlob(index) ? UnsafeRawBufferPointer(start: nil, count: 0) : statement.textBytes(index))
            }
            try body(cells)
        }
    }

    private func unlessUnreadable<Result>(_ body: () throws(SQLiteError) -> Result) throws(SourceError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw SourceError(.malformed, "the database cannot be read (SQLite \(error.code))")
        }
    }
}
