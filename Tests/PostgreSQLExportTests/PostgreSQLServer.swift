import FoundationEssentials
import Glibc

/// Debian's PostgreSQL with a cluster of its own, on a socket in a temporary folder. Root runs it as `postgres`, which it insists on.
final class PostgreSQLServer: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// One for all tests, each of which has a schema of its own. It ends with the tests' process.
    static let shared: Result<PostgreSQLServer, any Error> = Result { try PostgreSQLServer() }

    let folder: String
    private let binaries: String
    private var process: pid_t = 0

    init() throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let version = versions.compactMap({ Int($0) }).max() else {
            throw Failure(description: "Debian's package postgresql is not there: scripts/setup test")
        }
        binaries = "/usr/lib/postgresql/\(version)/bin"
        var template = Array("/tmp/vitalgate-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "mkdtemp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if geteuid() == 0 {
            guard let user = getpwnam("postgres"), chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw Failure(description: "there is no user postgres")
            }
        }
        try run(["initdb", "-D", folder + "/data", "-A", "trust", "-U", "vitalgate", "-E", "UTF8", "--no-locale", "--no-sync"])
        try start()
    }

    /// As PostgreSQL wants it, who runs.
    private func command(_ words: [String]) -> [String] {
        let words = ["\(binaries)/\(words[0])"] + words.dropFirst()
        guard geteuid() == 0 else { return words }
        return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + words
    }

    /// It ends when the tests do: the shell around it waits for the end of its input, whose other end they hold.
    private static let guardian = """
        "$@" & server=$!
        read -r line
        kill -QUIT $server 2>/dev/null
        wait
        rm -rf "$0"
        """
    private var lifeline: [Int32] = [-1, -1]

    func start() throws {
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &lifeline) == 0 else {
            throw Failure(description: "socketpair")
        }
        for attempt in 0..<200 {
            if attempt % 20 == 0 {
                if process > 0 { reap() }
                process = try spawn(
                    ["/bin/sh", "-c", Self.guardian, folder]
                        + command([
                            "postgres", "-D", folder + "/data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                            "max_connections=50", "-c", "shared_buffers=16MB",
                        ]), input: lifeline[1])
            }
            if access(folder + "/.s.PGSQL.5432", F_OK) == 0, (try? run(["pg_isready", "-q", "-h", folder])) != nil { return }
            usleep(100_000)
        }
        throw Failure(description: "PostgreSQL does not start")
    }

    private func reap() {
        kill(-process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Ends it for good.
    func stop() {
        for end in lifeline { close(end) }
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// As a power cut would end it: its first process is killed, and the others end when they see it.
    func crash() throws {
        reap()
        process = 0
        for end in lifeline { close(end) }
        unlink(folder + "/.s.PGSQL.5432.lock")
        unlink(folder + "/.s.PGSQL.5432")
    }

    private func run(_ words: [String]) throws {
        let process = try spawn(command(words))
        var status: Int32 = 0
        waitpid(process, &status, 0)
        guard status == 0 else { throw Failure(description: "\(words[0]) failed (\(status))") }
    }

    private func spawn(_ words: [String], input: Int32? = nil) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, flags) in [(Int32(0), O_RDONLY), (1, O_WRONLY), (2, O_WRONLY)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", flags, 0)
        }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        var process: pid_t = 0
        let texts: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for text in texts { free(text) } }
        let code = posix_spawn(&process, words[0], &actions, &attributes, texts, environ)
        guard code == 0 else { throw Failure(description: "\(words[0]): \(String(cString: strerror(code)))") }
        return process
    }
}
