import Glibc
import HealthModel

/// The contents and size of a store.
public struct StoreSummary: Sendable {
    /// The path of the store's file.
    public var path: String
    /// The size of the database and its write-ahead log, in bytes.
    public var bytes: Int
    /// The number of live samples.
    public var samples: Int
    /// The number of tombstones of deleted samples.
    public var deleted: Int
    /// The number of readings in quarantine.
    public var quarantined: Int
    /// The number of ledger entries.
    public var ingests: Int
    /// The last number of the change log.
    public var lastChange: Int64
    /// The store's default person.
    public var person: String
    /// The schema version.
    public var schema: Int
    /// The series that contain samples.
    public var series: [Series]

    /// The contents of one series.
    public struct Series: Sendable {
        public var description: SeriesDescription
        /// The number of live samples.
        public var count: Int
        /// The start of the first sample.
        public var first: Instant
        /// The start of the last sample.
        public var last: Instant
    }
}

extension SampleStore {
    /// The size of the database and its write-ahead log in the file system, in bytes.
    public var bytes: Int { Self.bytes(at: path) }

    /// The size in bytes of the database at a path and its write-ahead log.
    static func bytes(at path: String) -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            var status = stat()
            return stat(path + suffix, &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    /// Counts the contents of the store.
    public func summary() throws(StoreError) -> StoreSummary {
        let snapshot = try Snapshot(connection)
        defer { snapshot.end() }
        var counted: [StoreSummary.Series] = []
        for series in try samples.series(matching: SampleQuery()) {
            guard let (count, first, last) = try table.count(of: series.id) else { continue }
            counted.append(
                StoreSummary.Series(
                    description: series, count: count, first: Instant(microseconds: first), last: Instant(microseconds: last)))
        }
        let pages = try connection.integer("PRAGMA page_count") ?? 0
        let size = try connection.integer("PRAGMA page_size") ?? 0
        var log = stat()
        let logBytes = stat(path + "-wal", &log) == 0 ? Int(log.st_size) : 0
        return StoreSummary(
            path: path, bytes: Int(pages * size) + logBytes, samples: counted.reduce(0) { $0 + $1.count },
            deleted: Int(try table.count(.tombstones, evenForgotten: true)),
            quarantined: try connection.quarantine.quarantinedCount(), ingests: try connection.ledger.count(),
            lastChange: try lastChange(),
            person: owner,
            schema: Int(try connection.integer("PRAGMA user_version") ?? 0), series: counted)
    }

    /// Copies the current state of the store into a new file with mode 0600 and syncs the file to disk. Writers can
    /// continue during the copy. The copy starts a new history without this store's anchors. If it replaces this store,
    /// it lacks changes that readers have already seen.
    ///
    /// - Throws: ``StoreError`` if the target exists or the copy fails. A failed copy leaves no file.
    public func backup(to target: String) throws(StoreError) {
        guard access(target, F_OK) != 0 else {
            throw StoreError(.invalid, "\(target) already exists, and a backup never overwrites a file: use another name")
        }
        let partial = "\(target).part-\(getpid())"
        let descriptor = open(partial, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                errno == EACCES ? .permission : errno == ENOSPC ? .full : .missing,
                "\(target): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        do throws(StoreError) {
            // A store that is open only for reading can be copied too.
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

    /// Starts a new history in the unfinished copy. If this fails, the backup fails and its file is removed.
    private static func beginEpoch(of copy: String) throws(StoreError) {
        let connection = try Connection(path: copy, writable: true)
        // Keep the journal in memory, so that no journal file appears next to the copy.
        try connection.execute("PRAGMA journal_mode = MEMORY")
        try Epochs.renew(connection)
    }

    /// Moves a finished copy to its final name. Unlike a rename, a link never replaces a file that was created in the
    /// meantime. FAT file systems do not support links, so there the copy is renamed.
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
