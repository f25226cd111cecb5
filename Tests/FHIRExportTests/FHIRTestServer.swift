import ExportTesting
import FoundationEssentials
import HTTPClientKit
import Testing

@testable import FHIRExport

/// The endpoint that fails on purpose, with its content.
final class FHIRTestServer {
    private let endpoint: FHIREndpoint
    var port: UInt16 { endpoint.port }
    var url: String { endpoint.url }

    init(_ ids: ObservationEncoder.IDs) throws { endpoint = try FHIREndpoint(givesNames: ids == .server) }

    /// The results of the next transactions.
    func respond(_ json: String) throws {
        let answer = try HTTPClient().send(HTTPRequest(.post, "http://127.0.0.1:\(port)/test", body: Array(json.utf8)))
        #expect(answer.status == 200)
    }

    /// An Observation or a Device on the server.
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
        struct Attachment: Decodable {
            var contentType: String
            var data: String?
            var size: Int?
        }
        struct Content: Decodable { var attachment: Attachment }
        var status: String?
        var content: [Content]?
        var identifier: [Text]?
        var valueQuantity: Quantity?
        var component: [Component]?
        var device: Reference?
        var `extension`: [Extension]?
    }

    private struct State: Decodable { var resources: [Resource] }

    /// The resources of a type.
    func resources(_ kind: String) throws -> [Resource] {
        var bytes: [UInt8] = []
        _ = try HTTPClient().send(HTTPRequest(.get, "http://127.0.0.1:\(port)/test")) {
            bytes += $0
            return true
        }
        return try JSONDecoder().decode(State.self, from: Data(bytes)).resources.filter { $0.resourceType == kind }
    }

    func live() throws -> [Resource] { try resources("Observation").filter { $0.status != "entered-in-error" } }
}
