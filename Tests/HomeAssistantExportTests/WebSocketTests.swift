import ExportTesting
import Testing

@testable import WebSocketKit

/// The WebSocket client against the double's own implementation of RFC 6455.
@Suite struct WebSocketTests {
    /// RFC 6455, section 1.3.
    @Test func acceptsKeyOfSpecification() {
        #expect(Handshake.acceptance(of: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func splitsAddress() {
        let handshake = Handshake("https://ha.example.org:8443/api/websocket?x=1")
        #expect(handshake.host == "ha.example.org:8443" && handshake.path == "/api/websocket?x=1")
        #expect(Handshake("http://[::1]").path == "/")
    }

    private func connected(_ server: HomeAssistantServer, _ limits: WebSocket.Limits = .init()) throws -> WebSocket {
        let socket = try WebSocket(server.url + "/api/websocket", limits: limits)
        _ = try socket.receive(within: .seconds(10))
        try socket.send(Array(#"{"type":"auth","access_token":"good"}"#.utf8))
        _ = try socket.receive(within: .seconds(10))
        return socket
    }

    /// A command with a text that an error repeats, so that the answer is as long.
    private func echo(_ count: Int, id: Int) -> [UInt8] {
        let text = String(repeating: "x", count: count)
        let head = #"{"id":\#(id),"type":"recorder/clear_statistics","statistic_ids":["a"],"#
        return Array((head + #""start_time":"\#(text)","end_time":"b"}"#).utf8)
    }

    @Test func receivesFragmentedMessagesOfAnyLength() throws {
        let server = try HomeAssistantServer()
        defer { server.kill() }
        let socket = try connected(server)
        for (id, count) in [0, 1, 100, 125, 126, 65_000, 65_536, 300_000].enumerated() {
            try socket.send(echo(count, id: id + 1))
            let answer = try #require(try socket.receive(within: .seconds(20)))
            #expect(answer.count > count)
        }
        socket.close()
    }

    @Test func rejectsLongMessages() throws {
        let server = try HomeAssistantServer()
        let socket = try connected(server, .init(received: 100_000, sent: 200_000))
        #expect { try socket.send(echo(200_000, id: 1)) } throws: { ($0 as? WebSocketError)?.kind == .tooLong }
        try socket.send(echo(150_000, id: 1))
        #expect { _ = try socket.receive(within: .seconds(20)) } throws: { ($0 as? WebSocketError)?.kind == .tooLong }
    }

    @Test func reportsCloseCode() throws {
        let server = try HomeAssistantServer()
        defer { server.kill() }
        let socket = try connected(server, .init(sent: 8 << 20))
        #expect {
            try socket.send(echo(5 << 20, id: 1))
            _ = try socket.receive(within: .seconds(20))
        } throws: { error in
            // The server closes before it has read everything, so the connection may be reset.
            [.closed(1009), .unreachable].contains((error as? WebSocketError)?.kind)
        }
    }

    @Test func noticesLostConnection() throws {
        let server = try HomeAssistantServer()
        let socket = try connected(server)
        #expect(try socket.receive(within: .milliseconds(20)) == nil)
        server.kill()
        #expect(throws: WebSocketError.self) { _ = try socket.receive(within: .seconds(20)) }
    }

    @Test func reportsStatusOfOtherServers() throws {
        let stub = HTTPStub { _ in HTTPStub.Answer(403) }
        defer { stub.close() }
        #expect { _ = try WebSocket(stub.url) } throws: { ($0 as? WebSocketError)?.kind == .rejected(403) }
        let liar = HTTPStub { _ in HTTPStub.Answer(101, headers: [("Upgrade", "websocket"), ("Sec-WebSocket-Accept", "x")]) }
        defer { liar.close() }
        #expect { _ = try WebSocket(liar.url) } throws: { ($0 as? WebSocketError)?.kind == .invalid }
    }
}
