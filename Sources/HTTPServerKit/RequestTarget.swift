/// The target of a request (RFC 9112, section 3.2). Only the origin form is accepted, because the server is not a proxy.
struct RequestTarget {
    let path: [String]
    let query: [RequestHead.QueryItem]

    /// - Throws: ``Problem`` if it is not a path, contains an encoded slash or a dot segment, or is not UTF-8.
    init(_ text: String) throws(Problem) {
        guard text.utf8.first == UInt8(ascii: "/") else { throw Self.malformed("it must begin with /") }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let decoded = Self.decoded(part, plusIsBlank: false), !decoded.utf8.contains(UInt8(ascii: "/")),
                decoded != ".", decoded != "..", !decoded.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else { throw Self.malformed("a path segment is not valid") }
            path.append(decoded)
        }
        self.path = path == [""] ? [] : path
        var query: [RequestHead.QueryItem] = []
        for item in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0], plusIsBlank: true),
                let value = sides.count > 1 ? Self.decoded(sides[1], plusIsBlank: true) : ""
            else { throw Self.malformed("a parameter is not percent-encoded UTF-8") }
            query.append(RequestHead.QueryItem(name: name, value: value))
        }
        self.query = query
    }

    private static func malformed(_ reason: String) -> Problem { Problem(400, "The request target is malformed: \(reason).") }

    private static func decoded(_ text: Substring, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } }
}
