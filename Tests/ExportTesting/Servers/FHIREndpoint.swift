import FoundationEssentials

/// The endpoint of fhir_server.py, which keeps to FHIR's protocol and fails on purpose.
package final class FHIREndpoint {
    private let server: ServerProcess
    package let port: UInt16
    package var url: String { "http://127.0.0.1:\(port)/fhir" }

    /// - Parameter givesNames: whether it names resources itself.
    package init(givesNames: Bool) throws {
        server = try ServerProcess()
        let port = FreePort.find()
        self.port = port
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "fhir_server.py").path
        try server.start(["/usr/bin/python3", script, givesNames ? "server" : "client", "\(port)"]) { FreePort.isTaken(port) }
    }

    deinit { server.stop() }
}
