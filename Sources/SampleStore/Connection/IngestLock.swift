import Glibc

/// Shows other processes that a ledger entry is running. It locks one byte, at the offset of the entry's number, in an
/// empty file next to the store.
///
/// The kernel releases the lock when the process ends for any reason, and shows it to every process with access to the
/// file, in any container. A process number would mean nothing in another PID namespace. The lock is an open file
/// description lock (fcntl(2), F_OFD_SETLK), which is kept when another descriptor of the file is closed.
final class IngestLock {
    /// F_OFD_GETLK and F_OFD_SETLK, which Glibc's headers define only with `_GNU_SOURCE`.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    /// The lock for changes in several transactions. No ledger entry has this number.
    static let pending: Int64 = 0

    static let pendingIsBusy = StoreError(.busy, "another process is deleting or undoing many samples: wait until it is done")

    private let descriptor: Int32

    /// Acquires the lock.
    ///
    /// - Throws: ``StoreError`` if the file cannot be created or another process has the lock.
    init(_ ingest: Int64, of store: String) throws(StoreError) {
        let path = Self.path(of: store)
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(errno == EACCES ? .permission : .inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        Self.share(descriptor, withUsersOf: store)
        var lock = Self.lock(ingest)
        while fcntl(descriptor, Self.setLock, &lock) != 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN, EACCES:
                throw ingest == Self.pending
                    ? Self.pendingIsBusy : StoreError(.busy, "ledger entry \(ingest) is being written by another process")
            default: throw StoreError(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    deinit { close(descriptor) }

    /// Whether any process has the lock of a ledger entry.
    static func isLocked(_ ingest: Int64, of store: String) -> Bool {
        let descriptor = open(path(of: store), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // If the file cannot be opened, do not report the entry as interrupted.
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var lock = lock(ingest)
        guard fcntl(descriptor, getLock, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// The path of the lock file of a store.
    static func path(of store: String) -> String { store + "-running" }

    private static func lock(_ ingest: Int64) -> flock {
        flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(ingest), l_len: 1, l_pid: 0)
    }

    /// Gives everyone with write access to the store access to the lock file, as SQLite does with its files. An import
    /// by root must not block the hub.
    static func share(_ descriptor: Int32, withUsersOf store: String) {
        var (own, status) = (stat(), stat())
        // As root, a hard link would give away another file.
        guard fstat(descriptor, &own) == 0, own.st_nlink == 1, stat(store, &status) == 0 else { return }
        if geteuid() == 0, own.st_uid != status.st_uid || own.st_gid != status.st_gid {
            _ = fchown(descriptor, status.st_uid, status.st_gid)
        }
        if own.st_mode & 0o777 != status.st_mode & 0o666 { _ = fchmod(descriptor, status.st_mode & 0o666) }
    }
}
