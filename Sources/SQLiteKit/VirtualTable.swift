import CSQLite

/// Rows in memory that SQL sees as a table, so that one statement can insert all of them.
///
/// Binding a dozen values to a statement costs more than the insertion itself. From a virtual table SQLite requests only the columns it
/// needs, which inserts almost twice as many rows per second (Decisions/0003). Subclasses provide the rows.
open class VirtualTable {
    private let name: String
    private let declaration: String

    /// Creates a table with this name and these columns, separated by commas.
    public init(name: String, columns: String) {
        self.name = name
        declaration = "CREATE TABLE \(name)(\(columns))"
    }

    open var count: Int { 0 }

    /// Passes a column of a row to SQLite. A column that is not passed is NULL.
    ///
    /// - Parameters:
    ///   - position: the row, from 0.
    ///   - column: the column, from 0.
    open func give(_ position: Int, _ column: Int32, to result: SQLiteResult) {}

    /// Registers the table with a connection. The table must live as long as the connection.
    public func register<Failure>(with connection: SQLiteConnection<Failure>) throws(Failure) {
        let code = sqlite3_create_module_v2(
            connection.handle, name, Self.module, Unmanaged.passUnretained(self).toOpaque(), nil)
        guard code == SQLITE_OK else { throw connection.error("create module \(name)") }
    }

    private struct Table {
        var base: sqlite3_vtab
        var rows: Unmanaged<VirtualTable>
    }

    private struct Cursor {
        var base: sqlite3_vtab_cursor
        var rows: Unmanaged<VirtualTable>
        var position: Int
    }

    /// Written once, then only read by SQLite.
    private nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { database, rows, _, _, result, _ in
            guard let rows, let result else { return SQLITE_ERROR }
            let virtual = Unmanaged<VirtualTable>.fromOpaque(rows)
            let code = sqlite3_declare_vtab(database, virtual._withUnsafeGuaranteedRef { $0.declaration })
            guard code == SQLITE_OK else { return code }
            let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            table.initialize(to: Table(base: sqlite3_vtab(), rows: virtual))
            result.pointee = UnsafeMutableRawPointer(table).assumingMemoryBound(to: sqlite3_vtab.self)
            return SQLITE_OK
        }
        module.pointee.xDisconnect = { table in
            UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self).deallocate()
            return SQLITE_OK
        }
        module.pointee.xBestIndex = { _, info in
            info?.pointee.estimatedCost = 1
            return SQLITE_OK
        }
        module.pointee.xOpen = { table, result in
            guard let table = UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self), let result else {
                return SQLITE_ERROR
            }
            let cursor = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
            cursor.initialize(to: Cursor(base: sqlite3_vtab_cursor(), rows: table.pointee.rows, position: 0))
            result.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.pointee.xClose = { cursor in
            UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self).deallocate()
            return SQLITE_OK
        }
        module.pointee.xFilter = { cursor, _, _, _, _ in
            guard let cursor = VirtualTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.position = 0
            return SQLITE_OK
        }
        module.pointee.xNext = { cursor in
            guard let cursor = VirtualTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.position += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in
            guard let cursor = VirtualTable.cursor(cursor) else { return 1 }
            return cursor.pointee.position < cursor.pointee.rows._withUnsafeGuaranteedRef { $0.count } ? 0 : 1
        }
        module.pointee.xRowid = { cursor, result in
            result?.pointee = Int64(VirtualTable.cursor(cursor)?.pointee.position ?? 0)
            return SQLITE_OK
        }
        module.pointee.xColumn = { cursor, context, column in
            guard let cursor = VirtualTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.rows._withUnsafeGuaranteedRef { $0.give(cursor.pointee.position, column, to: SQLiteResult(context)) }
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    @inline(__always)
    private static func cursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor>? {
        UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self)
    }
}

/// The place for one value that is passed to SQLite.
public struct SQLiteResult {
    @usableFromInline let context: OpaquePointer?

    @usableFromInline init(_ context: OpaquePointer?) { self.context = context }

    /// Passes an integer.
    @inlinable public func give(_ number: Int64) { sqlite3_result_int64(context, number) }

    /// Passes a number.
    @inlinable public func give(_ number: Double) { sqlite3_result_double(context, number) }

    /// Passes text.
    @inlinable public func give(_ text: String) {
        var text = text
        text.withUTF8 { give(text: UnsafeRawBufferPointer($0)) }
    }

    /// Passes text in UTF-8, which SQLite copies.
    @inlinable public func give(text: UnsafeRawBufferPointer) {
        sqlite3_result_text(
            context, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), vitalgate_sqlite_transient)
    }

    /// Passes text in UTF-8, which SQLite does not copy. The bytes must stay valid while the statement runs.
    @inlinable public func give(lastingText text: UnsafeRawBufferPointer) {
        sqlite3_result_text(
            context, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(text.count), vitalgate_sqlite_static)
    }

    /// Passes bytes, which SQLite copies.
    @inlinable public func give(bytes: UnsafeRawBufferPointer) {
        sqlite3_result_blob(context, bytes.baseAddress, Int32(bytes.count), vitalgate_sqlite_transient)
    }
}
