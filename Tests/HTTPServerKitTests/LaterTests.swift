import Dispatch
import HTTPServerTesting
import Testing

@testable import HTTPServerKit

/// Answers that are waited for while connections sleep.
@Suite struct LaterTests {
    let handler = TestHandler()

    private func server(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> HTTPServer {
        var settings = ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0))
        change(&settings)
        return try HTTPServer(settings, handler)
    }

    private func asking(_ server: HTTPServer, _ body: String) throws -> RawClient {
        let client = try #require(RawClient(server.address))
        client.send("POST /later HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        return client
    }

    @Test func suspendedRequestsDoNotBlock() throws {
        let server = try server { ($0.waitingRequests, $0.waitingRequestsPerPayer) = (16, 8) }
        handler.later.suspend()
        let waiting = try (0..<8).map { try asking(server, "\($0)") }
        #expect(eventually { server.isAnswerAwaited(8) })
        // One request more than may wait is refused at once.
        #expect(try asking(server, "x").answer()?.status == 503)
        let other = try #require(RawClient(server.address))
        for _ in 0..<10 { #expect(other.get("/")?.text == "hello") }
        handler.later.resume()
        for (number, client) in waiting.enumerated() {
            let answer = client.answer()
            #expect(answer?.status == 200 && answer?.text == "\(number)")
            // The connection stays open.
            #expect(client.get("/")?.text == "hello")
        }
    }

    @Test func stopWaitsForPendingWork() throws {
        let server = try server { $0.drainTime = .zero }
        handler.later.suspend()
        let client = try asking(server, "last")
        #expect(eventually { server.isAnswerAwaited(1) })
        let later = handler.later
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { later.resume() }
        server.stop()
        // The time limit for answers decides whether the answer is still sent. The work that it waited for is finished.
        #expect(server.connections == 0)
        withExtendedLifetime(client) {}
    }

    @Test func delayedRequestsAreAnswered() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        for _ in 0..<3 { #expect(client.get("/slowed")?.status == 401) }
        #expect(client.get("/")?.text == "hello")
    }

    @Test func bodiesShareABoundedMemory() throws {
        let server = try server { $0.bodyMemory = 3200 }
        func begin() throws -> RawClient {
            let client = try #require(RawClient(server.address))
            client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 600\r\n\r\n")
            return client
        }
        var first: RawClient? = try begin()
        #expect(first?.read(until: "100 Continue\r\n\r\n") != nil)
        #expect(try begin().answer()?.status == 503)
        #expect(first?.send(String(repeating: "x", count: 600)) == true)
        #expect(first?.answer()?.body.count == 600)
        // Memory that one request has sent or released is available to another.
        first = nil
        #expect(
            eventually {
                guard let client = try? begin() else { return false }
                client.send(String(repeating: "x", count: 600))
                return client.answer()?.status == 200
            })
    }

    /// A client that sends its body without waiting reads why it was rejected, and may ask again on the same connection.
    @Test func aBodyWithoutRoomIsReadBeforeTheAnswer() throws {
        let server = try server { $0.bodyMemory = 3200 }
        let first = try #require(RawClient(server.address))
        first.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 600\r\n\r\n")
        #expect(first.read(until: "100 Continue\r\n\r\n") != nil)
        let second = try #require(RawClient(server.address))
        let body = String(repeating: "x", count: 600)
        let refused = try #require(second.send("POST", "/echo", "", body))
        #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
        #expect(second.get("/")?.text == "hello")
        first.send(body)
        #expect(first.answer()?.body.count == 600)
    }

    @Test func customTagDiffersIfCompressed() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        #expect(client.get("/tagged")?.headers["etag"] == "\"own\"")
        let packed = try #require(client.get("/tagged", "Accept-Encoding: gzip\r\n"))
        #expect(packed.headers["etag"] == "\"own-gzip\"")
        for tag in ["\"own\"", "\"own-gzip\"", "W/\"own\"", "\"x\", \"own-gzip\""] {
            #expect(client.get("/tagged", "If-None-Match: \(tag)\r\n")?.status == 304, "\(tag)")
        }
        #expect(client.get("/tagged", "If-None-Match: \"other\"\r\n")?.status == 200)
    }
}
