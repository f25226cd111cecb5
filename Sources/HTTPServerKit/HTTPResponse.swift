/// A response. A small body is bytes, a large one is a stream that is produced at the speed of the client.
package struct HTTPResponse {
    package enum Content {
        /// The complete body. Its length is sent.
        case bytes([UInt8])
        /// A stream of unknown length.
        case stream(any BodyStream)
    }

    /// The status code, `200` or another one of RFC 9110.
    package var status: Int
    /// The headers in order. Common headers are added to them.
    package var headers: [(name: String, value: String)] = []
    package var content: Content
    /// The delay before it is sent. It slows clients that guess tokens.
    package var delay = Duration.zero
    /// The bound for which the request was refused.
    package var bound: LoadBound?

    package init(status: Int = 200, type: String, _ bytes: [UInt8]) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .bytes(bytes)
    }

    package init(status: Int = 200, type: String, _ stream: any BodyStream) {
        self.status = status
        headers = [("Content-Type", type)]
        content = .stream(stream)
    }

    /// Creates a response without a body.
    package init(status: Int, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
        content = .bytes([])
    }
}

/// An error response: a problem object of RFC 9457. Its text reveals nothing about hidden data and repeats no values.
package struct Problem: Error, Hashable, Sendable {
    /// The status code, 400 or more.
    package var status: Int
    /// A sentence for the user.
    package var detail: String
    /// Additional headers, such as `Allow`.
    package var headers: [String: String]

    /// The delay before it is sent.
    package var delay = Duration.zero
    /// The bound for which the request is refused. The server counts it.
    package var bound: LoadBound?

    /// Creates a problem for a request whose share of a bound is used up.
    package init(_ status: Int, _ detail: String, bound: LoadBound) {
        self.init(status, detail, headers: ["Retry-After": "1"])
        self.bound = bound
    }

    /// - Parameter detail: A sentence for the user. It is cut if it is long, because it may repeat a part of the request.
    package init(_ status: Int, _ detail: String, headers: [String: String] = [:]) {
        (self.status, self.headers) = (status, headers)
        let isLong = detail.utf8.count > Self.maximumLength
        self.detail = isLong ? String(detail.unicodeScalars.prefix(Self.maximumLength / 4)) + "…" : detail
    }

    /// The maximum length of a detail in bytes. A list of all types is shorter.
    private static let maximumLength = 8192

    /// The name of the status in RFC 9110.
    package var title: String {
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
    package var response: HTTPResponse {
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
