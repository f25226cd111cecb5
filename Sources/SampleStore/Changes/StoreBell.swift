import Glibc

/// Wakes a reader after a commit in this process or another one, without polling.
///
///     let bell = try StoreBell(store: store.path)   // before the first look, so that no commit falls between the two
///     while true {
///         try store.changes.read(after: anchor, types: nil) { anchor = $1 }
///         try bell.wait()
///     }
///
/// SQLite writes its log before it makes a commit visible, so a reader that wakes on the write sees nothing new.
/// Instead, each writer notifies readers after its commit by opening and closing the log. inotify(7) reports the close,
/// and nothing is written to the disk. If a writer is killed between the commit and the notification, the system closes
/// its log and so also notifies readers.
public final class StoreBell {
    /// The descriptor for poll(2). It is readable when there may be a new commit, and ``wait()`` then returns
    /// immediately.
    public let descriptor: Int32
    /// The watched paths and their events. Before the log exists, events of the database show that a writer has
    /// started.
    private let watched: [(path: String, events: Int32)]

    /// Watches a store.
    ///
    /// - Parameter store: The path of the existing store.
    /// - Throws: ``StoreError`` of the kind `inputOutput` if the system allows no more watches.
    public init(store: String) throws(StoreError) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC))
        watched = [
            (store + "-wal", IN_CLOSE_WRITE | IN_DELETE_SELF),
            (store, IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB),
        ]
        guard descriptor >= 0 else { throw Self.failure() }
        try watch()
    }

    // The descriptor may be invalid if the initializer threw an error.
    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches the files again after each event, because a log that was deleted and recreated is a new file.
    private func watch() throws(StoreError) {
        for (path, events) in watched where inotify_add_watch(descriptor, path, UInt32(events)) < 0 && errno != ENOENT {
            throw Self.failure()
        }
    }

    /// Waits until there may be a new commit or a signal arrived. Returns immediately if there was a commit after the
    /// previous call.
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
    /// Notifies readers after each commit, and checkpoints the log when it reaches this number of pages.
    ///
    /// The hook runs after the commit is visible to others. It replaces SQLite's own hook, which only checkpoints.
    func notifyAfterCommits(checkpointingFrom pages: Int) {
        onCommit { log in
            // SQLite has no locks on the log file, so closing it here drops none.
            let ringer = open(log.path, O_WRONLY | O_CLOEXEC)
            if ringer >= 0 { close(ringer) }
            // The next commit retries a failed checkpoint, as with SQLite's own hook.
            if log.pages >= pages { log.checkpoint() }
        }
    }
}
