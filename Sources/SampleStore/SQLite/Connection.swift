import CSQLite

/// One connection to SQLite. Used by one thread at a time.
final class Connection {
    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    let isWritable: Bool
    /// The name in ``Schema/lostChanges`` of the client or person whose view this connection is limited to, or `nil` if it sees everything.
    var viewer: String?
    /// Whether views hide parts of the tables. Another connection to the same file would see more.
    var isRestricted: Bool { viewer != nil }
    /// Called when a change begins, before anything is written.
    var onChange: (() throws(StoreError) -> Void)?
    /// The pauses of long changes.
    var writerPause = WriterPause()
    /// The time limit of queries, or `nil` if none was ever set.
    var deadline: Deadline?
    /// The number of open snapshots.
    var readers = 0
    /// Whether views hide pending samples.
    var hidesPending = false

    /// Opens the file for reading and writing or for reading only. It never creates the file, because the store sets the permissions.
    ///
    /// - Parameter immutable: Whether the file cannot change, so that SQLite needs no files beside it.
    init(path: String, writable: Bool, immutable: Bool = false) throws(StoreError) {
        // This must run once in a process before anything else. SQLite rejects a later call, which does no harm.
        _ = Self.configured
        var handle: OpaquePointer?
        let flags =
            (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(
            immutable ? Self.immutableURI(path) : path, &handle, immutable ? flags | SQLITE_OPEN_URI : flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw StoreError(code: code, message: message, sql: nil)
        }
        // SQLite silently opens a file that it may not write in read-only mode.
        if writable, sqlite3_db_readonly(handle, "main") == 1 {
            sqlite3_close_v2(handle)
            throw StoreError(.readOnly, "\(path) cannot be written")
        }
        self.handle = handle
        isWritable = writable
        wait(atMost: Self.patience)
    }

    /// Returns the path as a URI (<https://www.sqlite.org/uri.html>). All bytes but letters, digits, and a few punctuation marks are
    /// percent-encoded.
    private static func immutableURI(_ path: String) -> String {
        let hex = Array("0123456789abcdef")
        return path.utf8.reduce(into: "file:") { uri, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
            }
        } + "?immutable=1"
    }

    /// The default time that a change waits for another process that is writing.
    static let patience = Duration.seconds(15)

    func wait(atMost patience: Duration) {
        let (seconds, attoseconds) = patience.components
        sqlite3_busy_timeout(handle, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    private static let configured: Int32 = vitalgate_sqlite_without_memory_statistics()

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Returns two bytes of the file's header, before any log is read, or nil if the file is shorter.
    ///
    /// They are read through SQLite's own file handle. Opening and closing the file separately would drop the locks that this process has
    /// on it.
    func headerBytes(at offset: Int64) -> (UInt8, UInt8)? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let read = file.pointee.pMethods?.pointee.xRead
        else { return nil }
        var bytes: (UInt8, UInt8) = (0, 0)
        let code = withUnsafeMutableBytes(of: &bytes) { read(file, $0.baseAddress, 2, offset) }
        return code == SQLITE_OK ? bytes : nil
    }

    /// Whether the file at the path is no longer the open one, because it was removed or replaced.
    var hasMoved: Bool {
        var moved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Runs statements that return no rows.
    func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql) }
    }

    /// Returns a prepared statement from the cache. It is reset and keeps its last bindings.
    func statement(_ sql: String) throws(StoreError) -> Statement {
        if let kept = statements[sql] { return kept }
        let statement = try Statement(self, sql)
        statements[sql] = statement
        return statement
    }

    /// Runs `body` in a transaction. Within another transaction, `body` runs in a savepoint.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try refuseWithinReading()
        let isOuter = sqlite3_get_autocommit(handle) != 0
        try execute(isOuter ? "BEGIN IMMEDIATE" : "SAVEPOINT part")
        do {
            if isOuter { try onChange?() }
            let result = try body()
            try execute(isOuter ? "COMMIT" : "RELEASE part")
            return result
        } catch {
            // SQLite may have rolled back already (full disk). It then rejects a second rollback, which changes nothing.
            _ = try? execute(isOuter ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part")
            throw error
        }
    }

    /// Returns the columns of a table or view of the store, in their order.
    func columns(of table: String) throws(StoreError) -> [String] {
        let statement = try Statement(self, "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid")
        try statement.bind([.text(table)])
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }
    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    func error(_ code: Int32, _ sql: String?) -> StoreError {
        StoreError(code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }

    /// Returns the value in the first row and column, or nil if there is no row.
    func integer(_ sql: String, _ bindings: Value...) throws(StoreError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.integer(0) : nil
    }

    func text(_ sql: String, _ bindings: Value...) throws(StoreError) -> String? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ bindings: Value...) throws(StoreError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        _ = try statement.step()
    }
}

/// A value that can be bound to a parameter.
enum Value: Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
    static func optional(_ number: Int64?) -> Value { number.map { .integer($0) } ?? .null }
}

/// A prepared statement.
final class Statement {
    let handle: OpaquePointer
    private unowned let connection: Connection
    private let sql: String

    init(_ connection: Connection, _ sql: String) throws(StoreError) {
        self.connection = connection
        self.sql = sql
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw connection.error(code, sql) }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// Advances to the next row. Returns false after the last one.
    func step() throws(StoreError) -> Bool {
        let code = sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = connection.error(code, sql)
            sqlite3_reset(handle)
            throw error
        }
    }

    func reset() { sqlite3_reset(handle) }

    func bind(_ values: [Value]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    func bind(_ value: Value, at index: Int32) throws(StoreError) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .text(let text): sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), vitalgate_sqlite_transient)
            case .blob(let bytes): sqlite3_bind_blob(handle, index, bytes, Int32(bytes.count), vitalgate_sqlite_transient)
            }
        guard code == SQLITE_OK else { throw connection.error(code, sql) }
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    func text(_ column: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, column) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))), as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// The column's bytes, valid until the next step.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, column), count: Int(sqlite3_column_bytes(handle, column)))
    }
}
