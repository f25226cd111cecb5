import FoundationEssentials
import Glibc

/// Debian's PostgreSQL with its own cluster, on a socket in a temporary folder. Root runs it as `postgres`, because it refuses to run as
/// root.
package final class PostgreSQLServer: Sendable {
    /// One server for all tests. Each test has its own schema. It ends with the tests' process.
    package static let shared: Result<PostgreSQLServer, any Error> = Result { try PostgreSQLServer() }

    private let server: ServerProcess
    private let binaries: String
    package var folder: String { server.folder }

    /// The local port, encrypted. 0 if the server listens only on its socket.
    package let port: UInt16
    private let more: [String]

    /// - Parameter certificate: of `localhost`, and the file of its key, in ``folder``: it listens there, too, for who comes encrypted.
    package init(certificate: ((_ folder: String) throws -> Certificate)? = nil) throws {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        guard let version = versions.compactMap({ Int($0) }).max() else {
            throw ServerProcess.Failure("Debian's package postgresql is not there: scripts/setup test")
        }
        binaries = "/usr/lib/postgresql/\(version)/bin"
        server = try ServerProcess(user: "postgres")
        if let certificate {
            let files = try certificate(server.folder)
            let port = FreePort.find()
            self.port = port
            more = [
                "-c", "listen_addresses=127.0.0.1", "-c", "port=\(port)", "-c", "ssl=on", "-c",
                "ssl_cert_file=\(files.path)", "-c",
                "ssl_key_file=\(files.key)",
            ]
            if let entry = getpwnam("postgres"), geteuid() == 0 { chown(files.key, entry.pointee.pw_uid, entry.pointee.pw_gid) }
            chmod(files.key, 0o600)
        } else {
            (port, more) = (0, ["-c", "listen_addresses="])
        }
        try ServerProcess.run(
            command([
                "initdb", "-D", folder + "/data", "-A", "trust", "-U", "vitalgate", "-E", "UTF8", "--no-locale", "--no-sync",
            ]))
        try start()
    }

    /// As PostgreSQL wants it, who runs.
    private func command(_ words: [String]) -> [String] {
        let words = ["\(binaries)/\(words[0])"] + words.dropFirst()
        guard geteuid() == 0 else { return words }
        return ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] + words
    }

    package func start() throws {
        try server.start(
            command(
                [
                    "postgres", "-D", folder + "/data", "-k", folder, "-c", "fsync=off", "-c",
                    "max_connections=50",
                    "-c", "shared_buffers=16MB",
                ] + more)
        ) {
            let port = port == 0 ? 5432 : port
            return access(folder + "/.s.PGSQL.\(port)", F_OK) == 0
                && (try? ServerProcess.run(["\(binaries)/pg_isready", "-q", "-h", folder, "-p", "\(port)"])) != nil
        }
    }

    /// As a power cut would end it: its first process is killed, and the others end when they see it.
    package func crash() {
        server.kill()
        unlink(folder + "/.s.PGSQL.5432.lock")
        unlink(folder + "/.s.PGSQL.5432")
    }

    /// Ends it for good.
    package func stop() { server.stop() }
}
