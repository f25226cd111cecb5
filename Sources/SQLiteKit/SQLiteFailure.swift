import CSQLite

/// An error type of SQLite's errors. A connection throws the type that its user chooses.
public protocol SQLiteFailure: Error {
    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: SQLite's extended result code, or 0 if the connection is used wrongly.
    ///   - message: SQLite's message. It may contain names of the schema, but no values.
    ///   - sql: the statement that failed, if any.
    init(code: Int32, message: String, sql: String?)
}

/// SQLite's error as it is.
public struct SQLiteError: SQLiteFailure, Hashable {
    /// The extended result code.
    public let code: Int32
    /// The message.
    public let message: String
    /// The statement that failed, if any.
    public let sql: String?

    /// Creates an error.
    public init(code: Int32, message: String, sql: String?) { (self.code, self.message, self.sql) = (code, message, sql) }
}

/// The category of a result code (<https://www.sqlite.org/rescode.html>).
public enum SQLiteFault: Sendable {
    /// Another connection is writing (`SQLITE_BUSY`).
    case busy
    /// Another connection has written since this one began to read (`SQLITE_BUSY_SNAPSHOT`).
    case staleSnapshot
    /// Another lock (`SQLITE_LOCKED`, `SQLITE_PROTOCOL`).
    case locked
    /// There is no space for the database or for the shared memory beside it.
    case full
    /// The file cannot be written.
    case readOnly
    /// Access is not permitted.
    case permission
    /// The file cannot be opened.
    case cannotOpen
    /// The file is damaged.
    case corrupt
    /// The file is not a database.
    case notADatabase
    /// The medium failed.
    case inputOutput
    /// A progress handler interrupted the statement.
    case interrupted
    /// There is no memory left for the statement (`SQLITE_NOMEM`), or for reading the file.
    case outOfMemory
    /// A value or a statement is longer than SQLite allows (`SQLITE_TOOBIG`).
    case tooBig
    /// Any other code.
    case other

    /// The category of an extended or primary result code.
    public init(code: Int32) {
        self =
            switch code & 0xFF {
            case SQLITE_BUSY where code == vitalgate_sqlite_busy_snapshot: .staleSnapshot
            case SQLITE_BUSY: .busy
            case SQLITE_LOCKED, SQLITE_PROTOCOL: .locked
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_PERM, SQLITE_AUTH: .permission
            case SQLITE_CANTOPEN: .cannotOpen
            case SQLITE_CORRUPT: .corrupt
            case SQLITE_NOTADB: .notADatabase
            // The disk had no space for the shared memory file.
            case SQLITE_IOERR where code == vitalgate_sqlite_shared_memory_size: .full
            // The memory of the process is used up, and the medium is right. Shared memory is mapped.
            case SQLITE_IOERR where code == vitalgate_sqlite_no_memory || code == vitalgate_sqlite_shared_memory_map: .outOfMemory
            case SQLITE_IOERR: .inputOutput
            case SQLITE_NOMEM: .outOfMemory
            case SQLITE_TOOBIG: .tooBig
            case SQLITE_INTERRUPT: .interrupted
            default: .other
            }
    }
}
