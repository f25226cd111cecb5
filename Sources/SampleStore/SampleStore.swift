import Glibc
import HealthModel
import Pipeline
import SQLiteKit

/// The store of samples: one SQLite file in WAL mode.
///
/// A store has one writer at a time, which commits in groups, and any number of readers, each on a snapshot. Two processes can use one
/// store at the same time. A writer waits for the other writer's commit.
///
///     let store = try SampleStore(path: "vitalgate.db", access: .write)
///     let ingest = try store.beginIngest(IngestDescription(kind: .import, name: "weight.csv", received: now))
///     let outcomes = try ingest.store(batch)
///     let account = try ingest.finish(at: now)
public final class SampleStore {
    /// The access that a store is opened with.
    public enum Access: Sendable {
        case read
        case write
    }

    /// The properties of a store that is created because the file is missing.
    public struct Creation: Sendable {
        /// The UUID of the person the new store belongs to.
        public var person: String
        /// The time of creation, in microseconds since 1970.
        public var time: Int64
        /// Whether the store accepts simulated readings. This cannot be changed later.
        public var isDemo: Bool
        /// Whether a hub will write to the store, a few readings at a time, for years. Each commit writes whole pages, so such a store gets
        /// small pages. An SD card lasts more than twice as long, and an import needs a tenth more CPU time.
        public var takesStreams: Bool
        /// Creates the properties of a new store.
        public init(person: String, time: Int64, isDemo: Bool = false, takesStreams: Bool = false) {
            self.person = person
            self.time = time
            self.isDemo = isDemo
            self.takesStreams = takesStreams
        }
    }

    /// The path of the store's file, or of its target if it is a link. The locks are beside the target, as SQLite's own files.
    public let path: String
    /// The identifier that a target uses to distinguish the stores that feed it. A copy of the store has the same identifier.
    public let identifier: String
    /// The UUID of the person who owns the store, known as `me`.
    public let owner: String
    /// Whether the store was created for simulated readings.
    public let isDemo: Bool
    /// The client whose permissions limit what this connection reads, or `nil` if it reads everything.
    public internal(set) var client: Client?
    /// The person whose samples alone are visible, or `nil` if the store is not a view of one person.
    public internal(set) var restrictedPerson: String?
    let connection: Connection
    var table: SampleTable { connection.samples }
    let batch = BatchTable()
    let replacements = ReplacementTable()
    lazy var interner = Interner(connection: connection)
    /// The number of erasures when this connection last checked.
    var erasuresKnown: Int64 = 0
    /// When statistics are computed by several connections.
    var parallelStatistics = ParallelStatistics.Limits()
    /// Which dense series get summaries.
    var summaries = Summaries.Limits()
    /// The number of samples that a deletion, an undo, or a pruning writes in one transaction. Other writers wait for at most one such
    /// transaction.
    var stepRows = 1024

    /// Opens a store.
    ///
    /// - Parameter creation: The properties of a new store. The file is created with mode 0600 if it is missing. Without this parameter a
    ///   missing file is an error.
    public init(path: String, access: Access, creation: Creation? = nil) throws(StoreError) {
        try Self.inspect(path, creating: creation != nil && access == .write)
        let path = Self.linked(path)
        self.path = path
        connection = try Self.connect(path, access)
        do throws(StoreError) {
            do throws(StoreError) {
                try Self.prepare(connection, access: access, creation: creation)
            } catch {
                guard error.kind == .full, Reserve.releasePart(for: path) else { throw error }
                try Self.prepare(connection, access: access, creation: creation)
            }
            if access == .write { Reserve.make(for: path) }
            identifier = try Self.setting("store", connection)
            owner = try Self.setting("subject", connection)
            isDemo = try connection.settings.integer("demo") == 1
            if access == .write {
                try batch.register(with: connection)
                try replacements.register(with: connection)
                try Epochs.begin(connection)
            }
            try samples.learnTypes()
            if access == .write {
                connection.onChange = { [weak self] () throws(StoreError) in try self?.erasure.forgetErased() }
            }
        } catch {
            if Self.isUnopened(error, access), let reason = Self.reasonNotToOpen(path) { throw reason }
            throw error.kind == .foreign ? StoreError(.foreign, "\(path) is not a Vitalgate store") : error
        }
        if access == .read { resumePendingBeforeReading() }
    }

    /// Returns a setting that every store has.
    private static func setting(_ name: String, _ connection: Connection) throws(StoreError) -> String {
        guard let value = try connection.settings.text(name) else {
            throw StoreError(.corrupt, "the store's setting '\(name)' is missing")
        }
        return value
    }

    /// Returns a number that changes whenever another connection writes to the store. It is only comparable within this connection.
    public func dataVersion() throws(StoreError) -> Int64 { try connection.integer("PRAGMA data_version") ?? 0 }

    private static func connect(_ path: String, _ access: Access) throws(StoreError) -> Connection {
        do throws(StoreError) {
            let connection = try Connection(
                path: path, writable: access == .write, immutable: access == .read && isOnReadOnlyMedium(path))
            try refuseForeignLog(path, connection)
            return connection
        } catch {
            if isUnopened(error, access), let reason = reasonNotToOpen(path) { throw reason }
            throw error
        }
    }

    /// Whether the medium is read-only and all data is in the database file, with nothing in a write-ahead log.
    private static func isOnReadOnlyMedium(_ path: String) -> Bool {
        guard Glibc.access(folder(of: path), W_OK) != 0, errno == EROFS else { return false }
        var log = stat()
        return stat(path + "-wal", &log) != 0 || log.st_size == 0
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private static func isUnopened(_ error: StoreError, _ access: Access) -> Bool {
        switch SQLiteFault(code: error.code) {
        case .cannotOpen: true
        case .readOnly: access == .read
        default: false
        }
    }

    /// The reason why the file cannot be opened, or `nil` if none was found. SQLite only reports that it could not open it.
    private static func reasonNotToOpen(_ path: String) -> StoreError? {
        // As the effective user. access(2) would check as root, who may act as another user.
        if faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 {
            return StoreError(errno == EACCES ? .permission : .inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        let folder = folder(of: path)
        guard faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) != 0 else { return nil }
        return StoreError(
            errno == EACCES ? .permission : .readOnly,
            "\(folder) cannot be written: SQLite needs to create files there even to read a store, "
                + "so copy the store elsewhere or read a backup"
        )
    }

    /// Checks that the file exists. Creates an empty one with our own permissions if it is missing and `creating` is true.
    private static func inspect(_ path: String, creating: Bool) throws(StoreError) {
        try refuseLinksOfOthers(path)
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.foreign, "\(path) is not a file") }
            return
        }
        guard errno == ENOENT, creating else {
            throw StoreError(errno == EACCES ? .permission : .missing, "\(path): \(String(cString: strerror(errno)))")
        }
        // A log that outlived its database would be replayed into the new one. If the database exists by now, another process is creating
        // it, and the log is its own.
        for suffix in ["-wal", "-shm", "-journal"] where access(path + suffix, F_OK) == 0 && stat(path, &status) != 0 {
            throw StoreError(
                .foreign, "\(path)\(suffix) is left over from another store: move it away before creating a new store here")
        }
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        // If another process created the file first, that is fine too.
        guard descriptor >= 0 || errno == EEXIST else {
            let kind: StoreError.Kind =
                errno == EACCES ? .permission : errno == EROFS ? .readOnly : errno == ENOSPC ? .full : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
        if descriptor >= 0 { close(descriptor) }
    }

    /// The target of a link, or the path itself. Processes that open a store by different names share its locks.
    private static func linked(_ path: String) -> String {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// As root, refuses a path with a link of another user, who could lead root to any file (CWE-59).
    private static func refuseLinksOfOthers(_ path: String) throws(StoreError) {
        guard geteuid() == 0 else { return }
        var prefix = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            prefix += "/" + part
            var status = stat()
            guard lstat(prefix, &status) == 0 else { return }
            guard status.st_mode & S_IFMT != S_IFLNK || status.st_uid == 0 else {
                throw StoreError(
                    .permission, "\(prefix) is a link of another user, which root does not follow: name the store's own path")
            }
        }
    }

    /// The page size in bytes of stores that take streams.
    private static let smallPage = 1024
    /// The length in bytes at which the write-ahead log is checkpointed.
    private static let maximumLogLength: Int64 = 16_384_000

    static func prepare(
        _ connection: Connection, access: Access, creation: Creation?, steps: [Schema.Step] = Schema.steps
    ) throws(StoreError) {
        // Every commit is synced before it returns (WAL with FULL), so acknowledged data is durable.
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA cache_size = -4000")
        try connection.execute("PRAGMA mmap_size = 0")
        // In this order, because another process may be creating the store: it commits all three at once.
        let tables = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
        let application = try connection.integer("PRAGMA application_id") ?? 0
        let version = try connection.integer("PRAGMA user_version") ?? 0
        guard application == Schema.applicationID || (application == 0 && tables == 0) else {
            throw StoreError(.foreign, "the file is a database of another program")
        }
        guard version <= steps.count else {
            throw StoreError(
                .newer,
                "the store was made by a newer Vitalgate (schema \(version), this one supports \(steps.count)): update this program"
            )
        }
        if application == 0 || version < steps.count {
            guard access == .write, application != 0 || creation != nil else {
                throw application == 0
                    ? StoreError(.foreign, "the file is empty, not a store")
                    : StoreError(.invalid, "the store has an older schema: any command that writes to it updates it")
            }
            // The page size can only be set while the file is empty.
            if application == 0, creation?.takesStreams == true { try connection.execute("PRAGMA page_size = \(smallPage)") }
            try upgrade(connection, creation: creation, steps: steps)
        }
        if access == .write { connection.notifyAfterCommits(checkpointingFrom: try checkpointPages(connection)) }
        if access == .read {
            try connection.execute("PRAGMA query_only = ON")
        } else {
            // The header of a backup has another journal mode.
            try useLog(connection)
        }
    }

    /// Switches the file to WAL mode. SQLite does not wait when another process is switching it at the same time.
    private static func useLog(_ connection: Connection) throws(StoreError) {
        let start = ContinuousClock.now
        while true {
            do throws(StoreError) {
                return try connection.execute("PRAGMA journal_mode = WAL")
            } catch {
                guard error.kind == .busy, ContinuousClock.now - start < Connection.busyTimeout else { throw error }
                usleep(10_000)
            }
        }
    }

    private static func checkpointPages(_ connection: Connection) throws(StoreError) -> Int {
        Int(maximumLogLength / (try connection.integer("PRAGMA page_size") ?? 4096))
    }

    /// The length of the log, in pages, from which a commit checkpoints it.
    var checkpointPages: Int { (try? Self.checkpointPages(connection)) ?? 4000 }

    /// Throws if a write-ahead log beside the file belongs to another database. A database uses a log only if its header says so. A log
    /// beside any other database, such as a backup copied here, would be replayed over it.
    private static func refuseForeignLog(_ path: String, _ connection: Connection) throws(StoreError) {
        var log = stat()
        guard stat(path + "-wal", &log) == 0, log.st_size > 0 else { return }
        // Bytes 18 and 19 are 2 in a database with a write-ahead log and 1 in one without. An empty file has no header.
        if let versions = connection.headerBytes(at: 18), versions != (1, 1) { return }
        throw StoreError(.foreign, "\(path)-wal belongs to a different store than \(path): move it away first")
    }

    /// Applies the schema steps that the store lacks, each in a transaction together with its number. A new store gets all of them in one
    /// transaction. If the process is killed during that, the file stays empty and the next writer starts again.
    static func upgrade(
        _ connection: Connection, creation: Creation?, steps: [Schema.Step] = Schema.steps
    ) throws(StoreError) {
        try useLog(connection)
        while true {
            try connection.execute("BEGIN IMMEDIATE")
            do throws(StoreError) {
                // Read inside the transaction, because another process may be upgrading too.
                let version = Int(try connection.integer("PRAGMA user_version") ?? 0)
                guard version < steps.count else {
                    try connection.execute("COMMIT")
                    return
                }
                let last = version == 0 ? steps.count : version + 1
                try connection.execute(steps[version].sql)
                if version == 0 {
                    guard let creation else { throw StoreError(.foreign, "the file is empty, not a store") }
                    try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
                    try connection.settings.set("subject", to: .text(creation.person))
                    try connection.settings.set("created", to: .integer(creation.time))
                    try connection.settings.set("seq", to: .integer(0))
                    if creation.isDemo { try connection.settings.set("demo", to: .integer(1)) }
                }
                for step in steps[(version + 1)..<last] { try connection.execute(step.sql) }
                try connection.execute("PRAGMA user_version = \(last)")
                try connection.execute("COMMIT")
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    /// Begins an ingest and assigns its number in the ledger.
    public func beginIngest(_ description: IngestDescription) throws(StoreError) -> Ingest {
        try Ingest(store: self, description: description)
    }

    /// Runs `body` in a transaction that is always rolled back, and returns what `body` reports about its effect.
    public func rehearse<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.refuseWithinReading()
        try connection.execute("BEGIN IMMEDIATE")
        defer {
            _ = try? connection.execute("ROLLBACK")
            interner.forget()
        }
        try erasure.forgetErased()
        return try body()
    }

    /// Checkpoints the write-ahead log and truncates it. `import` does this when it is done.
    public func checkpoint() throws(StoreError) {
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Runs `body` with a limit on how long a change waits for another process that is writing. The default is 15 seconds.
    ///
    /// - Throws: The error that `body` throws. A change that has waited too long throws ``StoreError`` of the kind `busy`.
    public func waiting<Result>(atMost busyTimeout: Duration, _ body: () throws -> Result) rethrows -> Result {
        connection.wait(atMost: busyTimeout)
        defer { connection.wait(atMost: Connection.busyTimeout) }
        return try body()
    }

    /// Checks that the open file is still the one at `path`. SQLite keeps writing to a removed file without reporting it.
    ///
    /// - Throws: ``StoreError`` of the kind `missing` if the file was removed or replaced since it was opened.
    public func checkPlace() throws(StoreError) {
        guard connection.hasMoved else { return }
        throw StoreError(
            .missing,
            "\(path) was removed or replaced while it was in use: restore it, or restart to use the current file")
    }

    func allSeries() throws(StoreError) -> [SeriesDescription] { try connection.series.all() }

    /// Returns the number of the last change.
    public func lastChange() throws(StoreError) -> Int64 {
        try connection.settings.lastChange()
    }
}
