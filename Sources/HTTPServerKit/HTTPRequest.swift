/// The head of a request.
public struct RequestHead: Sendable {
    /// The method in its original case, such as `GET`.
    public let method: String
    /// The decoded parts of the path between its slashes. It is empty for `/`.
    public let path: [String]
    /// The query parameters in order.
    public let query: [QueryItem]
    /// The headers in order, with names in lower case.
    public let headers: [(name: String, value: String)]
    /// The client's address, or empty over a Unix socket.
    public var peer = ""

    /// A query parameter, `name=value`.
    public struct QueryItem: Hashable, Sendable {
        /// The decoded name.
        public let name: String
        /// The decoded value, or empty if there is none.
        public let value: String
    }

    /// Returns the first value of a header, or `nil` if there is none.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether the method only reads.
    public var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

    /// Whether the request has a body.
    var hasBody: Bool { header("transfer-encoding") != nil || (header("content-length").map { $0 != "0" } ?? false) }

    /// The token of `Authorization: Bearer …`, or `nil` if there is none.
    public var bearer: String? {
        guard let value = header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}

/// A complete request.
public struct HTTPRequest: Sendable {
    /// The head of the request.
    public let head: RequestHead
    /// The body, within the limit that the handler allows.
    public let body: [UInt8]
    /// The body in a file, if the handler asked for that. ``body`` is then empty.
    public var file: SpooledBody?
}

extension HTTPRequest {
    /// Returns the fields of a form body (`application/x-www-form-urlencoded`).
    ///
    /// - Throws: ``Problem`` if the body is not a form.
    public func form() throws(Problem) -> [RequestHead.QueryItem] {
        guard let text = String(validating: body, as: UTF8.self) else { throw Problem(400, "The form is not valid UTF-8.") }
        return try RequestTarget("/?" + text).query
    }
}
