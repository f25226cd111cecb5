import FoundationEssentials
import Glibc

/// Debian's nats-server, with its configuration in a temporary folder.
package final class NATSServer {
    private let server: ServerProcess
    package let port: UInt16
    package var url: String { "nats://127.0.0.1:\(port)" }
    package var folder: String { server.folder }

    /// - Parameter more: lines of its configuration.
    package init(_ more: [String] = []) throws {
        server = try ServerProcess()
        port = FreePort.find()
        let lines = ["listen: 127.0.0.1:\(port)"] + more
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: server.folder + "/nats.conf"))
        guard access("/usr/sbin/nats-server", X_OK) == 0 else {
            throw ServerProcess.Failure("Debian's package nats-server is not there: scripts/setup test")
        }
        try start()
    }

    deinit { server.stop() }

    package func start() throws {
        try server.start(["/usr/sbin/nats-server", "-c", folder + "/nats.conf"]) { FreePort.isTaken(port) }
    }

    /// As a power cut would end it.
    package func crash() {
        server.kill()
        while FreePort.isTaken(port) { usleep(1000) }
    }
}
