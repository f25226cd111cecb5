import Formats
import FoundationEssentials
import HTTPClientKit
import Pipeline

/// The requests to a FHIR server.
final class FHIRServer {
    enum Outcome {
        case done
        /// Another client was faster (409, 412).
        case overtaken(DeliveryError)
    }

    /// The base URL without a slash at the end.
    let base: String
    private let settings: FHIRSettings
    private var client: HTTPClient?

    init(_ settings: FHIRSettings) { (base, self.settings) = (settings.url, settings) }

    /// The number of searches in one request. An answer with this many Observations is smaller than a megabyte.
    private static let looks = 100

    // MARK: Reading

    /// Returns a resource or a Bundle, or `nil` if there is none.
    func get(_ path: String) throws(DeliveryError) -> FHIRResource? { try get(url: base + "/" + path) }

    func get(url: String) throws(DeliveryError) -> FHIRResource? {
        let answer = try send(.get, url)
        if answer.status == 404 || answer.status == 410 { return nil }
        guard answer.status == 200 else { throw Self.error(answer) }
        return try Self.resource(answer)
    }

    /// Returns the Observations and DocumentReferences for each path: one, or a search's results.
    func look(_ paths: [String]) throws(DeliveryError) -> [[FHIRResource]] {
        var found: [[FHIRResource]] = []
        for start in stride(from: 0, to: paths.count, by: Self.looks) {
            let part = paths[start..<min(start + Self.looks, paths.count)]
            let requests = part.map { JSONObject(["request": JSONObject(["method": "GET", "url": $0])]) }
            let answer = try send(.post, base, TransactionBundle.bundle("batch", requests))
            guard answer.status == 200 else { throw Self.error(answer) }
            for entry in try Self.entries(Self.resource(answer), "batch-response", count: part.count) {
                found.append(try Self.found(entry))
            }
        }
        return found
    }

    private static func found(_ entry: FHIRResource.Entry) throws(DeliveryError) -> [FHIRResource] {
        let status = status(of: entry)
        if status == 404 || status == 410 { return [] }
        guard status == 200, let resource = entry.resource else {
            throw DeliveryError(status: status, retryAfter: nil, words: "in the response to a search for stored resources")
        }
        guard resource.resourceType == "Bundle" else { return resource.isOurs ? [resource] : [] }
        // The result must be complete because a missing resource would be created again.
        guard resource.next == nil else { throw DeliveryError(.unfit, "the server has many resources with the same identifier") }
        return resource.ownResources
    }

    // MARK: Writing

    /// Executes all entries or none.
    func transact(_ bundle: TransactionBundle) throws(DeliveryError) -> Outcome {
        let answer = try send(.post, base, bundle.closed)
        if answer.status == 409 || answer.status == 412 { return .overtaken(Self.error(answer)) }
        guard answer.status == 200 else { throw Self.error(answer) }
        for entry in try Self.entries(Self.resource(answer), "transaction-response", count: bundle.count) {
            guard (200..<300).contains(Self.status(of: entry)) else {
                throw DeliveryError(.unfit, "the server stored only a part of a transaction")
            }
        }
        return .done
    }

    /// Sends a transaction without entries. Only the status counts, because servers answer it differently.
    func checkAccess() throws(DeliveryError) {
        let answer = try send(.post, base, TransactionBundle().closed)
        guard answer.isSuccess else { throw Self.error(answer) }
    }

    // MARK: Requests

    private func send(_ method: HTTPRequest.Method, _ url: String, _ body: [UInt8] = []) throws(DeliveryError) -> HTTPResponse {
        var headers = [(name: "Accept", value: "application/fhir+json")]
        if !body.isEmpty {
            headers.append((name: "Content-Type", value: "application/fhir+json"))
            headers.append((name: "Prefer", value: "return=minimal"))
        }
        if let token = settings.token { headers.append((name: "Authorization", value: "Bearer " + (try token.read()))) }
        if let user = settings.user, let password = settings.password {
            headers.append(HTTPRequest.basic(user, try password.read()))
        }
        do throws(HTTPFailure) {
            let client: HTTPClient
            if let known = self.client {
                client = known
            } else {
                client = try HTTPClient(certificateAuthority: settings.certificateAuthority)
            }
            self.client = client
            return try client.send(HTTPRequest(method, url, headers: headers, body: body))
        } catch {
            throw DeliveryError(error.isForAPerson ? .unfit : .unreachable, error.description)
        }
    }

    private static func error(_ answer: HTTPResponse) -> DeliveryError {
        let outcome = try? JSONDecoder().decode(FHIRResource.self, from: Data(answer.body))
        return DeliveryError(
            status: answer.status, retryAfter: answer.retryAfter, words: outcome.map(OperationOutcome.words) ?? "")
    }

    private static func resource(_ answer: HTTPResponse) throws(DeliveryError) -> FHIRResource {
        // The answer is incomplete or from a proxy, so the result is unknown.
        guard let resource = try? JSONDecoder().decode(FHIRResource.self, from: Data(answer.body)) else {
            throw DeliveryError(.unreachable, "the response is not a FHIR resource")
        }
        return resource
    }

    private static func entries(
        _ bundle: FHIRResource, _ type: String, count: Int
    ) throws(DeliveryError) -> [FHIRResource.Entry] {
        let entries = bundle.entry ?? []
        guard bundle.resourceType == "Bundle", bundle.type == type, entries.count == count else {
            throw DeliveryError(.unfit, "the server's response to a Bundle is not valid FHIR R4 (\(type))")
        }
        return entries
    }

    private static func status(of entry: FHIRResource.Entry) -> Int { Int((entry.response?.status ?? "").prefix(3)) ?? 0 }

    /// Closes the connection.
    func close() { client = nil }
}
