import HTTPServerKit

/// What is sent with a request.
struct RequestBody: Sendable {
    /// What it may be written in, by its `Content-Type`.
    let forms: [AnswerForm]
    /// Octets.
    let most: Int
    /// Of JSON, a schema.
    let schema: String
    /// Of any other form, a schema.
    var text = "{\"type\":\"string\"}"
}

/// What can be asked: one declaration, of which the routing and the document are made.
struct Route: Sendable {
    /// What it takes to ask.
    enum Right: Sendable {
        /// Nothing.
        case none
        /// A client's token; what it may read decides what is there.
        case read
    }

    let method: String
    /// `/v1/samples/{uuid}`.
    let path: String
    /// For programs that are made of the document.
    let name: String
    let summary: String
    var discussion = ""
    var right = Right.read
    var parameters: [Parameter] = []
    /// What is sent with it; nothing where it is nil.
    var body: RequestBody?
    /// Whether it changes something, and so waits for whoever else writes.
    var isWriting = false
    /// Whether much may have to be read before the first octet is there: what is quick waits for none of that.
    var isSlow = false
    /// A parameter with which that is so.
    var slowParameter: String?
    /// None where it says nothing.
    let answers: [AnswerForm]
    /// What a single thing of the answer is, and what an object of JSON has it under.
    var key: String?
    /// The schema of what the list has.
    var item = "{\"type\":\"object\"}"
    /// Routes that may be asked next for the first of the list.
    var links: [String] = []
    /// Beside those that any route has.
    var problems: [Int] = []
    let answer: @Sendable (Call) throws -> HTTPResponse

    /// The parts of the path.
    var parts: [Substring] { path.split(separator: "/") }

    /// All parameters, with the one of the form where there is a choice. What came decides of what is given as it came.
    var allParameters: [Parameter] { answers.count > 1 && answers[0] != .resource ? parameters + [.format(answers)] : parameters }

    /// Of an answer that is no problem.
    var status: Int { answers.isEmpty ? 204 : 200 }

    /// What the path says, by name; `nil` where it is another path.
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
