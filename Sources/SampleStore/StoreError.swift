import CSQLite

/// What went wrong with a store. Texts name files, SQL and counts, never a value.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller can do something about.
    public enum Kind: Hashable, Sendable {
        /// There is no such file, and none was to be made.
        case missing
        /// The file is something else than a store of ours.
        case foreign
        /// Made by a newer Vitalgate.
        case newer
        /// Another process holds it; try again.
        case busy
        /// No space left.
        case full
        /// The file or its folder cannot be written.
        case readOnly
        case permission
        /// The file is damaged.
        case corrupt
        /// The medium failed.
        case inputOutput
        /// The time that was given to the question is used up (``SampleStore/limit(to:)``).
        case tooLong
        /// The request cannot be met: an unknown UUID, a wrong state.
        case invalid
        /// SQLite refused what we asked: a defect of ours.
        case defect
    }

    /// What kind of error.
    public var kind: Kind
    /// What went wrong, for a person; no values of samples.
    public var message: String
    /// SQLite's extended result code, 0 where the error is not SQLite's.
    public var code: Int32
    /// The statement that failed.
    public var sql: String?

    /// Makes an error.
    public init(_ kind: Kind, _ message: String, code: Int32 = 0, sql: String? = nil) {
        self.kind = kind
        self.message = message
        self.code = code
        self.sql = sql
    }

    /// `SQLITE_IOERR_SHMSIZE`, a macro that Swift does not import.
    private static let sharedMemorySize = SQLITE_IOERR | 19 << 8

    init(code: Int32, message: String, sql: String?) {
        self.code = code
        self.sql = sql
        self.message = message
        kind =
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_PERM, SQLITE_AUTH: .permission
            case SQLITE_CANTOPEN: .inputOutput
            case SQLITE_CORRUPT: .corrupt
            case SQLITE_NOTADB: .foreign
            // The shared memory did not fit on the disk.
            case SQLITE_IOERR where code == Self.sharedMemorySize: .full
            case SQLITE_IOERR: .inputOutput
            case SQLITE_INTERRUPT: .tooLong
            default: .defect
            }
    }

    /// A series of a type, or of a kind, that only a newer version has: no damage.
    static func unknownType(_ id: String) -> StoreError {
        StoreError(.newer, "the store has samples of the type \(id), which this Vitalgate does not know; update this program")
    }

    /// Whether it is another connection that is in the middle of a change, and no reading of our own that stands in the way.
    public var isLockOfAnother: Bool { code & 0xFF == SQLITE_BUSY && code != vitalgate_sqlite_busy_snapshot }

    /// Whether the same may succeed later, with nothing done to the store itself.
    public var mayPass: Bool {
        switch kind {
        case .busy, .full, .readOnly, .permission, .inputOutput: true
        case .missing, .foreign, .newer, .corrupt, .tooLong, .invalid, .defect: false
        }
    }

    public var description: String {
        switch kind {
        case .busy where code != 0: "the store is in use by another process (\(message)); try again"
        case .full: "no space left for the store; nothing of this batch was kept, and nothing acknowledged is lost"
        case .readOnly: "the store cannot be written (\(message))"
        case .corrupt: "the store is damaged (\(message)); 'vitalgate store check' tells more"
        case .inputOutput where code != 0: "reading or writing the store failed (\(message), code \(code))"
        case .tooLong: "the question took longer than it may"
        case .defect: "the store refused a statement (\(message), code \(code))" + (sql.map { ": \($0)" } ?? "")
        default: message
        }
    }
}
