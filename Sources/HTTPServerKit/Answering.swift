/// What all answers have in common.
enum Answering {
    /// For every answer: nothing of it is kept by others, taken for something else, or shown within another site's page.
    private static let headers: [(name: String, value: String)] = [
        ("Cache-Control", "private, no-cache"), ("Vary", "Authorization, Accept, Accept-Encoding"),
        ("X-Content-Type-Options", "nosniff"), ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// The answer with what it has in common with others, and without its body where the reader has that already.
    static func finished(_ response: HTTPResponse, to head: RequestHead?) -> HTTPResponse {
        var response = response
        for header in headers where !response.headers.contains(where: { $0.name.lowercased() == header.name.lowercased() }) {
            response.headers.append(header)
        }
        guard let head, head.method == "GET" || head.method == "HEAD", response.status == 200,
            case .octets(let octets) = response.content
        else { return response }
        // Of the octets themselves: what a reader may not see cannot change it.
        let own = response.headers.first { $0.name == "ETag" }?.value
        let tag = own ?? "W/\"\(tag(octets))\""
        if own == nil { response.headers.append(("ETag", tag)) }
        guard matches(head.header("if-none-match"), tag) else { return response }
        response.status = 304
        response.content = .octets([])
        response.headers.removeAll { $0.name == "Content-Type" }
        return response
    }

    /// Another after each start of the program: it says only whether octets are the same.
    private static func tag(_ octets: [UInt8]) -> String {
        var hasher = Hasher()
        hasher.combine(octets)
        return String(UInt(bitPattern: hasher.finalize()), radix: 16)
    }

    /// A tag that says that octets are the same also when they are packed: packed they have one of their own.
    static func packed(_ tag: String) -> String {
        tag.hasPrefix("\"") && tag.hasSuffix("\"") ? String(tag.dropLast()) + packing + "\"" : tag
    }

    private static let packing = "-gzip"

    /// RFC 9110, section 13.1.2: by weak comparison.
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
