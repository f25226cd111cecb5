import Glibc
import Synchronization

/// An HTTP server with answers chosen by the test, for servers that no Debian package provides, such as a webhook's receiver.
package final class HTTPStub: @unchecked Sendable {
    /// A request that was received.
    package struct Request: Sendable {
        package var method = ""
        package var path = ""
        /// Names in small letters.
        package var headers: [String: String] = [:]
        package var body: [UInt8] = []
    }

    /// The answer. With a status of 0 nothing is answered and the connection is closed.
    package struct Answer: Sendable {
        package var status: Int
        package var headers: [(String, String)]
        package var body: [UInt8]
        package init(_ status: Int, headers: [(String, String)] = [], body: [UInt8] = []) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    private let listener: Int32
    private let isClosed = Mutex(false)
    private let answer: @Sendable (Request) -> Answer
    /// Where it listens.
    package var port: UInt16 { FreePort.of(listener) }
    package var url: String { "http://127.0.0.1:\(port)" }

    /// - Parameter answer: called on a thread of the connection's own.
    package init(_ answer: @escaping @Sendable (Request) -> Answer) {
        self.answer = answer
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let address = FreePort.address(0)
        _ = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        listen(listener, 16)
        CuttingRelay.thread { [self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                CuttingRelay.thread { [self] in serve(client) }
            }
            // Closed only here: another socket could get the number while this thread still accepts with it.
            Glibc.close(listener)
        }
    }

    /// Stops answering.
    package func close() {
        let isFirst = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return !isClosed
        }
        if isFirst { shutdown(listener, Int32(SHUT_RDWR)) }
    }

    private func serve(_ client: Int32) {
        defer { Glibc.close(client) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            guard let request = Self.take(from: &bytes) else {
                let count = read(client, &buffer, buffer.count)
                guard count > 0 else { return }
                bytes += buffer[..<count]
                continue
            }
            let answer = answer(request)
            guard answer.status > 0 else { return }
            var text = "HTTP/1.1 \(answer.status) X\r\nContent-Length: \(answer.body.count)\r\n"
            for (name, value) in answer.headers { text += "\(name): \(value)\r\n" }
            let reply = Array((text + "\r\n").utf8) + answer.body
            var sent = 0
            while sent < reply.count {
                let count = reply[sent...].withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { return }
                sent += count
            }
        }
    }

    private static func take(from bytes: inout [UInt8]) -> Request? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        var request = Request()
        for (index, line) in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").enumerated() {
            if index == 0 {
                let words = line.split(separator: " ")
                if words.count > 1 { (request.method, request.path) = (String(words[0]), String(words[1])) }
            } else if let colon = line.firstIndex(of: ":") {
                request.headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
            }
        }
        let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
        guard bytes.count >= end.upperBound + length else { return nil }
        request.body = Array(bytes[end.upperBound..<end.upperBound + length])
        bytes.removeFirst(end.upperBound + length)
        return request
    }
}
