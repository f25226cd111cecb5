package struct RequestHead: Sendable {
    /// The method in its original case, such as `GET`.
    package let method: String
    /// The decoded parts of the path between its slashes. It is empty for `/`.
    package let path: [String]
    package let query: [QueryItem]
    /// The headers in order, with names in lower case.
    package let headers: [(name: String, value: String)]
    /// The client's address, or empty over a Unix socket.
    package var peer = ""
    /// The address at which the browser sees the server, if the trusted proxy sent the request.
    package var proxied: ProxiedAddress?

    /// A query parameter, `name=value`.
    package struct QueryItem: Hashable, Sendable {
        package let name: String
        /// The decoded value, or empty if there is none.
        package let value: String
    }

    /// Returns the first value of a header, or `nil` if there is none.
    package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Whether the method only reads.
    package var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

    var hasBody: Bool { header("transfer-encoding") != nil || (header("content-length").map { $0 != "0" } ?? false) }

    /// The token of `Authorization: Bearer …`, or `nil` if there is none.
    package var bearer: String? {
        guard let value = header("authorization") else { return nil }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }
}

package struct HTTPRequest: Sendable {
    package let head: RequestHead
    /// The body, within the limit that the handler allows.
    package let body: [UInt8]
    /// The body in a file, if the handler asked for that. ``body`` is then empty.
    package var file: SpooledBody?
}

extension HTTPRequest {
    /// Returns the fields of a form body (`application/x-www-form-urlencoded`).
    ///
    /// - Throws: ``Problem`` if the body is not a form.
    package func form() throws(Problem) -> [RequestHead.QueryItem] {
        guard let text = String(validating: body, as: UTF8.self) else { throw Problem(400, "The form is not valid UTF-8.") }
        return try RequestTarget("/?" + text).query
    }
}
