import CSQLite

/// A prepared statement.
public final class SQLiteStatement<Failure: SQLiteFailure> {
    @usableFromInline let handle: OpaquePointer
    private unowned let connection: SQLiteConnection<Failure>
    private let sql: String

    /// Prepares a statement that is not cached. The connection must outlive it.
    public init(_ connection: SQLiteConnection<Failure>, _ sql: String) throws(Failure) {
        self.connection = connection
        self.sql = sql
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw connection.error(sql) }
        self.handle = handle
    }

    deinit { sqlite3_finalize(handle) }

    /// Advances to the next row. Returns false after the last one.
    @inlinable public func step() throws(Failure) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = error
        reset()
        throw error
    }

    /// Lets the statement run again. Its bindings stay.
    @inlinable public func reset() { sqlite3_reset(handle) }

    /// Binds values to the parameters from the first on.
    @inlinable public func bind(_ values: [SQLiteValue]) throws(Failure) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
    }

    /// Binds a value to a parameter. The first one has the index 1.
    @inlinable public func bind(_ value: SQLiteValue, at index: Int32) throws(Failure) {
        guard value.bind(to: handle, index) == SQLITE_OK else { throw error }
    }

    @usableFromInline var error: Failure { connection.error(sql) }

    // MARK: Columns of the current row

    /// The number of columns.
    @inlinable public var columnCount: Int32 { sqlite3_column_count(handle) }
    /// Whether the column is NULL.
    @inlinable public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }
    /// Whether the column has bytes that are not text.
    @inlinable public func isBlob(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_BLOB }
    /// The integer, or 0 if the column is NULL.
    @inlinable public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    /// The number, or 0 if the column is NULL.
    @inlinable public func real(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    /// The integer, or `nil` if the column is NULL.
    @inlinable public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
    /// The text, or an empty one if the column is NULL.
    @inlinable public func text(_ column: Int32) -> String { String(decoding: textBytes(column), as: UTF8.self) }
    /// The text, or `nil` if the column is NULL.
    @inlinable public func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// The text's bytes in UTF-8, valid until the next step. Empty if the column is NULL.
    @inlinable public func textBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = sqlite3_column_text(handle, column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    /// The column's bytes, valid until the next step.
    @inlinable public func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, column), count: Int(sqlite3_column_bytes(handle, column)))
    }
}

/// A value that can be bound to a parameter.
public enum SQLiteValue: Equatable, Sendable {
    /// NULL.
    case null
    /// An integer.
    case integer(Int64)
    /// A floating-point number. SQLite stores NaN as NULL.
    case real(Double)
    /// Text of at most 2 GiB in UTF-8. It may contain zero bytes.
    case text(String)
    /// At most 2 GiB.
    case blob([UInt8])

    /// The text, or NULL.
    public static func optional(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }
    /// The integer, or NULL.
    public static func optional(_ number: Int64?) -> SQLiteValue { number.map { .integer($0) } ?? .null }

    /// Binds the value and returns the result code.
    @usableFromInline func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 {
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let number): sqlite3_bind_int64(statement, index, number)
        case .real(let number): sqlite3_bind_double(statement, index, number)
        case .text(let text): sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), vitalgate_sqlite_transient)
        case .blob(let bytes): sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), vitalgate_sqlite_transient)
        }
    }
}
