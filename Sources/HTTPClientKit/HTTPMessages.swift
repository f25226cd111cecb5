import CCurl

package struct HTTPRequest: Sendable {
    /// The methods of RFC 9110 that are used.
    package enum Method: String, Sendable {
        case get = "GET"
        /// Submits data.
        case post = "POST"
        /// Creates or replaces.
        case put = "PUT"
    }

    package var method: Method
    /// The complete URL, `http://` or `https://`.
    package var url: String
    /// The headers in order. `Content-Length` and `Host` are added automatically.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Whether the response may take long. It then only times out if no bytes arrive.
    package var isLong: Bool

    package init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [], isLong: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body, self.isLong) = (method, url, headers, body, isLong)
    }

    /// Returns the `Authorization` header for a name and a password (RFC 7617).
    package static func basic(_ user: String, _ password: String) -> (name: String, value: String) {
        ("Authorization", "Basic " + Base64.text(Array("\(user):\(password)".utf8)))
    }

    /// Percent-encodes a text for a query.
    package static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return escaped
    }
}

package struct HTTPResponse: Sendable {
    /// The status code, such as 200.
    package var status: Int
    /// The headers, with names in lower case.
    package var headers: [String: String]
    /// The body, up to ``HTTPClient/maximumAnswerLength``.
    package var body: [UInt8]

    /// Whether the status is 200 to 299.
    package var isSuccess: Bool { (200..<300).contains(status) }
    /// The seconds in `Retry-After`, or `nil` if it is missing or a date.
    package var retryAfter: Int? { headers["retry-after"].flatMap { Int($0) } }

    /// Returns the headers of the last head, if there are several, for example after a 100.
    package static func headers(of head: [UInt8]) -> [String: String] {
        var headers: [String: String] = [:]
        for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("HTTP/") { headers.removeAll() }
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers[line[..<colon].lowercased()] = String(value)
        }
        return headers
    }
}

/// The reason why there was no response.
package struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The server cannot be reached, the connection broke, or the time was over.
        case unreachable
        /// The server's certificate is not trusted.
        case untrusted
        case address
        case other
    }

    package let kind: Kind
    package let description: String
    /// Whether a retry cannot help, because the address is invalid or the server is not trusted.
    package var isForAPerson: Bool { kind == .untrusted || kind == .address }

    init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }

    init(_ code: CURLcode) {
        description = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            kind = .untrusted
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: kind = .address
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT: kind = .other
        default: kind = .unreachable
        }
    }
}
