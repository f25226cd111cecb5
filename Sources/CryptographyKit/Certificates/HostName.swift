import Glibc

/// A subject name of a certificate: a DNS name or an IP address.
package enum HostName: Hashable, Sendable, CustomStringConvertible {
    case name(String)
    /// 4 or 16 bytes.
    case address([UInt8])

    /// Parses a name or an address, or returns `nil` for other texts. A name has only letters, digits, dashes and dots (RFC 1123), so it
    /// contains no syntax of OpenSSL's configuration.
    package init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self = .address(Array(bytes[..<4]))
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self = .address(bytes)
        } else {
            let labels = text.split(separator: ".", omittingEmptySubsequences: false)
            let isName =
                text.utf8.count <= 253
                && labels.allSatisfy { label in
                    (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                        && label.utf8.allSatisfy {
                            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 || 0x30...0x39 ~= $0 || $0 == 0x2D
                        }
                }
            // Four numbers that are not an address are not a name either.
            guard isName, labels.last?.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) == false else { return nil }
            self = .name(text.lowercased())
        }
    }

    package var description: String {
        switch self {
        case .name(let name): return name
        case .address(let bytes):
            var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else {
                return ""
            }
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// The name in the syntax of the `subjectAltName` extension.
    var alternativeName: String {
        switch self {
        case .name(let name): "DNS:\(name)"
        case .address: "IP:\(description)"
        }
    }

    /// The name in the syntax of the `nameConstraints` extension. It permits the name with its subdomains, or this one address.
    var constraint: String {
        switch self {
        case .name(let name): "permitted;DNS:\(name)"
        case .address(let bytes):
            bytes.count == 4 ? "permitted;IP:\(description)/255.255.255.255" : "permitted;IP:\(description)/\(Self.whole)"
        }
    }

    private static let whole = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
}
