import Glibc

/// Disk space set aside for a full disk. It is a file beside the store, which is removed when SQLite has no room for its own files.
///
/// SQLite needs a write-ahead log for each change, even for one that frees pages. It needs shared memory even to read.
enum Reserve {
    /// The size in bytes, enough for the shared memory and for what one step of a deletion or pruning writes.
    static let size: off_t = 1 << 20
    /// The free space, as a multiple of `size`, below which no reserve is made.
    private static let leastRoom: off_t = 16

    static func path(of store: String) -> String { store + "-reserve" }

    /// Makes the file if it is missing and there is room for it.
    static func make(for store: String) {
        let path = path(of: store)
        guard access(path, F_OK) != 0 else { return }
        var disk = Glibc.statvfs()
        guard statvfs(store, &disk) == 0, off_t(disk.f_bavail) * off_t(disk.f_frsize) >= leastRoom * size else { return }
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        IngestLock.share(descriptor, withUsersOf: store)
        if posix_fallocate(descriptor, 0, size) != 0 { unlink(path) }
    }

    /// Removes the file.
    ///
    /// - Returns: Whether the file existed.
    static func release(for store: String) -> Bool { unlink(path(of: store)) == 0 }
}

extension SampleStore {
    /// Runs a change that frees space. If the disk is full, runs it again with the reserve.
    func withReserve<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as StoreError where error.kind == .full {
            // An earlier command may have used the reserve. A checkpoint may then free enough space.
            _ = Reserve.release(for: path)
            defer {
                connection.ringBehindCommits(checkpointingFrom: checkpointPages)
                Reserve.make(for: path)
            }
            // The log is restarted after each step, so that it fits into the reserve.
            connection.ringBehindCommits(checkpointingFrom: 1)
            return try body()
        }
    }
}
