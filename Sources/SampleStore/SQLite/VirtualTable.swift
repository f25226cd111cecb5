import CSQLite
import HealthModel

/// Rows in memory that SQL sees as a table, so that one statement can insert all of them.
///
/// Binding a dozen values to a statement costs more than the insertion itself. From a virtual table SQLite requests only the columns it
/// needs, which inserts almost twice as many rows per second (Decisions/0003). Subclasses provide the rows.
class VirtualTable {
    private let name: String
    private let declaration: String

    /// Creates a table with this name and these columns.
    init(name: String, columns: String) {
        self.name = name
        declaration = "CREATE TABLE \(name)(\(columns))"
    }

    /// The current number of rows.
    var count: Int { 0 }

    /// Passes a column of a row to SQLite.
    func give(_ position: Int, _ column: Int32, to context: OpaquePointer?) {}

    /// Registers the table with a connection. The table must live as long as the connection.
    func register(with connection: Connection) throws(StoreError) {
        let code = sqlite3_create_module_v2(
            connection.handle, name, Self.module, Unmanaged.passUnretained(self).toOpaque(), nil)
        guard code == SQLITE_OK else { throw connection.error(code, "create module \(name)") }
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
            cursor.pointee.rows._withUnsafeGuaranteedRef { $0.give(cursor.pointee.position, column, to: context) }
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    @inline(__always)
    private static func cursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor>? {
        UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self)
    }

    /// Passes a hash to SQLite in the form in which it is stored.
    @inline(__always)
    static func give(hash high: UInt16, _ low: UInt64, to context: OpaquePointer?) {
        withUnsafeBytes(of: HashBytes(high: high, low: low)) {
            sqlite3_result_blob(context, $0.baseAddress, Int32(HashBytes.count), vitalgate_sqlite_transient)
        }
    }

    /// Passes a UUID to SQLite as text.
    static func give(_ identity: SampleIdentity, to context: OpaquePointer?) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleIdentity.textLength) {
            let length = identity.write(into: $0)
            sqlite3_result_text(
                context, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32(length),
                vitalgate_sqlite_transient)
        }
    }

    static func give(_ text: String, to context: OpaquePointer?) {
        var text = text
        text.withUTF8 {
            sqlite3_result_text(
                context, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32($0.count),
                vitalgate_sqlite_transient)
        }
    }
}
