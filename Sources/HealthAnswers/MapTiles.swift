import Glibc

/// A server of map tiles, which the owner of the hub chose.
package struct MapTiles: Hashable, Sendable {
    /// The server's scheme, host, and port, such as `https://tiles.example.org`.
    package let origin: String
    /// The text that the server's operator requires beside the map.
    package let attribution: String
    private let template: String

    /// The maximum lengths in bytes.
    package static let maximumLength = (url: 500, attribution: 200)

    /// Returns `nil` if a text is not valid.
    ///
    /// - Parameters:
    ///   - url: The address of a tile, with `{z}`, `{x}`, and `{y}` once each in its path or query. It begins with `https://`, or with
    ///     `http://` for a host in the local network.
    ///   - attribution: A text in one line.
    package init?(url: String, attribution: String) {
        let scheme = ["https://", "http://"].first { url.hasPrefix($0) }
        guard let scheme, url.utf8.count <= Self.maximumLength.url, url.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        guard let host = Self.host(of: authority), scheme == "https://" || Self.isLocal(host) else { return nil }
        var path = String(rest.dropFirst(authority.count))
        for name in ["{z}", "{x}", "{y}"] {
            let parts = path.split(separator: name, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            path = parts.joined()
        }
        guard !path.contains("{"), !path.contains("}") else { return nil }
        guard (1...Self.maximumLength.attribution).contains(attribution.utf8.count),
            !attribution.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else { return nil }
        (origin, self.attribution, template) = (scheme + authority, attribution, url)
    }

    package func address(zoom: Int, column: Int, row: Int) -> String {
        var address = template
        for (name, number) in [("{z}", zoom), ("{x}", column), ("{y}", row)] {
            address = address.split(separator: name, omittingEmptySubsequences: false).joined(separator: "\(number)")
        }
        return address
    }

    /// Whether a byte may be in an address (RFC 3986, without a fragment), or marks a number. Commas and semicolons would end a source
    /// in a Content-Security-Policy.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ":/?[]{}@!$&()+=-._~%".utf8.contains(byte)
        }
    }

    /// The host of an authority with an optional port, in lower case and without brackets.
    private static func host(of authority: Substring) -> String? {
        var (name, port): (Substring, Substring?) = (authority, nil)
        let colon = authority.hasPrefix("[") ? authority.firstRange(of: "]:")?.lowerBound : authority.firstIndex(of: ":")
        if let colon {
            let end = authority.hasPrefix("[") ? authority.index(after: colon) : colon
            (name, port) = (authority[..<end], authority[authority.index(after: end)...])
        }
        if let port {
            guard (1...5).contains(port.count), port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port),
                (1...65_535).contains(number)
            else { return nil }
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            let literal = String(name.dropFirst().dropLast())
            return bytes(of: literal, AF_INET6, 16) == nil ? nil : literal.lowercased()
        }
        let host = name.lowercased()
        let isName = host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { byte in
                    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (0x30...0x39).contains(byte)
                        || byte == UInt8(ascii: "-")
                }
        }
        return isName ? host : nil
    }

    /// Whether a host is this machine or in the local network: a private or link-local address, or a name without a place in the public
    /// DNS.
    private static func isLocal(_ host: String) -> Bool {
        if let address = bytes(of: host, AF_INET, 4) {
            switch (address[0], address[1]) {
            case (10, _), (127, _), (192, 168), (172, 16...31), (169, 254): return true
            default: return false
            }
        }
        if let address = bytes(of: host, AF_INET6, 16) {
            let isLoopback = address.dropLast().allSatisfy { $0 == 0 } && address[15] == 1
            return isLoopback || address[0] & 0xFE == 0xFC || (address[0] == 0xFE && address[1] & 0xC0 == 0x80)
        }
        // RFC 6761, 6762, and 8375, and the names that routers give.
        let isSingle = !host.contains(".") && host.utf8.contains { $0 > 0x39 }
        return isSingle || [".local", ".lan", ".home.arpa", ".localhost"].contains { host.hasSuffix($0) }
    }

    private static func bytes(of text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}
