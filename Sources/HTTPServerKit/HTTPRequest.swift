/// What a request says before its body.
public struct RequestHead: Sendable {
    /// `GET`, in capitals as it came.
    public let method: String
    /// The parts of the path between its slashes, decoded; none of `/`.
    public let path: [String]
    /// What stands behind the `?`, in order.
    public let query: [QueryItem]
    /// Names in lower case, in order.
    public let headers: [(name: String, value: String)]
    /// The address that it came from; empty over a Unix socket.
    public var peer = ""

    /// One `name=value`.
    public struct QueryItem: Hashable, Sendable {
        /// Decoded.
        public let name: String
        /// Decoded; empty where there is none.
        public let value: String
    }

    /// The value of a header that comes once; `nil` where there is none. Of several the first.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether it asks for something and changes nothing.
    public var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

    /// Whether a body comes with it.
    var hasBody: Bool { header("transfer-encoding") != nil || (header("content-length").map { $0 != "0" } ?? false) }

    /// The token of `Authorization: Bearer …`; `nil` where there is none.
    public var bearer: String? {
        guard let value = header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}

/// A request whole.
public struct HTTPRequest: Sendable {
    /// What came before the body.
    public let head: RequestHead
    /// The body, within the bound that was given for it.
    public let body: [UInt8]
}

extension HTTPRequest {
    /// The body of a form (`application/x-www-form-urlencoded`).
    ///
    /// - Throws: ``Problem`` where it is none.
    public func form() throws(Problem) -> [RequestHead.QueryItem] {
        guard let text = String(validating: body, as: UTF8.self) else { throw Problem(400, "the form is not UTF-8") }
        return try RequestTarget("/?" + text).query
    }
}
