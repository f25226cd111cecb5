import Glibc

extension Machine {
    /// Returns the machine's own network addresses, without link-local and loopback addresses.
    package static func addresses() -> [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [String] = []
        var next = first
        while let one = next?.pointee {
            next = one.ifa_next
            guard let address = one.ifa_addr, one.ifa_flags & UInt32(IFF_LOOPBACK) == 0 else { continue }
            let size: Int
            switch Int32(address.pointee.sa_family) {
            case AF_INET: size = MemoryLayout<sockaddr_in>.size
            case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
            default: continue
            }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            guard getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            let written = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !written.contains("%"), !found.contains(written) { found.append(written) }
        }
        return found.sorted()
    }
}
