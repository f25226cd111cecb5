import CSQLite
import Glibc
import HealthModel

/// What the store holds, and how large it is.
public struct StoreSummary: Sendable {
    /// The store's file.
    public var path: String
    /// The database and its write-ahead log, bytes.
    public var bytes: Int
    /// Samples that are there.
    public var samples: Int
    /// Tombstones of samples that were deleted.
    public var deleted: Int
    /// Readings that are held.
    public var quarantined: Int
    /// Entries of the ledger.
    public var ingests: Int
    /// The change log's last number.
    public var lastChange: Int64
    /// The store's own person.
    public var subject: String
    /// The version of the tables.
    public var schema: Int
    /// Each series and how much it holds.
    public var series: [Series]

    /// What one series holds.
    public struct Series: Sendable {
        public var description: SeriesDescription
        /// Samples of the series.
        public var count: Int
        /// The first start.
        public var first: Instant
        /// The last start.
        public var last: Instant
    }
}

extension SampleStore {
    /// Bytes of the database and its write-ahead log, as the file system has them.
    public var bytes: Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    /// Counts what the store holds.
    public func summary() throws(StoreError) -> StoreSummary {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var counted: [StoreSummary.Series] = []
        let statement = try connection.statement("SELECT count(*), min(start), max(start) FROM sample WHERE series = ?")
        for series in try series(matching: SampleQuery()) {
            statement.reset()
            try statement.bind([.integer(series.id)])
            guard try statement.step(), statement.integer(0) > 0 else { continue }
            counted.append(
                StoreSummary.Series(
                    description: series, count: Int(statement.integer(0)), first: Instant(microseconds: statement.integer(1)),
                    last: Instant(microseconds: statement.integer(2))))
        }
        statement.reset()
        let pages = try connection.integer("PRAGMA page_count") ?? 0
        let size = try connection.integer("PRAGMA page_size") ?? 0
        var log = stat()
        let logBytes = stat(path + "-wal", &log) == 0 ? Int(log.st_size) : 0
        return StoreSummary(
            path: path, bytes: Int(pages * size) + logBytes, samples: counted.reduce(0) { $0 + $1.count },
            deleted: Int(try connection.integer("SELECT count(*) FROM deleted") ?? 0),
            quarantined: Int(try connection.integer("SELECT count(*) FROM quarantine WHERE state = 'held'") ?? 0),
            ingests: Int(try connection.integer("SELECT count(*) FROM ingest") ?? 0), lastChange: try lastChange(),
            subject: subject,
            schema: Int(try connection.integer("PRAGMA user_version") ?? 0), series: counted)
    }

    /// Copies the store as it is at this moment into a new file (mode 0600), while writing goes on, and synchronises it. The copy knows no anchor
    /// of this store: who puts it back has lost changes that readers have seen.
    ///
    /// - Throws: ``StoreError`` where the file exists; nothing is left behind where the copy fails.
    public func backup(to target: String) throws(StoreError) {
        guard access(target, F_OK) != 0 else { throw StoreError(.invalid, "\(target) exists; a backup never overwrites a file") }
        let partial = "\(target).part-\(getpid())"
        let descriptor = open(partial, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                errno == EACCES ? .permission : errno == ENOSPC ? .full : .missing,
                "\(target): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        do throws(StoreError) {
            // A store opened for reading only may be copied as well.
            let onlyReads = try connection.integer("PRAGMA query_only") ?? 0
            try connection.execute("PRAGMA query_only = OFF")
            defer { _ = try? connection.execute("PRAGMA query_only = \(onlyReads)") }
            try connection.run("VACUUM INTO ?", .text(partial))
            try Self.beginEpoch(of: partial)
            guard fsync(descriptor) == 0 else { throw StoreError(.inputOutput, "\(target): \(String(cString: strerror(errno)))") }
            try Self.putInPlace(partial, at: target)
        } catch {
            unlink(partial)
            throw error
        }
        let folder = target.lastIndex(of: "/").map { String(target[..<$0]) } ?? "."
        let directory = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// In a copy that nobody else knows of; where this fails, so does the backup, and nothing is left of it.
    private static func beginEpoch(of copy: String) throws(StoreError) {
        let connection = try Connection(path: copy, writable: true)
        // No journal beside it.
        try connection.execute("PRAGMA journal_mode = MEMORY")
        try Epochs.renew(connection)
    }

    /// Gives a finished copy its name. Unlike a rename, a link never replaces what came to be there meanwhile; a FAT stick has no links.
    private static func putInPlace(_ partial: String, at target: String) throws(StoreError) {
        if link(partial, target) == 0 {
            unlink(partial)
            return
        }
        let hasLinks = errno != EPERM && errno != EOPNOTSUPP
        guard !hasLinks, access(target, F_OK) != 0, rename(partial, target) == 0 else {
            throw StoreError(.inputOutput, "\(target): \(String(cString: strerror(errno)))")
        }
    }
}
