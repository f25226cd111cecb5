import SQLiteKit

/// One connection to the store's file. Used by one thread at a time.
final class Connection: SQLiteConnection<StoreError> {
    /// The name in ``Schema/lost`` of the client or person whose view this connection is limited to, or `nil` if it sees everything.
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

    /// The default time that a change waits for another process that is writing.
    static let busyTimeout = Duration.seconds(15)

    /// Opens the file for reading and writing or for reading only. It never creates the file, because the store sets the permissions.
    ///
    /// - Parameter immutable: Whether the file cannot change, so that SQLite needs no files beside it.
    init(path: String, writable: Bool, immutable: Bool = false) throws(StoreError) {
        try super.init(immutable ? .immutableFile(path) : .file(path), writable: writable, busyTimeout: Self.busyTimeout)
    }

    /// The names of the store's tables and views.
    func tableNames() throws(StoreError) -> [String] {
        try list("SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'") {
            $0.text(0)
        }
    }

    /// Runs `body` in a transaction. Within another transaction, `body` runs in a savepoint.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try refuseWithinReading()
        return try transaction(onBegin: { try onChange?() }, body)
    }
}

typealias Statement = SQLiteStatement<StoreError>
typealias Value = SQLiteValue
