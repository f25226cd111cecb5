import Glibc

/// Checks the `Host` header of requests against known names. In a DNS rebinding attack, a foreign page's name suddenly resolves to this
/// machine, and the requests contain that name. So unknown names are rejected on every address, including loopback. IP addresses cannot
/// be rebound.
package struct HostGuard: Sendable {
    private let names: Set<String>
    private let addresses: Set<String>
    private let takesAnyAddress: Bool
    private let key: String

    /// - Parameters:
    ///   - listening: the address that the server listens on.
    ///   - names: additional configured names.
    ///   - key: the key of the configuration with these names.
    package init(_ listening: ListeningAddress, names: [String] = [], key: String = "api.hosts") {
        self.key = key
        self.names = Set(["localhost"] + names.map { $0.lowercased() })
        switch listening {
        case .unix: (addresses, takesAnyAddress) = (["127.0.0.1", "::1"], false)
        case .tcp(let host, _):
            let own = Self.address(host)
            takesAnyAddress = own == "0.0.0.0" || own == "::"
            addresses = Set((listening.isLoopback ? ["127.0.0.1", "::1"] : []) + [own].compactMap { $0 })
        }
    }

    /// Whether a `Host` header contains a name of this server.
    package func allows(_ header: String) -> Bool {
        guard let host = Self.host(header) else { return false }
        if names.contains(host) { return true }
        guard let address = Self.address(host) else { return false }
        return takesAnyAddress || addresses.contains(address)
    }

    func check(_ head: RequestHead) throws(Problem) {
        let hosts = head.headers.filter { $0.name == "host" }
        guard hosts.count == 1 else { throw Problem(400, "The request must have exactly one Host header.") }
        // A proxy on another machine answers to its own names. On this one, a browser would be trusted as well.
        if head.proxied != nil, !ListeningAddress.tcp(host: head.peer, port: 0).isLoopback { return }
        guard allows(head.proxied?.host ?? hosts[0].value) else {
            throw Problem(421, "The Host header has an unknown name. Add the name to \(key) in the configuration.")
        }
    }

    /// Returns the host in lower case, without port, final dot, and the brackets of an IPv6 address.
    static func host(_ header: String) -> String? {
        var host = header[...]
        var port: Substring?
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
            host = host[host.index(after: host.startIndex)..<end]
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":") {
            port = host[host.index(after: colon)...]
            host = host[..<colon]
        }
        if let port, port.count > 5 || !port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return nil }
        if host.last == "." { host = host.dropLast() }
        return host.isEmpty ? nil : host.lowercased()
    }

    /// Whether a text is an IP address in its canonical form.
    package static func isAddress(_ text: String) -> Bool { address(text) == text }

    /// Returns an address in its canonical form, or `nil` for a name. `2130706433` and `0x7f.1`, which some programs read as addresses,
    /// are names.
    static func address(_ text: String) -> String? {
        var bytes = [UInt8](repeating: 0, count: 16)
        for family in [AF_INET, AF_INET6] where inet_pton(family, text, &bytes) == 1 {
            var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(family, bytes, &buffer, socklen_t(INET6_ADDRSTRLEN)) != nil else { return nil }
            return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return nil
    }
}
