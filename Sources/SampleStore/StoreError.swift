import SQLiteKit

/// An error of a store. Messages contain file names, SQL, and counts, but never values of samples.
public struct StoreError: SQLiteFailure, Hashable, Sendable, CustomStringConvertible {
    /// The categories of errors that a caller can handle differently.
    public enum Kind: Hashable, Sendable {
        /// The file does not exist and was not to be created.
        case missing
        /// The file is not a Vitalgate store.
        case foreign
        /// The store was made by a newer Vitalgate.
        case newer
        /// Another process has locked the store. Trying again may help.
        case busy
        /// The disk is full.
        case full
        /// The file or its folder cannot be written.
        case readOnly
        case permission
        /// The file is damaged.
        case corrupt
        /// The medium failed.
        case inputOutput
        /// The query exceeded its time limit (``SampleStore/limit(to:)``).
        case tooLong
        /// The process has no memory left for the statement. The same may succeed later, or in a process with a higher limit.
        case outOfMemory
        /// The request is not valid, for example an unknown UUID or a wrong state.
        case invalid
        /// SQLite rejected a statement. This is a bug in Vitalgate.
        case defect
    }

    /// The category of the error.
    public var kind: Kind
    /// A message for the user, without values of samples.
    public var message: String
    /// SQLite's extended result code, or 0 if the error does not come from SQLite.
    public var code: Int32
    /// The SQL statement that failed, if any.
    public var sql: String?

    /// Creates an error.
    public init(_ kind: Kind, _ message: String, code: Int32 = 0, sql: String? = nil) {
        self.kind = kind
        self.message = message
        self.code = code
        self.sql = sql
    }

    /// Creates the error for a result code of SQLite.
    ///
    /// - Parameter code: The extended result code, or 0 for a bug in Vitalgate.
    public init(code: Int32, message: String, sql: String?) {
        self.code = code
        self.sql = sql
        self.message = message
        kind =
            switch SQLiteFault(code: code) {
            case .busy, .staleSnapshot, .locked: .busy
            case .full: .full
            case .readOnly: .readOnly
            case .permission: .permission
            case .corrupt: .corrupt
            case .notADatabase: .foreign
            case .cannotOpen, .inputOutput: .inputOutput
            case .interrupted: .tooLong
            case .outOfMemory: .outOfMemory
            case .tooBig: .invalid
            case .other: .defect
            }
    }

    /// The error for a series whose type or kind only a newer version knows. The store is not damaged.
    static func unknownType(_ id: String) -> StoreError {
        StoreError(.newer, "the store has samples of the type \(id), which this Vitalgate does not know: update this program")
    }

    /// Whether another connection is writing, as opposed to a conflict with a snapshot of this connection.
    public var isLockOfAnother: Bool { SQLiteFault(code: code) == .busy }

    /// Whether the same operation may succeed later without a change to the store itself.
    public var mayPass: Bool {
        switch kind {
        case .busy, .full, .readOnly, .permission, .inputOutput, .outOfMemory: true
        case .missing, .foreign, .newer, .corrupt, .tooLong, .invalid, .defect: false
        }
    }

    public var description: String {
        switch kind {
        case .busy where code != 0: "the store is in use by another process (\(message)): try again"
        case .full: "no space left for the store: this batch was not stored, and no acknowledged reading is lost"
        case .readOnly: "the store cannot be written (\(message))"
        case .corrupt: "the store is damaged (\(message)): run 'vitalgate store check' for details"
        case .inputOutput where code != 0: "reading or writing the store failed (\(message), code \(code))"
        case .tooLong: "the query exceeded its time limit"
        case .outOfMemory:
            "there is not enough memory for the store: this batch was not stored, and no acknowledged reading is lost"
        case .invalid where code != 0: "a value is too long for the store"
        case .defect: "the store rejected a statement (\(message), code \(code))" + (sql.map { ": \($0)" } ?? "")
        default: message
        }
    }
}
