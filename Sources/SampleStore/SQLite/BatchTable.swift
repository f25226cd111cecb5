import CSQLite

/// One row of `sample`, as it is going to be written.
struct SampleRow {
    var series: Int64
    var start: Int64
    var nominal: Int64
    var low: UInt64
    var high: UInt16
    var value: Double
    var context: Int64
    /// 0 for none.
    var duration: Int64
    /// After `start`; `Int64.min` for none of its own.
    var received: Int64
    /// 0 for none.
    var group: Int64
    /// 0 for none.
    var metadata: Int64
    var seq: Int64 = 0
    /// Where the numeral's text lies in the batch's text, where the value does not tell it.
    var numeral: Range<Int32>
    /// The position in the batch as it was given.
    var index: Int32
}

/// A batch of rows that SQL sees as the table `batch`, so that one statement inserts them all.
///
/// Binding eleven values to a statement costs more than the insertion itself; as a virtual table SQLite asks for what it needs, at
/// almost twice the rows a second (Decisions/0003).
final class BatchTable {
    /// What the table holds; set by ``with(rows:text:_:)`` while a statement runs.
    private var rows = UnsafeBufferPointer<SampleRow>(start: nil, count: 0)
    private var text = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// What each row is a witness of, where they are witnesses.
    private var firsts: [RowPlace] = []

    static let declaration =
        "CREATE TABLE batch(series, start, hash, value, numeral, context, duration, received, grp, metadata, seq, nominal, of_series, of_start, of_hash)"

    /// Lets `body` run statements over these rows, and nothing afterwards.
    ///
    /// - Parameter firsts: what each row is a witness of, where they are witnesses.
    func with<Result>(
        rows: [SampleRow], text: [UInt8], firsts: [RowPlace] = [], _ body: () throws -> Result
    ) rethrows -> Result {
        self.firsts = firsts
        defer { self.firsts = [] }
        return try rows.withUnsafeBufferPointer { rows in
            try text.withUnsafeBufferPointer { text in
                self.rows = rows
                self.text = text
                defer {
                    self.rows = UnsafeBufferPointer(start: nil, count: 0)
                    self.text = UnsafeBufferPointer(start: nil, count: 0)
                }
                return try body()
            }
        }
    }

    /// Makes the table known to a connection. It must live as long as the connection does.
    func register(with connection: Connection) throws(StoreError) {
        let code = sqlite3_create_module_v2(
            connection.handle, "batch", Self.module, Unmanaged.passUnretained(self).toOpaque(), nil)
        guard code == SQLITE_OK else { throw connection.error(code, "create module batch") }
    }

    private struct Table {
        var base: sqlite3_vtab
        var batch: Unmanaged<BatchTable>
    }

    private struct Cursor {
        var base: sqlite3_vtab_cursor
        var batch: Unmanaged<BatchTable>
        var position: Int
    }

    /// Read by SQLite, written once.
    private nonisolated(unsafe) static let module: UnsafePointer<sqlite3_module> = {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xConnect = { database, batch, _, _, result, _ in
            let code = sqlite3_declare_vtab(database, BatchTable.declaration)
            guard code == SQLITE_OK, let batch, let result else { return code }
            let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            table.initialize(to: Table(base: sqlite3_vtab(), batch: Unmanaged.fromOpaque(batch)))
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
            cursor.initialize(
                to: Cursor(base: sqlite3_vtab_cursor(), batch: table.pointee.batch, position: 0))
            result.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.pointee.xClose = { cursor in
            UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self).deallocate()
            return SQLITE_OK
        }
        module.pointee.xFilter = { cursor, _, _, _, _ in
            guard let cursor = BatchTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.position = 0
            return SQLITE_OK
        }
        module.pointee.xNext = { cursor in
            guard let cursor = BatchTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.position += 1
            return SQLITE_OK
        }
        module.pointee.xEof = { cursor in
            guard let cursor = BatchTable.cursor(cursor) else { return 1 }
            return cursor.pointee.position < cursor.pointee.batch._withUnsafeGuaranteedRef { $0.rows.count } ? 0 : 1
        }
        module.pointee.xRowid = { cursor, result in
            result?.pointee = Int64(BatchTable.cursor(cursor)?.pointee.position ?? 0)
            return SQLITE_OK
        }
        module.pointee.xColumn = { cursor, context, column in
            guard let cursor = BatchTable.cursor(cursor) else { return SQLITE_ERROR }
            cursor.pointee.batch._withUnsafeGuaranteedRef { batch in
                batch.give(cursor.pointee.position, column, to: context)
            }
            return SQLITE_OK
        }
        return UnsafePointer(module)
    }()

    @inline(__always)
    private static func cursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<Cursor>? {
        UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: Cursor.self)
    }

    @inline(__always)
    private func give(_ position: Int, _ column: Int32, to context: OpaquePointer?) {
        guard position < rows.count else { return }
        switch column {
        case 0: sqlite3_result_int64(context, rows[position].series)
        case 1: sqlite3_result_int64(context, rows[position].start)
        case 2:
            let bytes = HashBytes(high: rows[position].high, low: rows[position].low)
            withUnsafeBytes(of: bytes) {
                sqlite3_result_blob(context, $0.baseAddress, Int32(HashBytes.count), vitalgate_sqlite_transient)
            }
        case 3: sqlite3_result_double(context, rows[position].value)
        case 4:
            let range = rows[position].numeral
            if let text = text.baseAddress, !range.isEmpty {
                sqlite3_result_text(
                    context, UnsafeRawPointer(text + Int(range.lowerBound)).assumingMemoryBound(to: CChar.self),
                    Int32(range.count), vitalgate_sqlite_static)
            }
        case 5: sqlite3_result_int64(context, rows[position].context)
        case 6: if rows[position].duration != 0 { sqlite3_result_int64(context, rows[position].duration) }
        case 7: if rows[position].received != .min { sqlite3_result_int64(context, rows[position].received) }
        case 8: if rows[position].group != 0 { sqlite3_result_int64(context, rows[position].group) }
        case 9: if rows[position].metadata != 0 { sqlite3_result_int64(context, rows[position].metadata) }
        case 10: sqlite3_result_int64(context, rows[position].seq)
        case 11: sqlite3_result_int64(context, rows[position].nominal)
        case 12: if position < firsts.count { sqlite3_result_int64(context, firsts[position].series) }
        case 13: if position < firsts.count { sqlite3_result_int64(context, firsts[position].start) }
        default:
            guard position < firsts.count else { return }
            let bytes = HashBytes(high: firsts[position].high, low: firsts[position].low)
            withUnsafeBytes(of: bytes) {
                sqlite3_result_blob(context, $0.baseAddress, Int32(HashBytes.count), vitalgate_sqlite_transient)
            }
        }
    }
}

/// A hash as it is stored: ten bytes, most significant first.
struct HashBytes {
    static let count = 10
    private var high: UInt16
    // Words of two bytes, so that no padding lies between.
    private var middle: (UInt16, UInt16, UInt16, UInt16)

    init(high: UInt16, low: UInt64) {
        self.high = high.bigEndian
        middle = (
            UInt16(truncatingIfNeeded: low >> 48).bigEndian, UInt16(truncatingIfNeeded: low >> 32).bigEndian,
            UInt16(truncatingIfNeeded: low >> 16).bigEndian, UInt16(truncatingIfNeeded: low).bigEndian
        )
    }

    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }

    /// Reads what ``bytes`` wrote; zeros where the blob is of another length.
    static func read(_ blob: UnsafeRawBufferPointer) -> (high: UInt16, low: UInt64) {
        guard blob.count == count else { return (0, 0) }
        return (
            UInt16(bigEndian: blob.loadUnaligned(as: UInt16.self)),
            UInt64(bigEndian: blob.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
        )
    }
}
