/// A response. A small body is bytes, a large one is a stream that is produced at the speed of the client.
public struct HTTPResponse {
    /// The body of a response.
    public enum Content {
        /// The complete body. Its length is sent.
        case bytes([UInt8])
        /// A stream of unknown length.
        case stream(any BodyStream)
    }

    /// The status code, `200` or another one of RFC 9110.
    public var status: Int
    /// The headers in order. Common headers are added to them.
    public var headers: [(name: String, value: String)] = []
    /// The body.
    public var content: Content
    /// The delay before it is sent. It slows clients that guess tokens.
    public var delay = Duration.zero
    /// The bound for which the request was refused.
    public var bound: LoadBound?

    /// Creates a response with bytes.
    public init(status: Int = 200, type: String, _ bytes: [UInt8]) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .bytes(bytes)
    }

    /// Creates a response with a stream.
    public init(status: Int = 200, type: String, _ stream: any BodyStream) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .stream(stream)
    }

    /// Creates a response without a body.
    public init(status: Int, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
        content = .bytes([])
    }
}

/// An error response: a problem object of RFC 9457. Its text reveals nothing about hidden data and repeats no values.
public struct Problem: Error, Hashable, Sendable {
    /// The status code, 400 or more.
    public var status: Int
    /// A sentence for the user.
    public var detail: String
    /// Additional headers, such as `Allow`.
    public var headers: [String: String]

    /// The delay before it is sent.
    public var delay = Duration.zero
    /// The bound for which the request is refused. The server counts it.
    public var bound: LoadBound?

    /// Creates a problem for a request whose share of a bound is used up.
    public init(_ status: Int, _ detail: String, bound: LoadBound) {
        self.init(status, detail, headers: ["Retry-After": "1"])
        self.bound = bound
    }

    /// Creates a problem with this status.
    public init(_ status: Int, _ detail: String, headers: [String: String] = [:]) {
        (self.status, self.detail, self.headers) = (status, detail, headers)
    }

    /// The name of the status in RFC 9110.
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

    /// The response, of type `application/problem+json`.
    public var response: HTTPResponse {
        let text = "{\"type\":\"about:blank\",\"title\":\"\(title)\",\"status\":\(status),\"detail\":\"\(escaped)\"}\n"
        var response = HTTPResponse(status: status, type: "application/problem+json", Array(text.utf8))
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.headers.append((name, value)) }
        (response.delay, response.bound) = (delay, bound)
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
