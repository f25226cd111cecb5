import Glibc

/// Disk space set aside for a full disk. It is a file beside the store, which is removed when SQLite has no room for its own files.
///
/// SQLite needs a write-ahead log for each change, even for one that frees pages. It needs shared memory even to read.
enum Reserve {
    /// The size in bytes, enough for the shared memory and for what one step of a deletion or pruning writes.
    static let size: off_t = 1 << 20
    /// The part of the size that opening a store may use, for the shared memory.
    private static let opening: off_t = 1 << 18
    /// The free space, as a multiple of `size`, below which no reserve is made.
    private static let leastRoom: off_t = 16

    static func path(of store: String) -> String { store + "-reserve" }

    /// Whether the file exists with its full size.
    static func isWhole(for store: String) -> Bool {
        var status = stat()
        return lstat(path(of: store), &status) == 0 && status.st_size >= size
    }

    /// Makes the file or extends it to its full size, if there is room for it.
    static func make(for store: String) {
        let path = path(of: store)
        guard !isWhole(for: store) else { return }
        var disk = Glibc.statvfs()
        guard statvfs(store, &disk) == 0, off_t(disk.f_bavail) * off_t(disk.f_frsize) >= leastRoom * size else { return }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        IngestLock.share(descriptor, withUsersOf: store)
        if posix_fallocate(descriptor, 0, size) != 0 { unlink(path) }
    }

    /// Shrinks the file, so that a store can be opened and the rest is left for a change that frees space. If it is small already, it is
    /// removed.
    ///
    /// - Returns: Whether the file existed.
    static func releasePart(for store: String) -> Bool {
        let path = path(of: store)
        var status = stat()
        // A link is never followed: as root, another file would be shortened.
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return release(for: store) }
        defer { close(descriptor) }
        if fstat(descriptor, &status) == 0, status.st_size > size / 2, ftruncate(descriptor, status.st_size - opening) == 0 {
            return true
        }
        return release(for: store)
    }

    /// Removes the file.
    ///
    /// - Returns: Whether the file existed.
    static func release(for store: String) -> Bool { unlink(path(of: store)) == 0 }
}

extension SampleStore {
    /// Runs a change that frees space. If the disk is full, runs it again with the reserve.
    func withReserve<Result>(_ body: () throws -> Result) throws -> Result {
        // Opening the store or an earlier command may have used the reserve. If the log then grew until the disk is full, it could not be
        // checkpointed, because the database grows by that.
        var isFull = !Reserve.isWhole(for: path)
        if isFull { restartLogAfterEachStep() }
        defer {
            if isFull {
                connection.notifyAfterCommits(checkpointingFrom: checkpointPages)
                Reserve.make(for: path)
            }
        }
        do {
            return try body()
        } catch let error as StoreError where error.kind == .full {
            isFull = true
            _ = Reserve.release(for: path)
            restartLogAfterEachStep()
            return try body()
        }
    }

    /// Keeps the log as short as one step.
    private func restartLogAfterEachStep() { connection.notifyAfterCommits(checkpointingFrom: 1) }
}
