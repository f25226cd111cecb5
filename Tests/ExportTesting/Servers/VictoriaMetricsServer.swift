import Glibc
import HTTPClientKit

/// Debian's VictoriaMetrics, which accepts InfluxDB's points and answers none of its queries.
package final class VictoriaMetricsServer: Sendable {
    private static let program = "/usr/bin/victoria-metrics"
    private let server: ServerProcess
    private let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)" }

    package init() throws {
        server = try ServerProcess()
        port = FreePort.find()
        guard access(Self.program, X_OK) == 0 else {
            throw ServerProcess.Failure("Debian's package victoria-metrics is not there: scripts/setup test")
        }
        let options = [
            "-storageDataPath=\(server.folder)/data", "-httpListenAddr=127.0.0.1:\(port)", "-retentionPeriod=100y",
            "-memory.allowedBytes=100MB", "-loggerLevel=ERROR",
        ]
        try server.start([Self.program] + options) {
            (try? HTTPClient().send(HTTPRequest(.get, url + "/health")))?.status == 200
        }
    }

    deinit { server.stop() }
}
