import FoundationEssentials
import Glibc
import HealthModel
import Ingestion
import Pipeline

/// Runs restic on one repository: without a terminal, and with its secrets in pipes and the environment, never in its arguments. It dies
/// with this process.
///
/// restic 0.14 (Debian 12) and 0.18 (Debian 13) have different exit statuses, so failures are recognized by both the status and the message.
package struct Restic: Sendable {
    package struct Output: Sendable {
        package var lines: [String]
        /// The end of its standard error.
        package var errors: String
        /// The exit status, or 128 and the number of the signal that ended it.
        package var status: Int32
    }

    package let location: BackupLocation
    private let program: String
    private let key: BackupKey
    /// Variables of the environment with secrets, such as those of S3.
    private let credentials: [String: String]
    /// The folder of restic's cache, or `nil` for none. A cache spares downloads, and costs writes.
    private let cache: String?
    /// Whether nobody waits for it, so that it has a low priority.
    private let isBackground: Bool
    private let isStopped: @Sendable () -> Bool

    /// - Parameters:
    ///   - isBackground: whether it gets a low priority. A person who waits for a restored hub should not wait for everything else.
    ///   - isStopped: whether the run has to end early. It is asked several times a second.
    package init(
        _ location: BackupLocation, key: BackupKey, credentials: [String: String] = [:], cache: String? = nil,
        isBackground: Bool = false, isStopped: @escaping @Sendable () -> Bool = { false }
    ) throws(BackupFailure) {
        guard let program = Self.program else {
            throw BackupFailure(.missingProgram, "restic is not installed: run 'sudo apt-get install restic'")
        }
        (self.location, self.program, self.key, self.credentials) = (location, program, key, credentials)
        (self.cache, self.isBackground) = (location.folder == nil ? cache : nil, isBackground)
        self.isStopped = isStopped
    }

    /// The path of restic, or `nil` if it is not installed.
    package static var program: String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/restic" }.first { access($0, X_OK) == 0 }
    }

    /// The names of variables that a file with credentials may set.
    package static let credentialNames = [
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION", "RESTIC_REST_USERNAME",
        "RESTIC_REST_PASSWORD",
    ]

    // MARK: Running

    /// The longest output that is kept, in bytes.
    private static let maximumLength = 16 << 20
    private static let (keyDescriptor, newKeyDescriptor): (Int32, Int32) = (3, 4)

    /// Runs a command of restic.
    ///
    /// - Parameters:
    ///   - folder: the working folder, for relative paths.
    ///   - newKey: the key for `key passwd`.
    ///   - check: called several times a second. It throws to end the run.
    ///   - sink: receives the standard output instead of the result.
    /// - Throws: ``BackupFailure`` unless the status is 0.
    @discardableResult
    func run(
        _ arguments: [String], in folder: String? = nil, newKey: BackupKey? = nil, within limit: Duration = .seconds(6 * 3600),
        check: () throws(BackupFailure) -> Void = {}, sink: ((UnsafeRawBufferPointer) -> Void)? = nil
    ) throws(BackupFailure) -> Output {
        let output = try start(arguments, folder, newKey, limit, check, sink)
        guard output.status == 0 else { throw Self.failure(output, location) }
        return output
    }

    private var environment: [String: String] {
        var environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "RESTIC_PROGRESS_FPS": "0.1"]
        for name in ["HOME", "SSH_AUTH_SOCK", "TZ"] { if let value = getenv(name) { environment[name] = String(cString: value) } }
        environment["RESTIC_REPOSITORY"] = repository
        environment["RESTIC_PASSWORD_FILE"] = "/proc/self/fd/\(Self.keyDescriptor)"
        // Collects garbage early, on one core: about 60 MB instead of 150 MB.
        environment.merge(["GOGC": "20", "GOMAXPROCS": "1", "GOMEMLIMIT": "128MiB"]) { $1 }
        if let cache { environment["RESTIC_CACHE_DIR"] = cache }
        // restic stages its uploads in temporary files, which need not be written to the card.
        if Self.hasSharedMemory { environment["TMPDIR"] = "/dev/shm" }
        for (name, value) in credentials where !name.hasPrefix("RESTIC_REST_") { environment[name] = value }
        return environment
    }

    /// Whether there is room in memory for restic's temporary files.
    private static var hasSharedMemory: Bool {
        var status = statvfs()
        return access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &status) == 0
            && UInt64(status.f_bavail) * UInt64(status.f_frsize) > 256 << 20
    }

    /// The address, with the credentials of a REST server, which restic 0.14 takes only there.
    private var repository: String {
        guard location.address.hasPrefix("rest:"), let user = credentials["RESTIC_REST_USERNAME"],
            let slashes = location.address.firstRange(of: "://")
        else { return location.address }
        let password = credentials["RESTIC_REST_PASSWORD"] ?? ""
        return location.address[..<slashes.upperBound] + "\(Self.escaped(user)):\(Self.escaped(password))@"
            + location.address[slashes.upperBound...]
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.reduce(into: "") { text, byte in
            let isPlain = (0x30...0x39).contains(byte) || ((byte | 0x20) &- 0x61 < 26)
            text +=
                isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }

    private func start(
        _ arguments: [String], _ folder: String?, _ newKey: BackupKey?, _ limit: Duration,
        _ check: () throws(BackupFailure) -> Void, _ sink: ((UnsafeRawBufferPointer) -> Void)?
    ) throws(BackupFailure) -> Output {
        var words: [String] = []
        // Each replaces itself with the next. None is needed to make a backup.
        var wrappers = [["/usr/bin/setpriv", "--pdeathsig", "KILL"]]
        if isBackground { wrappers = [["/usr/bin/nice", "-n", "19"], ["/usr/bin/ionice", "-t", "-c", "3"]] + wrappers }
        for wrapper in wrappers where access(wrapper[0], X_OK) == 0 { words += wrapper }
        if let folder { words += ["/usr/bin/env", "--chdir=\(folder)"] }
        words.append(program)
        words += cache == nil ? ["--no-cache"] : ["--cleanup-cache"]
        // Each connection needs memory. With one, restic refuses to prune.
        if location.folder != nil { words += ["-o", "local.connections=2"] }
        words += arguments
        if newKey != nil { words += ["--new-password-file", "/proc/self/fd/\(Self.newKeyDescriptor)"] }

        var pipes: [(reading: Int32, writing: Int32)] = []
        defer { for end in pipes.flatMap({ [$0.reading, $0.writing] }) where end >= 0 { close(end) } }
        for _ in 0..<4 { pipes.append(try Self.pipe()) }
        for (index, text) in [(2, key.words), (3, newKey?.words ?? "")] {
            let bytes = Array((text + "\n").utf8)
            guard Glibc.write(pipes[index].writing, bytes, bytes.count) == bytes.count else { throw Self.failure("pipe", errno) }
            close(pipes[index].writing)
            pipes[index].writing = -1
        }
        let process = try spawn(words, pipes)
        for index in 0..<2 {
            close(pipes[index].writing)
            pipes[index].writing = -1
        }
        return try listen(process, pipes[0].reading, pipes[1].reading, limit, check, sink)
    }

    private static func pipe() throws(BackupFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw failure("pipe", errno) }
        // Above the descriptors that the program gets.
        for index in 0..<2 {
            let high = fcntl(ends[index], F_DUPFD_CLOEXEC, 10)
            close(ends[index])
            ends[index] = high
        }
        return (ends[0], ends[1])
    }

    private static func failure(_ description: String, _ code: Int32) -> BackupFailure {
        BackupFailure(.failed, "\(description): \(String(cString: strerror(code)))")
    }

    private func spawn(
        _ words: [String], _ pipes: [(reading: Int32, writing: Int32)]
    ) throws(BackupFailure) -> pid_t {
        var start = ProgramStart(words)
        start.connect(0, to: nil)
        start.connect(1, to: pipes[0].writing)
        start.connect(2, to: pipes[1].writing)
        start.connect(Self.keyDescriptor, to: pipes[2].reading)
        start.connect(Self.newKeyDescriptor, to: pipes[3].reading)
        // In a session of its own, ssh cannot ask at the terminal, and ends instead of waiting for an answer.
        (start.group, start.resetsSignals) = (.session, true)
        let settings: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        start.environment = settings
        defer { for text in settings { free(text) } }
        // The repository may be of the hub of another machine, whose user this one does not have.
        let result: Result<pid_t, ErrorNumber>
        do {
            result = try FolderOwner.actingAsRoot { start.run() }
        } catch {
            throw BackupFailure(.permission, "\(error)")
        }
        do throws(ErrorNumber) {
            return try result.get()
        } catch {
            throw Self.failure(words[0], error.code)
        }
    }

    /// Reads both outputs until the program ends.
    private func listen(
        _ process: pid_t, _ output: Int32, _ errors: Int32, _ limit: Duration, _ check: () throws(BackupFailure) -> Void,
        _ sink: ((UnsafeRawBufferPointer) -> Void)?
    ) throws(BackupFailure) -> Output {
        var status: Int32 = 0
        var isReaped = false
        defer {
            if !isReaped {
                // The whole session, so that ssh ends too.
                kill(-process, SIGKILL)
                kill(process, SIGKILL)
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
            }
        }
        var open = [output, errors]
        var (text, words): ([UInt8], [UInt8]) = ([], [])
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let end = ContinuousClock.now + limit
        while !open.isEmpty {
            var entries = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&entries, nfds_t(entries.count), 200)
            if isStopped() { throw BackupFailure(.stopped, "it was stopped") }
            try check()
            guard ContinuousClock.now < end else {
                throw BackupFailure(.unreachable, "restic did not end within \(limit.components.seconds / 60) minutes")
            }
            for entry in entries where entry.revents != 0 {
                let count = read(entry.fd, &buffer, buffer.count)
                if count <= 0 {
                    if count < 0, errno == EINTR { continue }
                    open.removeAll { $0 == entry.fd }
                } else if entry.fd == errors {
                    words.append(contentsOf: buffer[..<count])
                    // The last words explain the end.
                    if words.count > 1 << 16 { words.removeFirst(words.count - 1 << 15) }
                } else if let sink {
                    buffer.withUnsafeBytes { sink(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                } else {
                    text.append(contentsOf: buffer[..<count])
                    guard text.count <= Self.maximumLength else {
                        throw BackupFailure(.failed, "restic printed more than expected")
                    }
                }
            }
        }
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        isReaped = true
        let lines = text.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        return Output(
            lines: lines, errors: String(decoding: words, as: UTF8.self),
            status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F)
    }

    // MARK: Failures

    /// The reason for a status other than 0.
    static func failure(_ output: Output, _ location: BackupLocation) -> BackupFailure {
        let text = output.errors.lowercased()
        func has(_ words: String...) -> Bool { words.contains(where: text.contains) }
        let lines = output.errors.split(separator: "\n").map { String($0).trimmed }.filter { !$0.isEmpty }
        let last = lines.last { $0.hasPrefix("Fatal:") } ?? lines.last ?? "status \(output.status)"
        let words = String((last.hasPrefix("Fatal: ") ? last.dropFirst(7) : last[...]).prefix(300))
        switch output.status {
        case 10: return BackupFailure(.noRepository, "there are no backups at this location")
        case 11: return BackupFailure(.locked, "another process uses the backups: try again later")
        case 12: return BackupFailure(.wrongKey, "the key does not fit")
        case 3 where !has("wrong password"): return BackupFailure(.failed, "restic could not read all files: \(words)")
        default: break
        }
        if has("wrong password or no key found") { return BackupFailure(.wrongKey, "the key does not fit") }
        if has("no space left on device", "disk quota exceeded", "quota exceeded") {
            return BackupFailure(.full, "the backup location is full")
        }
        if has("unable to create lock", "already locked") {
            return BackupFailure(.locked, "another process uses the backups: try again later")
        }
        if has(
            "permission denied (", "host key verification failed", "read-only file system", "accessdenied", "403 forbidden",
            "401 unauthorized")
        {
            return BackupFailure(.permission, "the location does not let this user in: \(words)")
        }
        if has(
            "connection refused", "no such host", "could not resolve", "i/o timeout", "network is unreachable",
            "no route to host",
            "connection timed out", "connection reset", "connection closed", "connection lost", "broken pipe",
            "unable to start the sftp session", "eof"),
            location.folder == nil
        {
            // restic does not pass on the reason of ssh.
            let advice =
                location.address.hasPrefix("sftp:") ? " (ssh must open it without a password, and know its host key)" : ""
            return BackupFailure(.unreachable, "the location does not answer: \(words)\(advice)")
        }
        if has("does not exist", "is there a repository", "unable to open config file", "no such file or directory"),
            has("config")
        {
            return location.folder != nil && !location.isThere
                ? BackupFailure(.noRepository, "there are no backups at this location") : BackupFailure(.noRepository, words)
        }
        if has("permission denied", "operation not permitted") {
            return BackupFailure(.permission, "the location cannot be read or written by this user: \(words)")
        }
        if has(
            "ciphertext verification failed", "invalid data returned", "hash mismatch", "does not match id", "not found in index",
            "unable to load", "load(", "unexpected eof", "checksum", "repository contains errors", "invalid header")
        {
            return BackupFailure(.damaged, "the backup is damaged: \(words)")
        }
        return BackupFailure(.failed, words)
    }
}

extension String {
    /// Without blanks at both ends.
    var trimmed: String { String(Substring(self).drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }
}

// MARK: The commands that backups need

extension Restic {
    struct Snapshot: Decodable, Sendable {
        var id: String
        var time: String
        var hostname: String
        var tags: [String]?

        /// The time, in microseconds precision. restic writes up to nine digits of a second.
        var instant: Instant? {
            guard let dot = time.firstIndex(of: ".") else { return (try? Timestamp(iso8601: time))?.instant }
            let digits = time[time.index(after: dot)...].prefix(while: \.isNumber)
            let rest = time[digits.endIndex...]
            return (try? Timestamp(iso8601: String(time[...dot] + digits.prefix(6) + rest)))?.instant
        }

        /// The number of erasures in its store, or -1 if it is unknown.
        var erasures: Int64 {
            tags?.compactMap { $0.hasPrefix("erasures=") ? Int64($0.dropFirst(9)) : nil }.first ?? -1
        }

        /// The machine and the store's file that it was made from, or `nil` if it is unknown.
        var holder: String? {
            tags?.first { $0.hasPrefix(Self.holderPrefix) }.map { String($0.dropFirst(Self.holderPrefix.count)) }
        }

        static let holderPrefix = "holder="

        var isVerified: Bool { tags?.contains(Self.verified) == true }

        static let (program, verified, unverified) = ("vitalgate", "verified", "unverified")
    }

    package func create() throws(BackupFailure) { try run(["init"], within: .seconds(300)) }

    // Reading needs no lock: one of a machine that died would keep a new machine out for half an hour.

    /// Whether the location has a repository. Throws if that is not known, or if the key does not fit.
    package func isThere() throws(BackupFailure) -> Bool {
        do throws(BackupFailure) {
            try run(["cat", "--no-lock", "config"], within: .seconds(300))
            return true
        } catch {
            guard error.kind == .noRepository else { throw error }
            return false
        }
    }

    /// Removes locks of processes that have ended. Others stay.
    func unlock() throws(BackupFailure) { try run(["unlock"], within: .seconds(300)) }

    /// The snapshots of this program, the oldest first.
    ///
    /// - Parameter host: only those of one hub.
    func snapshots(of host: String? = nil) throws(BackupFailure) -> [Snapshot] {
        var arguments = ["snapshots", "--no-lock", "--json", "--tag", Snapshot.program]
        if let host { arguments += ["--host", host] }
        let output = try run(arguments, within: .seconds(600))
        guard let found: [Snapshot]? = Self.decoded(output.lines.joined()) else {
            throw BackupFailure(.failed, "restic's list of backups cannot be read")
        }
        return (found ?? []).sorted { ($0.instant?.microseconds ?? 0, $0.id) < ($1.instant?.microseconds ?? 0, $1.id) }
    }

    private struct Node: Decodable {
        var path: String?
        var type: String?
        var size: Int?
    }

    /// The files of a snapshot with their sizes in bytes, by path.
    ///
    /// - Throws: ``BackupFailure`` of the kind `damaged` if it contains links, devices or pipes, which no backup of this program has.
    func files(of id: String) throws(BackupFailure) -> [String: Int] {
        var sizes: [String: Int] = [:]
        for line in try run(["ls", "--no-lock", "--json", id], within: .seconds(600)).lines {
            guard let node: Node = Self.decoded(line) else {
                throw BackupFailure(.failed, "restic's list of files cannot be read")
            }
            // The first line describes the snapshot.
            guard let type = node.type, type != "dir", let path = node.path else { continue }
            guard type == "file" else {
                throw BackupFailure(.damaged, "the backup contains something that is not a file")
            }
            sizes[path] = node.size ?? 0
        }
        return sizes
    }

    /// Reads a whole file of a snapshot.
    func file(_ path: String, of id: String, limit: Int = 1 << 22) throws(BackupFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        try run(
            ["dump", "--no-lock", id, path], within: .seconds(600),
            sink: { bytes.append(contentsOf: $0.prefix(limit + 1 - bytes.count)) })
        guard bytes.count <= limit else { throw BackupFailure(.damaged, "\(path) in the backup is larger than expected") }
        return bytes
    }

    /// The SHA-256 of a file of a snapshot, whose data is read for it.
    func digest(of path: String, in id: String) throws(BackupFailure) -> String {
        var stream = Digest.Stream()
        try run(["dump", "--no-lock", id, path], sink: { stream.add($0) })
        return stream.end().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Writes a file of a snapshot to a new file of this process's user.
    ///
    /// - Parameter size: the maximum size in bytes. A longer file is damaged, whatever the list of files contains.
    /// - Returns: The SHA-256 of the file.
    func write(_ path: String, of id: String, to target: String, size: Int) throws(BackupFailure) -> String {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Self.failure(target, errno) }
        defer { close(descriptor) }
        var stream = Digest.Stream()
        var (failed, left): (Int32?, Int) = (nil, size)
        func write(_ bytes: UnsafeRawBufferPointer) {
            stream.add(bytes)
            left -= bytes.count
            var rest = bytes
            while !rest.isEmpty, failed == nil, left >= 0 {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                } else if errno != EINTR {
                    failed = errno
                }
            }
        }
        func check() throws(BackupFailure) {
            guard left >= 0 else { throw BackupFailure(.damaged, "\(path) in the backup has another size than in its list") }
            guard let failed else { return }
            throw failed == ENOSPC
                ? BackupFailure(.full, "no space is left for the restored store") : Self.failure(target, failed)
        }
        try run(["dump", "--no-lock", id, path], check: check, sink: write)
        try check()
        return stream.end().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func decoded<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}

extension Restic {
    /// Replaces the key. The new one is added before the old one is removed.
    package func replaceKey(with key: BackupKey) throws(BackupFailure) {
        try run(["key", "passwd"], newKey: key, within: .seconds(600))
    }
}
