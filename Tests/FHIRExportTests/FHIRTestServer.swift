import ExportTesting
import FoundationEssentials
import Glibc
import HTTPClientKit
import Testing

@testable import FHIRExport

/// The endpoint of fhir_server.py as a child.
final class FHIRTestServer {
    private let server: ServerProcess
    let port: UInt16
    var url: String { "http://127.0.0.1:\(port)/fhir" }

    init(_ ids: ObservationEncoder.IDs, file: String = #filePath) throws {
        server = try ServerProcess()
        let port = FreePort.find()
        self.port = port
        let script = URL(filePath: file).deletingLastPathComponent().appending(path: "fhir_server.py").path
        try server.start(["/usr/bin/python3", script, ids.rawValue, "\(port)"]) { FreePort.isTaken(port) }
    }

    deinit { server.stop() }

    /// What the next transactions come to.
    func tell(_ json: String) throws {
        let answer = try HTTPClient().send(HTTPRequest(.post, "http://127.0.0.1:\(port)/test", body: Array(json.utf8)))
        #expect(answer.status == 200)
    }

    /// An Observation or a Device as it is there.
    struct Resource: Decodable {
        struct Text: Decodable { var value: String? }
        struct Quantity: Decodable { var value: Double }
        struct Component: Decodable { var valueQuantity: Quantity? }
        struct Reference: Decodable {
            struct Identifier: Decodable { var value: String }
            var reference: String?
            var identifier: Identifier?
        }
        struct Extension: Decodable { var valueReference: Reference? }
        var resourceType: String
        var id: String
        var status: String?
        var identifier: [Text]?
        var valueQuantity: Quantity?
        var component: [Component]?
        var device: Reference?
        var `extension`: [Extension]?
    }

    private struct State: Decodable { var resources: [Resource] }

    /// The resources of a type.
    func resources(_ kind: String) throws -> [Resource] {
        var octets: [UInt8] = []
        _ = try HTTPClient().send(HTTPRequest(.get, "http://127.0.0.1:\(port)/test")) {
            octets += $0
            return true
        }
        return try JSONDecoder().decode(State.self, from: Data(octets)).resources.filter { $0.resourceType == kind }
    }

    func live() throws -> [Resource] { try resources("Observation").filter { $0.status != "entered-in-error" } }
}
