import HTTPServerKit

struct RequestBody: Sendable {
    /// The accepted formats, by `Content-Type`.
    let forms: [AnswerForm]
    /// The maximum size in bytes.
    let maximum: Int
    let schema: String
    /// The schema of a body in any other format.
    var text = "{\"type\":\"string\"}"
    /// Whether the body can be large, so that it is kept in a file.
    var isSpooled = false
}

/// A route of the API. The routing and the OpenAPI document are both generated from it.
struct Route: Sendable {
    enum Right: Sendable {
        case none
        /// A client's token. The client sees only the data that it may read.
        case read
    }

    let method: String
    /// The path, such as `/v1/samples/{uuid}`.
    let path: String
    /// The operation id for generated clients.
    let name: String
    let summary: String
    var discussion = ""
    var right = Right.read
    var parameters: [Parameter] = []
    /// The request's body, or `nil` if the route accepts none.
    var body: RequestBody?
    /// Whether the route changes data. It then runs on the writer's queue.
    var isWriting = false
    /// Whether the route may read much data before the first byte of the answer. It then runs on a separate queue.
    var isSlow = false
    /// A parameter that makes the route slow.
    var slowParameter: String?
    /// The formats of the answer. It is empty if the answer has no body.
    let answers: [AnswerForm]
    /// The name of the list in a JSON answer.
    var key: String?
    /// The schema of an item in the list.
    var item = "{\"type\":\"object\"}"
    /// The operations that accept the UUID of the answer's first item.
    var links: [String] = []
    /// The error statuses in addition to those of all routes.
    var problems: [Int] = []
    /// Whether the token may be in the header `X-API-Key`.
    var acceptsKeyHeader = false
    let answer: @Sendable (Call) throws -> HTTPResponse

    var parts: [Substring] { path.split(separator: "/") }

    /// All parameters, including the one for the format if there is a choice. Original files are always returned in their own
    /// format.
    var allParameters: [Parameter] { answers.count > 1 && answers[0] != .resource ? parameters + [.format(answers)] : parameters }

    var status: Int { answers.isEmpty ? 204 : 200 }

    /// The values of the path's parameters by name, or `nil` if the path does not match.
    func variables(of path: [String]) -> [String: String]? {
        let parts = parts
        guard parts.count == path.count else { return nil }
        var found: [String: String] = [:]
        for (part, given) in zip(parts, path) {
            if part.hasPrefix("{") { found[String(part.dropFirst().dropLast())] = given } else if part != given { return nil }
        }
        return found
    }
}
