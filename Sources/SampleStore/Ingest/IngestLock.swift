import Glibc
import HealthModel

/// Shows other processes that an ingest runs: a lock of one octet, the ingest's number, in an empty file beside the store.
///
/// The kernel drops the lock with the process, however that ends, and shows it to every process that has the file, in whatever container.
/// A process number means nothing in another PID namespace. It is an open file description lock (fcntl(2), F_OFD_SETLK), which closing another
/// descriptor of the file does not drop.
final class IngestLock {
    /// Glibc's headers keep these for those who ask for all of Linux: F_OFD_GETLK, F_OFD_SETLK.
    private static let getLock: Int32 = 36
    private static let setLock: Int32 = 37

    /// The lock of changes in several transactions: no ingest has this number.
    static let pending: Int64 = 0

    static let pendingIsBusy = StoreError(.busy, "another process deletes or undoes many samples: wait until it is done")

    private let descriptor: Int32

    /// - Throws: ``StoreError`` where the file cannot be made, or another process has the lock.
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
                    ? Self.pendingIsBusy : StoreError(.busy, "ingest \(ingest) runs in another process")
            default: throw StoreError(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
            }
        }
    }

    deinit { close(descriptor) }

    /// Whether any process has the lock of an ingest.
    static func isHeld(_ ingest: Int64, of store: String) -> Bool {
        let descriptor = open(path(of: store), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // Who cannot look does not call it interrupted.
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        var lock = lock(ingest)
        guard fcntl(descriptor, getLock, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// The file of a store's locks.
    static func path(of store: String) -> String { store + "-running" }

    private static func lock(_ ingest: Int64) -> flock {
        flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(ingest), l_len: 1, l_pid: 0)
    }

    /// Whoever may write to the store may lock, as SQLite does it with its own files: root's import must not keep the hub out.
    static func share(_ descriptor: Int32, withUsersOf store: String) {
        var (own, status) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(store, &status) == 0 else { return }
        if geteuid() == 0, own.st_uid != status.st_uid || own.st_gid != status.st_gid {
            _ = fchown(descriptor, status.st_uid, status.st_gid)
        }
        if own.st_mode & 0o777 != status.st_mode & 0o666 { _ = fchmod(descriptor, status.st_mode & 0o666) }
    }
}

extension SampleStore {
    /// Closes the accounts of ingests that ended without doing so: what they stored is stored, and they are called interrupted.
    public func closeAbandoned() throws {
        try connection.transaction {
            for ingest in try locked() where !IngestLock.isHeld(ingest, of: path) {
                try connection.run("UPDATE ingest SET state = 'interrupted' WHERE id = ?", .integer(ingest))
            }
        }
        try resumePending()
    }

    /// The ingests that run, or did when their process ended. One within a single transaction has no owner, and nobody else sees it running.
    private func locked() throws(StoreError) -> [Int64] {
        let statement = try connection.statement("SELECT id FROM ingest WHERE state = 'running' AND owner IS NOT NULL")
        defer { statement.reset() }
        var ingests: [Int64] = []
        while try statement.step() { ingests.append(statement.integer(0)) }
        return ingests
    }

    /// - Throws: ``StoreError`` of the kind `busy` while an ingest runs: what it stores afterwards would stay.
    func refuseIfRunning(_ account: IngestAccount) throws(StoreError) {
        guard account.state == "running" else { return }
        throw StoreError(
            .busy,
            account.kind == .live
                ? "the hub runs and adds to ingest \(account.id): stop the hub first, or delete samples with 'vitalgate delete'"
                : "ingest \(account.id) still runs: wait until it is done, or stop it first")
    }
}
