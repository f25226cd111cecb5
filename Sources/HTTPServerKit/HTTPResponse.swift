/// An answer: small ones are octets, large ones are pulled piece by piece as the reader takes them.
public struct HTTPResponse {
    /// What an answer consists of.
    public enum Content {
        /// All of it, with its length.
        case octets([UInt8])
        /// Pulled; of unknown length.
        case stream(any BodyStream)
    }

    /// `200` and others of RFC 9110.
    public var status: Int
    /// In order; those that all answers have are added to them.
    public var headers: [(name: String, value: String)] = []
    /// The body.
    public var content: Content
    /// Until it is sent: whoever guesses is slowed.
    public var delay = Duration.zero

    /// An answer of octets.
    public init(status: Int = 200, type: String, _ octets: [UInt8]) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .octets(octets)
    }

    /// An answer that is pulled.
    public init(status: Int = 200, type: String, _ stream: any BodyStream) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .stream(stream)
    }

    /// An answer without a body.
    public init(status: Int, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
        content = .octets([])
    }
}

/// Why a request has no other answer: an object of RFC 9457. Its text says nothing of what is hidden, and repeats no values.
public struct Problem: Error, Hashable, Sendable {
    /// A status of 400 or more.
    public var status: Int
    /// A sentence for a person.
    public var detail: String
    /// What is sent beside it, such as `Allow`.
    public var headers: [String: String]

    /// Until it is said.
    public var delay = Duration.zero

    /// A problem of this status.
    public init(_ status: Int, _ detail: String, headers: [String: String] = [:]) {
        (self.status, self.detail, self.headers) = (status, detail, headers)
    }

    /// What the status is called in RFC 9110.
    public var title: String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: status < 500 ? "Client Error" : "Internal Server Error"
        }
    }

    /// The answer, `application/problem+json`.
    public var response: HTTPResponse {
        let text = "{\"type\":\"about:blank\",\"title\":\"\(title)\",\"status\":\(status),\"detail\":\"\(escaped)\"}\n"
        var response = HTTPResponse(status: status, type: "application/problem+json", Array(text.utf8))
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.headers.append((name, value)) }
        response.delay = delay
        return response
    }

    private var escaped: String {
        var text = ""
        for scalar in detail.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.value < 0x20: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
