import CSQLite
import Glibc

/// Wakes a reader when somebody has committed, in this process or another; without polling.
///
///     let bell = try StoreBell(store: store.path)   // before the first look, so that no commit falls between the two
///     while true {
///         try store.changes(after: anchor, types: nil) { anchor = $1 }
///         try bell.wait()
///     }
///
/// SQLite writes its log first and makes the commit visible afterwards: whoever looks when the log is written sees nothing new. So each
/// writer rings behind its commit, by opening the log and closing it again. inotify(7) tells of that, and nothing is written to the card.
/// A writer that is killed between the two rings as well: the system closes its log.
public final class StoreBell {
    /// For poll(2): readable once there may be something new; then ``wait()`` returns at once.
    public let descriptor: Int32
    /// What is watched, and for which events. Where there is no log yet, the database itself tells that a writer has come.
    private let watched: [(path: String, events: Int32)]

    /// - Parameter store: the store's path; it is there already.
    /// - Throws: ``StoreError`` of the kind `inputOutput` where the system gives no more watches.
    public init(store: String) throws(StoreError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        watched = [
            (store + "-wal", IN_CLOSE_WRITE | IN_DELETE_SELF),
            (store, IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB),
        ]
        guard descriptor >= 0 else { throw Self.failure() }
        try watch()
    }

    // Also where the initialiser threw.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Again after each ring: a log that was removed and made anew is another file.
    private func watch() throws(StoreError) {
        for (path, events) in watched where inotify_add_watch(descriptor, path, UInt32(events)) < 0 && errno != ENOENT {
            throw Self.failure()
        }
    }

    /// Returns once there may be something new, or a signal came. What was committed since the last look is told at once.
    ///
    /// - Throws: ``StoreError`` of the kind `inputOutput`.
    public func wait() throws(StoreError) {
        var events = [UInt8](repeating: 0, count: 4096)
        guard read(descriptor, &events, events.count) > 0 || errno == EINTR else { throw Self.failure() }
        try watch()
    }

    private static func failure() -> StoreError {
        StoreError(.inputOutput, "waiting for changes: \(String(cString: strerror(errno)))")
    }
}

extension Connection {
    /// Has each commit ring the bell, and puts the log into the database once it has so many pages.
    ///
    /// The hook runs behind the commit, when others can see it; it takes the place of SQLite's own, which only does the second.
    func ringBehindCommits(checkpointingFrom pages: Int) {
        sqlite3_wal_hook(
            handle,
            { context, handle, name, written in
                guard let handle else { return SQLITE_OK }
                // No lock of SQLite's is on the log: to close it here drops none.
                let ringer = open(sqlite3_filename_wal(sqlite3_db_filename(handle, name)), O_WRONLY | O_CLOEXEC)
                if ringer >= 0 { close(ringer) }
                // A failed checkpoint is made up for by the next, as with SQLite's own hook.
                if written >= Int(bitPattern: context) {
                    sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            }, UnsafeMutableRawPointer(bitPattern: pages))
    }
}
