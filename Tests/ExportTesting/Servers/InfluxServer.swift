import FoundationEssentials
import Glibc
import HTTPClientKit

/// Debian's InfluxDB, of version 1, with its things in a temporary folder.
package final class InfluxServer: Sendable {
    /// One server for all tests. Each test has its own database.
    package static let shared: Result<InfluxServer, any Error> = Result { try InfluxServer() }

    private let server: ServerProcess
    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }

    package init(needsPassword: Bool = false) throws {
        server = try ServerProcess()
        port = FreePort.find()
        let folder = server.folder
        let text = """
            reporting-disabled = true
            bind-address = "127.0.0.1:\(FreePort.find())"
            [meta]
              dir = "\(folder)/meta"
            [data]
              dir = "\(folder)/data"
              wal-dir = "\(folder)/wal"
              series-id-set-cache-size = 0
            [http]
              bind-address = "127.0.0.1:\(port)"
              auth-enabled = \(needsPassword)
              log-enabled = false
            [monitor]
              store-enabled = false
            """
        try Data(text.utf8).write(to: URL(filePath: folder + "/influxdb.conf"))
        guard access("/usr/bin/influxd", X_OK) == 0 else {
            throw ServerProcess.Failure("Debian's package influxdb is not there: scripts/setup test")
        }
        try start()
    }

    package func start() throws {
        try server.start(["/usr/bin/influxd", "-config", server.folder + "/influxdb.conf"]) {
            (try? HTTPClient().send(HTTPRequest(.get, url + "/ping")))?.status == 204
        }
    }

    package func crash() { server.kill() }
    package func stop() { server.stop() }

    package func query(_ text: String, in database: String = "", _ header: (name: String, value: String)? = nil) throws -> String
    {
        let response = try HTTPClient().send(
            HTTPRequest(
                .post, "\(url)/query?db=\(database)",
                headers: [("Content-Type", "application/x-www-form-urlencoded")] + (header.map { [$0] } ?? []),
                body: Array("q=\(HTTPRequest.escaped(text))".utf8)))
        return String(decoding: response.body, as: UTF8.self)
    }
}
