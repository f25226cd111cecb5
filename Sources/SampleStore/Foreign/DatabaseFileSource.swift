import CSQLite
import HealthModel
import Pipeline

/// Reads tables of another program's database, such as a phone keeps its readings in. It is here because SQLite has one door.
///
///     let source = DatabaseFileSource(path: "Gadgetbridge.db", tables: tables, received: now)
///
/// Each table is a header and rows of text, on a channel of its own: `sqlite:0` and so on, in the order in which they are wanted. A table that is not there, or
/// lacks a column that it needs, is left out. The file is opened for reading alone, as one that nobody changes, and nothing in it is trusted: only its
/// tables are read, no views.
public final class DatabaseFileSource: FrameSource {
    /// Longest value in octets; a longer one ends the reading.
    public static let maximumValue = 1 << 20

    fileprivate enum Origin {
        case path(String)
        case script([UInt8])
    }

    private let origin: Origin
    private let tables: [ForeignTable]
    private let received: Instant

    /// Reads a file.
    public init(path: String, tables: [ForeignTable], received: Instant) {
        (origin, self.tables, self.received) = (.path(path), tables, received)
    }

    /// Reads what a script of SQL makes, in memory; for vectors and tests.
    public init(script: [UInt8], tables: [ForeignTable], received: Instant) {
        (origin, self.tables, self.received) = (.script(script), tables, received)
    }

    /// The channel of the table that is wanted as this one.
    public static func channel(_ index: Int) -> String { "sqlite:\(index)" }

    /// Which of the tables are there, by their place in the list.
    /// - Throws: ``SourceError`` where the file cannot be read.
    public func present() throws -> [Int] {
        let database = try ForeignDatabase(origin)
        defer { database.close() }
        var found: [Int] = []
        for (index, table) in tables.enumerated() where try database.columns(of: table) != nil { found.append(index) }
        return found
    }

    public func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let database = try ForeignDatabase(origin)
        defer { database.close() }
        try refuseSeveralPersons(database)
        var number = 0
        for (index, table) in tables.enumerated() {
            guard let columns = try database.columns(of: table) else { continue }
            let channel = Self.channel(index)
            let names = columns.map { Array($0.name.utf8) }
            let row = TextRow()
            func hand(_ cells: [UnsafeRawBufferPointer]) throws {
                row.cells = cells
                try handle(RawFrame(payload: .row(row), place: Place(.record, number), received: received, channel: channel))
            }
            try Self.lend(names, hand)
            try database.rows(of: table, columns) { cells in
                number += 1
                try hand(cells)
            }
        }
    }

    /// Lends names as cells.
    private static func lend(_ names: [[UInt8]], _ body: ([UnsafeRawBufferPointer]) throws -> Void) rethrows {
        try names.flatMap { $0 }.withUnsafeBytes { octets in
            var start = 0
            try body(
                names.map { name in
                    defer { start += name.count }
                    return UnsafeRawBufferPointer(rebasing: octets[start..<(start + name.count)])
                })
        }
    }

    /// A file is one person's: it says whose each row is, and all have to be the same one's.
    private func refuseSeveralPersons(_ database: ForeignDatabase) throws {
        var persons: Set<String> = []
        for table in tables {
            guard let person = table.person, let columns = try database.columns(of: table),
                let column = columns.first(where: { $0.name == person })
            else { continue }
            persons.formUnion(try database.values(of: column, in: table, limit: 2))
        }
        guard persons.count < 2 else {
            throw SourceError(.malformed, "it holds the readings of several persons; export each person's to a file of its own")
        }
    }
}

/// A connection to another program's database.
private struct ForeignDatabase {
    private let handle: OpaquePointer

    init(_ origin: DatabaseFileSource.Origin) throws(SourceError) {
        var handle: OpaquePointer?
        let code: Int32
        switch origin {
        case .path(let path):
            // A file that is read and not changed meanwhile: no lock, no journal, and no second file beside it.
            let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
            code = sqlite3_open_v2("file:\(Self.escaped(path))?immutable=1", &handle, flags, nil)
        case .script:
            code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        }
        guard code == SQLITE_OK, let handle else {
            sqlite3_close(handle)
            throw SourceError(.inputOutput, "the database cannot be opened (SQLite \(code))")
        }
        self.handle = handle
        // Neither a file nor a vector's script reaches another file.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(DatabaseFileSource.maximumValue))
        sqlite3_exec(handle, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", nil, nil, nil)
        if case .script(let script) = origin {
            let text = String(decoding: script, as: UTF8.self)
            let code = sqlite3_exec(handle, text, nil, nil, nil)
            guard code == SQLITE_OK else {
                sqlite3_close(handle)
                throw SourceError(.malformed, "the script is no SQL (SQLite \(code))")
            }
        }
    }

    func close() { sqlite3_close(handle) }

    /// A path as a part of a URI.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                || byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
            {
                text.unicodeScalars.append(UnicodeScalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }

    /// A name as SQL takes it.
    private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// The wanted columns that are there; nil where the table is not, or lacks one that it needs.
    func columns(of table: ForeignTable) throws -> [ForeignTable.Column]? {
        let own = try names(of: table.name)
        let joined = if let join = table.join { try names(of: join.table) } else { Set<String>() }
        guard !own.isEmpty else { return nil }
        if let join = table.join, !own.contains(join.column) || !joined.contains(join.key) { return nil }
        var found: [ForeignTable.Column] = []
        for column in table.columns {
            if (column.isOfJoined ? joined : own).contains(column.column) {
                found.append(column)
            } else if column.isRequired {
                return nil
            }
        }
        return found
    }

    /// The columns of a table that is stored in the file; none where there is no such table.
    private func names(of table: String) throws -> Set<String> {
        var names: Set<String> = []
        // A view or a virtual table has no page of its own.
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

    /// Every row of a table, in the order in which it lies there.
    func rows(
        of table: ForeignTable, _ columns: [ForeignTable.Column], _ body: ([UnsafeRawBufferPointer]) throws -> Void
    ) throws {
        let list = columns.map { "\($0.isOfJoined ? "b" : "a").\(Self.quoted($0.column))" }.joined(separator: ", ")
        var sql = "SELECT \(list) FROM \(Self.quoted(table.name)) a"
        if let join = table.join {
            sql += " LEFT JOIN \(Self.quoted(join.table)) b ON a.\(Self.quoted(join.column)) = b.\(Self.quoted(join.key))"
        }
        try run(sql, nil, body)
    }

    private func run(
        _ sql: String, _ text: String? = nil, _ body: ([UnsafeRawBufferPointer]) throws -> Void
    ) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw unreadable() }
        defer { sqlite3_finalize(statement) }
        if let text { sqlite3_bind_text(statement, 1, text, -1, vitalgate_sqlite_transient) }
        let count = sqlite3_column_count(statement)
        var cells: [UnsafeRawBufferPointer] = []
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw unreadable() }
            cells.removeAll(keepingCapacity: true)
            for index in 0..<count {
                // Octets are no text, whatever they are.
                let isBlob = sqlite3_column_type(statement, index) == SQLITE_BLOB
                let text = isBlob ? nil : sqlite3_column_text(statement, index)
                cells.append(
                    UnsafeRawBufferPointer(start: text, count: text == nil ? 0 : Int(sqlite3_column_bytes(statement, index))))
            }
            try body(cells)
        }
    }

    private func unreadable() -> SourceError {
        SourceError(.malformed, "the database cannot be read (SQLite \(sqlite3_extended_errcode(handle)))")
    }
}
