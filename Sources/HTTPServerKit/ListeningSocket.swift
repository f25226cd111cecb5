import Glibc

package enum ListeningAddress: Hashable, Sendable, CustomStringConvertible {
    /// A numeric IP address and a port. Port 0 means any free one.
    case tcp(host: String, port: UInt16)
    /// A Unix socket, accessible to its owner and group.
    case unix(path: String)

    /// Parses `127.0.0.1:8642`, `[::1]:8642`, `localhost:8642`, or `unix:/run/vitalgate/api`. Other texts return `nil`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            // sun_path has 108 bytes including the final zero.
            guard path.hasPrefix("/"), path.utf8.count < 108 else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let host = HostGuard.host(String(text[..<colon])), !text[..<colon].isEmpty
        else { return nil }
        guard let address = host == "localhost" ? "127.0.0.1" : HostGuard.address(host) else { return nil }
        self = .tcp(host: address, port: port)
    }

    /// Whether only this machine can reach the address.
    package var isLoopback: Bool {
        switch self {
        case .unix: true
        case .tcp(let host, _): host == "::1" || host.hasPrefix("127.")
        }
    }

    package var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}

/// The reason why a server cannot be started, as a sentence for the user.
package struct ServerError: Error, CustomStringConvertible, Sendable {
    package let description: String
    init(_ description: String) { self.description = description }
}

struct ListeningSocket {
    let descriptor: Int32
    /// The address, with the chosen port if 0 was requested.
    let address: ListeningAddress

    init(_ address: ListeningAddress) throws(ServerError) {
        switch address {
        case .tcp(let host, let port): (descriptor, self.address) = try Self.tcp(host, port)
        case .unix(let path): (descriptor, self.address) = (try Self.unix(path), address)
        }
        guard listen(descriptor, SOMAXCONN) == 0 else {
            let error = Self.failure("\(address)")
            Glibc.close(descriptor)
            throw error
        }
    }

    /// Removes a Unix socket from the file system, so that clients do not find it after the server has stopped.
    func remove() {
        if case .unix(let path) = address { unlink(path) }
    }

    private static func tcp(_ host: String, _ port: UInt16) throws(ServerError) -> (Int32, ListeningAddress) {
        let isSix = host.contains(":")
        let descriptor = try made(isSix ? AF_INET6 : AF_INET)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var (four, six) = (sockaddr_in(), sockaddr_in6())
        (four.sin_family, six.sin6_family) = (sa_family_t(AF_INET), sa_family_t(AF_INET6))
        (four.sin_port, six.sin6_port) = (port.bigEndian, port.bigEndian)
        _ = isSix ? inet_pton(AF_INET6, host, &six.sin6_addr) : inet_pton(AF_INET, host, &four.sin_addr)
        let code = isSix ? bound(descriptor, &six) : bound(descriptor, &four)
        guard code == 0 else {
            let error = failure("\(ListeningAddress.tcp(host: host, port: port))")
            Glibc.close(descriptor)
            throw error
        }
        return (descriptor, .tcp(host: host, port: isSix ? six.sin6_port.bigEndian : four.sin_port.bigEndian))
    }

    /// Binds the socket and reads back its address.
    private static func bound<Address>(_ descriptor: Int32, _ address: inout Address) -> Int32 {
        var size = socklen_t(MemoryLayout<Address>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let code = bind(descriptor, pointer, size)
                return code == 0 ? getsockname(descriptor, pointer, &size) : code
            }
        }
    }

    private static func unix(_ path: String) throws(ServerError) -> Int32 {
        try removeStale(path)
        let descriptor = try made(AF_UNIX)
        var address = named(path)
        // The socket does not listen yet, so no client can connect between bind(2) and chmod(2).
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, chmod(path, 0o660) == 0 else {
            let error = failure(path)
            Glibc.close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Removes a socket that no process listens on. Throws if one does, or if the file is not a socket.
    private static func removeStale(_ path: String) throws(ServerError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw ServerError("\(path): exists and is not a socket") }
        let probe = try made(AF_UNIX)
        defer { Glibc.close(probe) }
        var address = named(path)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code != 0 else { throw ServerError("\(path): another server is listening there") }
        guard errno == ECONNREFUSED else { throw failure(path) }
        unlink(path)
    }

    private static func named(_ path: String) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return address
    }

    private static func made(_ family: Int32) throws(ServerError) -> Int32 {
        let descriptor = socket(
            family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw failure("cannot create a socket") }
        return descriptor
    }

    private static func failure(_ action: String) -> ServerError { ServerError("\(action): \(String(cString: strerror(errno)))") }
}
