import CSQLite
import Glibc
import HealthModel
import Pipeline

/// The store of samples: one SQLite file in WAL mode.
///
/// A store has one writer at a time, who commits in groups, and any number of readers, each on a snapshot. Two processes may use one
/// store at once: a writer waits for the other's commit.
///
///     let store = try SampleStore(path: "vitalgate.db", access: .write)
///     let ingest = try store.beginIngest(IngestDescription(kind: .import, name: "weight.csv", received: now))
///     let outcomes = try ingest.store(batch)
///     let account = try ingest.finish(at: now)
public final class SampleStore {
    /// What a store is opened for.
    public enum Access: Sendable {
        case read
        case write
    }

    /// A store is made where there is none; `subject` is the person's UUID for a new one.
    public struct Creation: Sendable {
        /// The person the new store is for, a UUID.
        public var subject: String
        /// Microseconds since 1970.
        public var time: Int64
        /// Whether simulated readings may get into it; for good.
        public var isDemo: Bool
        /// Whether a hub is going to write to it, a few readings at a time, for years. Each commit writes whole pages, so the store gets small
        /// ones: a card lasts more than twice as long, while an import takes a tenth more of the processor's time.
        public var takesStreams: Bool
        /// Says how a store is made where there is none.
        public init(subject: String, time: Int64, isDemo: Bool = false, takesStreams: Bool = false) {
            self.subject = subject
            self.time = time
            self.isDemo = isDemo
            self.takesStreams = takesStreams
        }
    }

    /// The store's file.
    public let path: String
    /// Its name among many stores, for targets that several feed; a copy has the same. Empty where no version with targets has written to it.
    public let identifier: String
    /// The person whose store this is, known as `me`.
    public let subject: String
    /// Whether it was made for simulated readings.
    public let isDemo: Bool
    /// Whom it shows what may be read, and nothing else; `nil` where it shows everything.
    public internal(set) var client: Client?
    /// Whose samples it shows, and nothing else; `nil` where it is no person's view.
    public internal(set) var person: String?
    let connection: Connection
    let batch = BatchTable()
    let replacements = ReplacementTable()
    lazy var interner = Interner(connection: connection)
    /// How many erasures there were when this store looked last.
    var erasuresKnown: Int64 = 0
    /// When statistics are gathered by several connections.
    var sideBySide = SideBySide.Limits()
    /// What of dense series is summed up.
    var summaries = Summaries.Limits()
    /// Samples that a deletion, an undo, or a pruning writes in one transaction. Other writers wait for one at most.
    var stepRows = 1024

    /// Opens a store.
    ///
    /// - Parameter creation: makes the file (mode 0600) where there is none; without it a missing file is an error.
    public init(path: String, access: Access, creation: Creation? = nil) throws(StoreError) {
        self.path = path
        try Self.inspect(path, creating: creation != nil && access == .write)
        connection = try Self.connect(path, access)
        do throws(StoreError) {
            do throws(StoreError) {
                try Self.prepare(connection, access: access, creation: creation)
            } catch {
                guard error.kind == .full, Reserve.release(for: path) else { throw error }
                try Self.prepare(connection, access: access, creation: creation)
            }
            if access == .write { Reserve.make(for: path) }
            identifier = try connection.text("SELECT value FROM setting WHERE name = 'store'") ?? ""
            subject = try connection.text("SELECT value FROM setting WHERE name = 'subject'") ?? "me"
            isDemo = try connection.integer("SELECT value FROM setting WHERE name = 'demo'") == 1
            if access == .write {
                try batch.register(with: connection)
                try replacements.register(with: connection)
                try Epochs.begin(connection)
            }
            try learnTypes()
            if access == .write { connection.onChange = { [weak self] () throws(StoreError) in try self?.forgetErased() } }
        } catch {
            if Self.isUnopened(error, access), let reason = Self.reasonNotToOpen(path) { throw reason }
            throw error.kind == .foreign ? StoreError(.foreign, "\(path) is not a Vitalgate store") : error
        }
        if access == .read { resumePendingBeforeReading() }
    }

    /// Another number whenever somebody else has written to the store since, whatever it was; of this connection alone.
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

    /// Whether nobody can write the store or a log beside it, and all of it is in its file.
    private static func isOnReadOnlyMedium(_ path: String) -> Bool {
        guard Glibc.access(folder(of: path), W_OK) != 0, errno == EROFS else { return false }
        var log = stat()
        return stat(path + "-wal", &log) != 0 || log.st_size == 0
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    private static func isUnopened(_ error: StoreError, _ access: Access) -> Bool {
        error.code & 0xFF == SQLITE_CANTOPEN || (access == .read && error.code & 0xFF == SQLITE_READONLY)
    }

    /// SQLite only says that it cannot open a file.
    private static func reasonNotToOpen(_ path: String) -> StoreError? {
        if Glibc.access(path, R_OK) != 0 {
            return StoreError(errno == EACCES ? .permission : .inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        let folder = folder(of: path)
        guard Glibc.access(folder, W_OK) != 0 else { return nil }
        return StoreError(
            errno == EACCES ? .permission : .readOnly,
            "\(folder) cannot be written: even to read a store, SQLite keeps files beside it; copy it elsewhere, or read a backup of it"
        )
    }

    /// Whether there is a file at all, and makes an empty one of our own where there is not.
    private static func inspect(_ path: String, creating: Bool) throws(StoreError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else { throw StoreError(.foreign, "\(path) is not a file") }
            return
        }
        guard errno == ENOENT, creating else {
            throw StoreError(errno == EACCES ? .permission : .missing, "\(path): \(String(cString: strerror(errno)))")
        }
        // A log that outlived its database would be replayed into the new one.
        for suffix in ["-wal", "-shm", "-journal"] where access(path + suffix, F_OK) == 0 {
            throw StoreError(
                .foreign, "\(path)\(suffix) is left over from another store; move it away before a new store is made here")
        }
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        // Another process may have been quicker, which is as good.
        guard descriptor >= 0 || errno == EEXIST else {
            let kind: StoreError.Kind =
                errno == EACCES ? .permission : errno == EROFS ? .readOnly : errno == ENOSPC ? .full : .missing
            throw StoreError(kind, "\(path): \(String(cString: strerror(errno)))")
        }
        if descriptor >= 0 { close(descriptor) }
    }

    /// In octets; for stores that take streams.
    private static let smallPage = 1024
    /// In octets: a log of this length is put into the database.
    private static let longestLog: Int64 = 16_384_000

    private static func prepare(_ connection: Connection, access: Access, creation: Creation?) throws(StoreError) {
        // Acknowledged means durable: every commit is synchronised before it returns (WAL with FULL).
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA cache_size = -4000")
        try connection.execute("PRAGMA mmap_size = 0")
        let application = try connection.integer("PRAGMA application_id") ?? 0
        let version = try connection.integer("PRAGMA user_version") ?? 0
        let tables = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
        guard application == Schema.applicationID || (application == 0 && tables == 0) else {
            throw StoreError(.foreign, "the file is a database of another program")
        }
        guard version <= Schema.version else {
            throw StoreError(
                .newer,
                "the store was made by a newer Vitalgate (schema \(version), this one knows \(Schema.version)); update this program"
            )
        }
        if application == 0 || version < Schema.version {
            guard access == .write, application != 0 || creation != nil else {
                throw application == 0
                    ? StoreError(.foreign, "the file is empty, not a store")
                    : StoreError(.invalid, "the store has an older schema; any writing command brings it up to date")
            }
            // For good: only an empty file takes it.
            if application == 0, creation?.takesStreams == true { try connection.execute("PRAGMA page_size = \(smallPage)") }
            try upgrade(connection, creation: creation)
        }
        if access == .write { connection.ringBehindCommits(checkpointingFrom: try checkpointPages(connection)) }
        if access == .read {
            try connection.execute("PRAGMA query_only = ON")
        } else {
            // A backup's header says otherwise.
            try connection.execute("PRAGMA journal_mode = WAL")
        }
    }

    private static func checkpointPages(_ connection: Connection) throws(StoreError) -> Int {
        Int(longestLog / (try connection.integer("PRAGMA page_size") ?? 4096))
    }

    /// The length of the log, in pages, from which on a commit puts it into the database.
    var checkpointPages: Int { (try? Self.checkpointPages(connection)) ?? 4000 }

    /// A database has a log only once its header says so; a log beside any other, a backup copied to here, would be replayed over it.
    private static func refuseForeignLog(_ path: String, _ connection: Connection) throws(StoreError) {
        var log = stat()
        guard stat(path + "-wal", &log) == 0, log.st_size > 0 else { return }
        // Bytes 18 and 19: 2 for a database with a write-ahead log, 1 for one without; nothing of either in an empty file.
        if let versions = connection.headerBytes(at: 18), versions != (1, 1) { return }
        throw StoreError(.foreign, "\(path)-wal is left over from another store than \(path); move it away first")
    }

    /// Applies the schema's steps that the store lacks, each in a transaction with its number. A new store gets all of them in one: a process that
    /// is killed meanwhile leaves an empty file, and none that readers refuse.
    static func upgrade(
        _ connection: Connection, creation: Creation?, steps: [(name: String, sql: String)] = Schema.steps
    ) throws(StoreError) {
        try connection.execute("PRAGMA journal_mode = WAL")
        while true {
            try connection.execute("BEGIN IMMEDIATE")
            do throws(StoreError) {
                // Read inside the transaction: another process may be at the same work.
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
                    try connection.run("INSERT INTO setting VALUES('subject', ?)", .text(creation.subject))
                    try connection.run("INSERT INTO setting VALUES('created', ?)", .integer(creation.time))
                    try connection.run("INSERT INTO setting VALUES('seq', 0)")
                    if creation.isDemo { try connection.run("INSERT INTO setting VALUES('demo', 1)") }
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

    /// Begins an ingest and gives it its number in the ledger.
    public func beginIngest(_ description: IngestDescription) throws(StoreError) -> Ingest {
        try Ingest(store: self, description: description)
    }

    /// Runs `body` as if for good, and takes everything back: what it returns tells what would have become of it.
    public func rehearse<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.refuseWithinReading()
        try connection.execute("BEGIN IMMEDIATE")
        defer {
            _ = try? connection.execute("ROLLBACK")
            interner.forget()
        }
        try forgetErased()
        return try body()
    }

    /// Puts the write-ahead log into the database and empties it; what `import` does when it is done.
    public func checkpoint() throws(StoreError) {
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Runs `body`, in which a change waits for so long at most while another process is in the middle of one; else it is 15 seconds.
    ///
    /// - Throws: what `body` throws; ``StoreError`` of the kind `busy` is what a change throws that has waited.
    public func waiting<Result>(atMost patience: Duration, _ body: () throws -> Result) rethrows -> Result {
        connection.wait(atMost: patience)
        defer { connection.wait(atMost: Connection.patience) }
        return try body()
    }

    /// Makes sure that what is written goes where the next one who opens the store finds it: SQLite writes on, without a word, into a file
    /// that was removed.
    ///
    /// - Throws: ``StoreError`` of the kind `missing` where the file was removed or replaced since it was opened.
    public func checkPlace() throws(StoreError) {
        guard connection.hasMoved else { return }
        throw StoreError(
            .missing,
            "\(path) was removed or replaced while it was in use; put it back, or start again to go on with what is there now")
    }

    /// The number of the last change.
    public func lastChange() throws(StoreError) -> Int64 {
        try SampleTable(connection: connection).lastNumber()
    }
}
