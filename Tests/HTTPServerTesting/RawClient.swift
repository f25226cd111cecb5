import Glibc
import HTTPServerKit

/// A client that sends any bytes, valid or not.
package final class RawClient {
    package let descriptor: Int32
    private var received: [UInt8] = []

    package struct Answer: Sendable {
        package var status: Int
        package var headers: [String: String]
        package var body: [UInt8]
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// - Parameter from: an address of the loopback net to come from.
    package init?(_ address: ListeningAddress, from: String? = nil, receiveBuffer: Int32? = nil) {
        switch address {
        case .tcp(let host, let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            if var size = receiveBuffer {
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            if let from { _ = Self.with(from, 0) { bind(descriptor, $0, $1) } }
            guard Self.with(host, port, { connect(descriptor, $0, $1) }) == 0 else {
                close(descriptor)
                return nil
            }
        case .unix(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let code = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            guard code == 0 else {
                close(descriptor)
                return nil
            }
        }
    }

    deinit { close(descriptor) }

    private static func with(_ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        _ = inet_pton(AF_INET, host, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Closes the client's side of the connection. It can still read.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Waits for more bytes. `false` at the end, or after two minutes.
    private func receive() -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, 120_000) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    /// Everything that arrives until the server closes the connection, or is silent for half a second.
    package func readAll() -> [UInt8] {
        while true {
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard Glibc.poll(&poll, 1, 500) > 0, receive() else { break }
        }
        defer { received.removeAll() }
        return received
    }

    /// Whether the server closes the connection without a further word.
    package func isClosed() -> Bool {
        received.removeAll()
        return !receive()
    }

    /// Reads until a text has arrived this many times, and returns what was read.
    package func read(until text: String, times: Int = 1) -> String? {
        while true {
            let all = String(decoding: received, as: UTF8.self)
            if all.split(separator: text, omittingEmptySubsequences: false).count > times { return all }
            guard receive() else { return nil }
        }
    }

    package func get(_ target: String, _ headers: String = "", method: String = "GET") -> Answer? {
        send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
        return answer(toHead: method == "HEAD")
    }

    /// Sends a body with its length and type.
    package func send(
        _ method: String, _ target: String, _ headers: String = "", _ body: String, type: String = "application/json"
    ) -> Answer? {
        send(
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        )
        send(body)
        return answer()
    }

    /// The next answer. `nil` if none arrives.
    package func answer(toHead: Bool = false) -> Answer? {
        let blank = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.indices.first(where: { received[$0...].starts(with: blank) }) {
                let lines = String(decoding: received[..<end], as: UTF8.self).split(separator: "\r\n")
                received.removeFirst(end + 4)
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].dropFirst()) : ""
                }
                let status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
                var answer = Answer(status: status, headers: headers, body: [])
                if status == 100 { continue }
                guard !toHead, status != 304, status != 204 else { return answer }
                guard let body = body(headers) else { return nil }
                answer.body = body
                return answer
            }
            guard receive() else { return nil }
        }
    }

    private func body(_ headers: [String: String]) -> [UInt8]? {
        if let length = headers["content-length"].flatMap({ Int($0) }) { return take(length) }
        guard headers["transfer-encoding"] == "chunked" else { return nil }
        var body: [UInt8] = []
        while true {
            while !received.contains(0x0A) { guard receive() else { return nil } }
            let end = received.firstIndex(of: 0x0A) ?? 0
            let size = Int(String(decoding: received[..<end], as: UTF8.self).filter { $0.isHexDigit }, radix: 16) ?? 0
            received.removeFirst(end + 1)
            guard let chunk = take(size + 2) else { return nil }
            if size == 0 { return body }
            body += chunk.dropLast(2)
        }
    }

    private func take(_ count: Int) -> [UInt8]? {
        while received.count < count { guard receive() else { return nil } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }
}
