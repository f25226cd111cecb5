import CSQLite

final class ProgressHandler {
    let body: () -> Bool
    init(_ body: @escaping () -> Bool) { self.body = body }
}

final class CommitHandler {
    let body: (WrittenLog) -> Void
    init(_ body: @escaping (WrittenLog) -> Void) { self.body = body }
}

private final class TextFilter {
    let isIncluded: (String) throws -> Bool
    init(_ isIncluded: @escaping (String) throws -> Bool) { self.isIncluded = isIncluded }
}

/// The write-ahead log after a commit.
public struct WrittenLog {
    private let handle: OpaquePointer
    private let name: UnsafePointer<CChar>?
    /// The number of pages in the log.
    public let pages: Int

    init(_ handle: OpaquePointer, _ name: UnsafePointer<CChar>?, pages: Int) {
        (self.handle, self.name, self.pages) = (handle, name, pages)
    }

    /// The log's path, valid until the connection is closed.
    public var path: UnsafePointer<CChar> { sqlite3_filename_wal(sqlite3_db_filename(handle, name)) }

    /// Checkpoints as much of the log as possible without waiting. If this fails, nothing changes.
    public func checkpoint() { sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
}

extension SQLiteConnection {
    /// Calls `body` each time after this number of steps of SQLite's virtual machine. It interrupts the statement by returning true.
    /// `nil` ends the calls.
    public final func onProgress(every steps: Int32, _ body: (() -> Bool)?) {
        progressHandler = body.map { ProgressHandler($0) }
        guard let progressHandler else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        sqlite3_progress_handler(
            handle, steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<ProgressHandler>.fromOpaque(context).takeUnretainedValue().body() ? 1 : 0
            }, Unmanaged.passUnretained(progressHandler).toOpaque())
    }

    /// Calls `body` after each commit to a write-ahead log, when the commit is visible to others.
    ///
    /// It replaces SQLite's own hook, so `body` has to checkpoint the log.
    public final func onCommit(_ body: @escaping (WrittenLog) -> Void) {
        let handler = CommitHandler(body)
        sqlite3_wal_hook(
            handle,
            { context, handle, name, pages in
                guard let context, let handle else { return SQLITE_OK }
                Unmanaged<CommitHandler>.fromOpaque(context).takeUnretainedValue().body(
                    WrittenLog(handle, name, pages: Int(pages)))
                return SQLITE_OK
            }, Unmanaged.passUnretained(handler).toOpaque())
        commitHandler = handler
    }

    /// Defines an SQL function that returns a text unchanged if `isIncluded` returns true for it, and NULL if not. An error of `isIncluded` fails
    /// the statement.
    ///
    /// - Parameter isIncluded: must not retain the connection, which retains it.
    public final func defineFilter(_ name: String, _ isIncluded: @escaping (String) throws -> Bool) throws(Failure) {
        let code = sqlite3_create_function_v2(
            handle, name, 1, SQLITE_UTF8, Unmanaged.passRetained(TextFilter(isIncluded)).toOpaque(),
            { context, _, arguments in
                guard let filter = sqlite3_user_data(context), let argument = arguments?.pointee,
                    let text = sqlite3_value_text(argument)
                else { return sqlite3_result_null(context) }
                do {
                    guard try Unmanaged<TextFilter>.fromOpaque(filter).takeUnretainedValue().isIncluded(String(cString: text))
                    else {
                        return sqlite3_result_null(context)
                    }
                    sqlite3_result_value(context, argument)
                } catch {
                    sqlite3_result_error_code(context, SQLITE_ERROR)
                }
            }, nil, nil,
            { filter in
                if let filter { Unmanaged<TextFilter>.fromOpaque(filter).release() }
            })
        guard code == SQLITE_OK else { throw error(nil) }
    }
}
