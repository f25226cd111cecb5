import CCurl

/// What is asked of a server.
public struct HTTPRequest: Sendable {
    /// RFC 9110's, as far as they are used.
    public enum Method: String, Sendable {
        /// Asks.
        case get = "GET"
        /// Hands over.
        case post = "POST"
        /// Puts there, whatever was there.
        case put = "PUT"
        /// Takes away.
        case delete = "DELETE"
    }

    /// What is to be done.
    public var method: Method
    /// `http://` or `https://`, whole.
    public var url: String
    /// In this order; `Content-Length` and `Host` come by themselves.
    public var headers: [(name: String, value: String)]
    /// Octets.
    public var body: [UInt8]
    /// Whether the answer may take long, as long as something comes.
    public var isLong: Bool

    /// A request by its parts.
    public init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [], isLong: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body, self.isLong) = (method, url, headers, body, isLong)
    }

    /// `Authorization` of a name and a password (RFC 7617).
    public static func basic(_ user: String, _ password: String) -> (name: String, value: String) {
        ("Authorization", "Basic " + Base64.text(Array("\(user):\(password)".utf8)))
    }

    /// A text as a part of a query.
    public static func escaped(_ text: String) -> String {
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

/// What a server answers.
public struct HTTPResponse: Sendable {
    /// 200 and so on.
    public var status: Int
    /// Names in small letters.
    public var headers: [String: String]
    /// At most ``HTTPClient/longestAnswer`` of it.
    public var body: [UInt8]

    /// Whether it was done: 200 to 299.
    public var isSuccess: Bool { (200..<300).contains(status) }
    /// Seconds of `Retry-After`, where it has them; a date is none.
    public var retryAfter: Int? { headers["retry-after"].flatMap { Int($0) } }

    /// Of the last of several heads, as behind a 100.
    static func headers(of head: [UInt8]) -> [String: String] {
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

/// Why there was no answer.
public struct HTTPFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is to be done about it.
    public enum Kind: Hashable, Sendable {
        /// Nobody is there, or the line broke, or it took too long.
        case unreachable
        /// It does not show that it is who it says.
        case untrusted
        /// The address is none.
        case address
        /// The machine's own.
        case other
    }

    /// What is to be done.
    public let kind: Kind
    /// For a person.
    public let description: String
    /// Whether trying again helps nothing: the address is none, or the server is not who it has to be.
    public var isForAPerson: Bool { kind == .untrusted || kind == .address }

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
