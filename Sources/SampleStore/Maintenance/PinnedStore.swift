import Glibc
import HealthModel

/// A store whose file does not change, so that another program can copy it. Nothing is written for this.
///
/// The file has everything that was committed before, and the reader ``store`` shows exactly this state. Writers continue and append
/// to the write-ahead log, which is not copied into the file. The log grows by everything that is written until
/// this object ends.
///
/// SQLite's readers that need nothing of the log hold its read lock 0, and a checkpoint writes to the file only with that lock
/// (<https://www.sqlite.org/walformat.html>, "WAL-Index Locks").
public final class PinnedStore {
    /// A reader of the state that the file has.
    public let store: SampleStore
    /// The size of the file in bytes.
    public let bytes: Int
    private let snapshot: Snapshot
    /// Open as long as this object: to close it would drop the locks that SQLite has on the file in this process.
    private let descriptor: Int32

    /// How long to wait for other readers and writers.
    private static let timeout = Duration.seconds(60)

    /// Waits until the log is empty and pins the file.
    ///
    /// - Throws: ``StoreError`` of the kind `busy` if other readers kept a checkpoint from completing for a minute.
    public convenience init(path: String) throws(StoreError) { try self.init(path: path, timeout: Self.timeout) }

    init(path: String, timeout: Duration) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw StoreError(errno == EACCES ? .permission : .missing, "\(path): \(String(cString: strerror(errno)))")
        }
        self.descriptor = descriptor
        do throws(StoreError) {
            // It puts the file into WAL mode if that is necessary.
            let writer = try SampleStore(path: path, access: .write)
            store = try SampleStore(path: path, access: .read)
            snapshot = try Self.pin(store.connection, writer.connection, path, timeout)
            bytes = try Self.size(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        snapshot.end()
        close(descriptor)
    }

    private static func size(of descriptor: Int32, _ path: String) throws(StoreError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw StoreError(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        return Int(status.st_size)
    }

    /// While `lock` keeps other writers away, the log is complete in the file, and a reader that starts then needs nothing of it.
    private static func pin(
        _ reader: Connection, _ writer: Connection, _ path: String, _ timeout: Duration
    ) throws(StoreError) -> Snapshot {
        let lock = try Connection(path: path, writable: true)
        let start = ContinuousClock.now
        while true {
            // Most of the log, without holding anybody up.
            _ = try isCheckpointed(writer)
            try lock.execute("BEGIN IMMEDIATE")
            defer { _ = try? lock.execute("ROLLBACK") }
            if try isCheckpointed(writer) {
                let snapshot = try Snapshot(reader)
                // The transaction of a reader begins with its first reading.
                _ = try reader.integer("SELECT count(*) FROM sqlite_master")
                return snapshot
            }
            guard ContinuousClock.now - start < timeout else {
                throw StoreError(.busy, "another process has been reading \(path) for a minute: try again")
            }
            _ = try? lock.execute("ROLLBACK")
            usleep(200_000)
        }
    }

    private static func isCheckpointed(_ connection: Connection) throws(StoreError) -> Bool {
        let statement = try Statement(connection, "PRAGMA wal_checkpoint(PASSIVE)")
        guard try statement.step() else { return false }
        return statement.integer(0) == 0 && statement.integer(1) == statement.integer(2)
    }

    /// The SHA-256 of the file, in hexadecimal digits.
    ///
    /// - Parameter isStopped: asked from time to time. If it returns true, the result is `nil`.
    public func digest(isStopped: () -> Bool = { false }) throws(StoreError) -> String? {
        var stream = Digest.Stream()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        var offset = 0
        while offset < bytes {
            let count = pread(descriptor, &chunk, min(chunk.count, bytes - offset), off_t(offset))
            guard count > 0 else { throw StoreError(.inputOutput, "the store's file cannot be read") }
            chunk.withUnsafeBytes { stream.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            offset += count
            if isStopped() { return nil }
        }
        return stream.end().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether the file at the path is still the pinned one, with the same size.
    public var isIntact: Bool {
        var (there, own) = (stat(), stat())
        return stat(store.path, &there) == 0 && fstat(descriptor, &own) == 0 && there.st_ino == own.st_ino
            && there.st_dev == own.st_dev && Int(own.st_size) == bytes && !store.connection.hasMoved
    }

    /// The size in bytes of the write-ahead log, which grows while the file is pinned.
    public var logBytes: Int {
        var status = stat()
        return stat(store.path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }
}

extension SampleStore {
    /// How many persons were erased from the store (``Erasure``). A copy with a smaller number has data that was erased since.
    public var erasureCount: Int64 {
        get throws(StoreError) { try connection.settings.integer("erasures") ?? 0 }
    }

    /// Starts a new history in a file that was restored from a copy, as ``backup(to:)`` does for its copies. The file must not be
    /// open. No file remains beside it.
    public static func beginHistory(ofRestored path: String) throws(StoreError) {
        let connection = try Connection(path: path, writable: true)
        try connection.execute("PRAGMA synchronous = FULL")
        try Epochs.renew(connection)
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }
}
