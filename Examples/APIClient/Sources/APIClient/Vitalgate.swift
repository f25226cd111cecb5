import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The API as one client sees it.
struct Vitalgate: Sendable {
    let address: URL
    let token: String

    /// What is wrong, in a sentence (RFC 9457).
    struct Problem: Error, Decodable, CustomStringConvertible {
        var detail: String
        var description: String { detail }
    }

    private struct Empty: Decodable {}

    func request(_ method: String, _ path: String, _ query: [String: String] = [:], body: Data? = nil) throws -> URLRequest {
        var parts = URLComponents(url: address.appendingPathComponent(path), resolvingAgainstBaseURL: false)
        // A + would be read as a blank.
        var allowed = CharacterSet.urlQueryAllowed
        allowed.remove(charactersIn: "+&=")
        let items = query.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
        parts?.percentEncodedQuery = items.isEmpty ? nil : items.joined(separator: "&")
        guard let url = parts?.url else { throw Problem(detail: "no address") }
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = method
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        if let body {
            request.httpBody = body
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        return request
    }

    private func answer(_ request: URLRequest) async throws -> Data {
        let (data, response) = try await URLSession.shared.data(for: request)
        if let status = (response as? HTTPURLResponse)?.statusCode, status >= 400 {
            throw try JSONDecoder().decode(Problem.self, from: data)
        }
        return data
    }

    func get<Answer: Decodable>(_ path: String, _ query: [String: String] = [:]) async throws -> Answer {
        try JSONDecoder().decode(Answer.self, from: try await answer(try request("GET", path, query)))
    }

    func post<Answer: Decodable>(_ path: String, _ body: some Encodable) async throws -> Answer {
        let request = try request("POST", path, body: try JSONEncoder().encode(body))
        return try JSONDecoder().decode(Answer.self, from: try await answer(request))
    }

    func delete(_ uuid: String) async throws { _ = try await answer(try request("DELETE", "v1/samples/\(uuid)")) }

    struct Question: Encodable {
        var read: [String]
        var write: [String]
    }

    private struct Status: Decodable { var status: String }

    /// Asks the person, and waits until they have answered; what they answered is not told.
    func requestAuthorization(read: [String], write: [String]) async throws {
        var status: Status = try await post("v1/authorization", Question(read: read, write: write))
        while status.status == "shouldRequest" {
            try await Task.sleep(for: .milliseconds(200))
            let query = ["read": read.joined(separator: ","), "write": write.joined(separator: ",")]
            status = try await get("v1/authorization/status", query)
        }
    }
}

/// An object, as far as this program looks at it.
struct Sample: Codable {
    var uuid: String?
    var type: String
    var start: String
    var value: Double?
    var unit: String?
    var metadata: Metadata?

    /// The same record again, in another version, takes the earlier one's place.
    struct Metadata: Codable {
        var syncIdentifier: String?
        var syncVersion: Double?
    }
}
