import CSQLite
import Glibc

/// One connection to SQLite. Used by one thread at a time.
///
///     let connection = try SQLiteConnection<SQLiteError>(.file("app.db"), writable: false)
///     let statement = try connection.statement("SELECT name FROM pet WHERE age > ?")
///     defer { statement.reset() }
///     try statement.bind([.integer(3)])
///     while try statement.step() { print(statement.text(0)) }
///
/// Subclasses add the state of their use.
open class SQLiteConnection<Failure: SQLiteFailure> {
    /// The database to open.
    public enum Location: Sendable {
        /// A file that exists.
        case file(String)
        /// A file that exists and does not change while it is open. SQLite needs neither locks nor other files beside it.
        case immutableFile(String)
        /// An empty database in memory.
        case memory
    }

    @usableFromInline final let handle: OpaquePointer
    @usableFromInline final var statements: [String: SQLiteStatement<Failure>] = [:]
    /// Whether the database was opened for writing.
    public final let isWritable: Bool
    // SQLite has unretained pointers to them.
    final var progressHandler: ProgressHandler?
    final var commitHandler: CommitHandler?

    /// Opens a database. It never creates a file, so that its user sets the permissions.
    ///
    /// - Parameter busyTimeout: the time to wait for another connection that is writing.
    /// - Throws: `Failure`, also if the file is to be written and cannot be.
    public init(_ location: Location, writable: Bool, busyTimeout: Duration = .zero) throws(Failure) {
        // This must run once in a process before anything else. SQLite rejects a later call, which does no harm.
        _ = configured
        var handle: OpaquePointer?
        var flags =
            (writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let name: String
        switch location {
        case .file(let path): name = path
        case .immutableFile(let path):
            name = immutableURI(path)
            flags |= SQLITE_OPEN_URI
        case .memory: name = ":memory:"
        }
        let code = sqlite3_open_v2(name, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(handle)
            throw Failure(code: code, message: message, sql: nil)
        }
        // SQLite silently opens a file that it may not write in read-only mode.
        if writable, sqlite3_db_readonly(handle, "main") == 1 {
            sqlite3_close_v2(handle)
            throw Failure(code: SQLITE_READONLY, message: "\(name) cannot be written", sql: nil)
        }
        self.handle = handle
        isWritable = writable
        wait(atMost: busyTimeout)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Sets the time to wait for another connection that is writing.
    public final func wait(atMost busyTimeout: Duration) {
        let (seconds, attoseconds) = busyTimeout.components
        sqlite3_busy_timeout(handle, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }

    // MARK: Statements

    /// Runs statements that return no rows.
    public final func execute(_ sql: String) throws(Failure) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(sql) }
    }

    /// Returns a prepared statement from the cache. It is reset and keeps its last bindings.
    @inlinable public final func statement(_ sql: String) throws(Failure) -> SQLiteStatement<Failure> {
        if let cached = statements[sql] { return cached }
        let statement = try SQLiteStatement(self, sql)
        statements[sql] = statement
        return statement
    }

    /// Returns the integer in the first row and column, or `nil` if there is no row.
    @inlinable public final func integer(_ sql: String, _ bindings: SQLiteValue...) throws(Failure) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Returns the text in the first row and column, or `nil` if there is no row.
    @inlinable public final func text(_ sql: String, _ bindings: SQLiteValue...) throws(Failure) -> String? {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Runs a statement that returns no rows.
    @inlinable public final func run(_ sql: String, _ bindings: SQLiteValue...) throws(Failure) {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(bindings)
        _ = try statement.step()
    }

    /// The number of rows that the last statement changed.
    @inlinable public final var changes: Int { Int(sqlite3_changes(handle)) }
    /// The row identifier of the last insertion.
    @inlinable public final var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The last error of this connection.
    @usableFromInline final func error(_ sql: String?) -> Failure {
        let code = sqlite3_extended_errcode(handle)
        // In the middle of a statement, SQLite reports a failure of the medium as damage (SQLITE_IOERR_CORRUPTFS in vdbe.c).
        if code & 0xFF == SQLITE_CORRUPT, [EIO, ENXIO].contains(vitalgate_sqlite_last_errno(handle)) {
            return Failure(code: SQLITE_IOERR, message: String(cString: sqlite3_errstr(SQLITE_IOERR)), sql: sql)
        }
        return Failure(code: code, message: String(cString: sqlite3_errmsg(handle)), sql: sql)
    }

    /// Returns the columns of a table or view of the database, in their order.
    public final func columns(of table: String) throws(Failure) -> [String] {
        let statement = try SQLiteStatement(self, "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid")
        try statement.bind([.text(table)])
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    // MARK: Transactions

    /// Whether a transaction is open.
    @inlinable public final var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs `body` in a transaction that writes. Within another transaction, `body` runs in a savepoint.
    ///
    /// - Parameter onBegin: called inside a new transaction before `body`.
    /// - Throws: `Failure`, or the error of `body` after the changes are rolled back.
    @inlinable public final func transaction<Result>(
        onBegin: () throws -> Void, _ body: () throws -> Result
    ) throws -> Result {
        let isOuter = !isInTransaction
        try execute(isOuter ? "BEGIN IMMEDIATE" : "SAVEPOINT part")
        do {
            if isOuter { try onBegin() }
            let result = try body()
            try execute(isOuter ? "COMMIT" : "RELEASE part")
            return result
        } catch {
            // SQLite may have rolled back already (full disk). It then rejects a second rollback, which changes nothing.
            _ = try? execute(isOuter ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part")
            throw error
        }
    }
}

private let configured: Int32 = vitalgate_sqlite_without_memory_statistics()

/// Returns the path as a URI (<https://www.sqlite.org/uri.html>). All bytes but letters, digits, and a few punctuation marks are
/// percent-encoded.
private func immutableURI(_ path: String) -> String {
    let hex = Array("0123456789abcdef")
    return path.utf8.reduce(into: "file:") { uri, byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            uri.unicodeScalars.append(Unicode.Scalar(byte))
        default: uri += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
        }
    } + "?immutable=1"
}
