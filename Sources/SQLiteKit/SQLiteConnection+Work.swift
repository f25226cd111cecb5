import CSQLite

private final class InstructionCount { var instructions = 0 }

extension SQLiteConnection {
    /// Measures the cost of statements in instructions of SQLite's virtual machine. Each row that is read takes some. Unlike time, the
    /// count is the same on every machine.
    ///
    /// - Returns: The instructions of all statements that ended in `body`.
    public final func work(_ body: () throws -> Void) rethrows -> Int {
        // Statements are cached. Their counts of earlier runs do not belong to this one.
        var earlier = sqlite3_next_stmt(handle, nil)
        while let statement = earlier {
            _ = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
            earlier = sqlite3_next_stmt(handle, statement)
        }
        let count = InstructionCount()
        _ = sqlite3_trace_v2(
            handle, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, _ in
                guard let context, let statement else { return 0 }
                Unmanaged<InstructionCount>.fromOpaque(context).takeUnretainedValue().instructions += Int(
                    sqlite3_stmt_status(OpaquePointer(statement), SQLITE_STMTSTATUS_VM_STEP, 1))
                return 0
            }, Unmanaged.passUnretained(count).toOpaque())
        defer { _ = sqlite3_trace_v2(handle, 0, nil, nil) }
        try body()
        return count.instructions
    }
}
