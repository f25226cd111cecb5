import CryptographyKit
import HTTPClientKit

/// The opening handshake of a client (RFC 6455, section 4.1).
struct Handshake {
    /// The host, with the port if the address has one.
    let host: String
    let path: String
    let key: String

    /// The maximum length of a response's head in bytes.
    private static let maximumHeadLength = 16_384
    private static let suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// - Parameter url: An address that begins with `http://` or `https://`.
    init(_ url: String) {
        let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...]
        host = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = rest.dropFirst(host.count)
        self.path = path.hasPrefix("/") ? String(path) : "/" + path
        key = Base64.text((0..<16).map { _ in UInt8.random(in: 0...255) })
    }

    var request: [UInt8] {
        Array(
            """
            GET \(path) HTTP/1.1\r
            Host: \(host)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(key)\r
            Sec-WebSocket-Version: 13\r
            User-Agent: vitalgate\r
            \r

            """.utf8)
    }

    /// The expected `Sec-WebSocket-Accept`.
    static func acceptance(of key: String) -> String { Base64.text(MessageDigest.sha1(of: Array((key + suffix).utf8))) }

    /// - Returns: The bytes after the response's head, which belong to the first frames.
    func perform(over stream: ByteStream, within timeout: Duration) throws(WebSocketError) -> [UInt8] {
        let end = ContinuousClock.now + timeout
        var rest = request[...]
        var head: [UInt8] = []
        while ContinuousClock.now < end, head.count < Self.maximumHeadLength {
            do throws(HTTPFailure) {
                if !rest.isEmpty {
                    rest = try stream.write(rest)
                    if !rest.isEmpty { stream.wait(.writable, upTo: end - .now) }
                    continue
                }
                guard let bytes = try stream.read() else {
                    stream.wait(.readable, upTo: end - .now)
                    continue
                }
                guard !bytes.isEmpty else { break }
                head += bytes
            } catch {
                throw WebSocketError(error)
            }
            guard let blank = head.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            try check(Array(head[..<blank.lowerBound]))
            return Array(head[blank.upperBound...])
        }
        throw WebSocketError(.unreachable, "the server does not answer the WebSocket handshake")
    }

    private func check(_ head: [UInt8]) throws(WebSocketError) {
        let words = String(decoding: head.prefix { $0 != 0x0D }, as: UTF8.self).split(separator: " ")
        guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw WebSocketError(.invalid, "the server does not answer in HTTP")
        }
        guard status == 101 else {
            throw WebSocketError(.rejected(status), "the server answers the WebSocket handshake with HTTP status \(status)")
        }
        let headers = HTTPResponse.headers(of: head)
        guard headers["upgrade"]?.lowercased() == "websocket", headers["sec-websocket-accept"] == Self.acceptance(of: key),
            headers["sec-websocket-extensions"] == nil, headers["sec-websocket-protocol"] == nil
        else { throw WebSocketError(.invalid, "the server's WebSocket handshake is wrong") }
    }
}
