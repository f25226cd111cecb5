/// Headers and validators that all responses share.
enum Answering {
    /// Headers of every response. They keep it from being cached without revalidation, sniffed for another type, or embedded in another
    /// site.
    private static let headers: [(name: String, value: String)] = [
        ("Cache-Control", "private, no-cache"), ("Vary", "Authorization, Accept, Accept-Encoding"),
        ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// Returns the response with the common headers. If the client has the body already, the result is a 304 without it.
    static func finished(_ response: HTTPResponse, to head: RequestHead?) -> HTTPResponse {
        var response = response
        for header in headers where !response.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
            response.headers.append(header)
        }
        guard let head, head.method == "GET" || head.method == "HEAD", response.status == 200,
            case .bytes(let bytes) = response.content
        else { return response }
        // The tag depends only on the bytes sent, so hidden data cannot change it.
        let own = response.headers.first { $0.name == "ETag" }?.value
        let tag = own ?? "W/\"\(tag(bytes))\""
        if own == nil { response.headers.append(("ETag", tag)) }
        guard matches(head.header("if-none-match"), tag) else { return response }
        response.status = 304
        response.content = .bytes([])
        response.headers.removeAll { $0.name == "Content-Type" }
        return response
    }

    /// A hash that differs after each start of the program. It only shows whether two bodies are equal.
    private static func tag(_ bytes: [UInt8]) -> String {
        var hasher = Hasher()
        hasher.combine(bytes)
        return String(UInt(bitPattern: hasher.finalize()), radix: 16)
    }

    /// Returns the entity tag of the gzip-compressed body. A strong tag gets a suffix, because the compressed bytes differ.
    static func packed(_ tag: String) -> String {
        tag.hasPrefix("\"") && tag.hasSuffix("\"") ? String(tag.dropLast()) + packing + "\"" : tag
    }

    private static let packing = "-gzip"

    /// Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110, section 13.1.2).
    static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        if header == "*" { return true }
        func opaque(_ tag: Substring) -> Substring {
            let tag = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            return tag.hasSuffix(packing + "\"") ? tag.dropLast(packing.count + 1) + "\"" : tag
        }
        return header.split(separator: ",").contains { part in
            opaque(part.drop { $0 == " " || $0 == "\t" }).prefix { $0 != " " } == opaque(tag[...])
        }
    }
}
