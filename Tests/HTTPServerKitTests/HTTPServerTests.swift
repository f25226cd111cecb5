import Glibc
import HTTPServerTesting
import Testing

@testable import HTTPServerKit

@Suite struct HTTPServerTests {
    let handler = TestHandler()

    func server(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> HTTPServer {
        var settings = ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0))
        change(&settings)
        return try HTTPServer(settings, handler)
    }

    @Test func answersOnOneConnectionOneAfterTheOther() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        for _ in 0..<3 {
            let answer = try #require(client.get("/"))
            #expect(answer.status == 200)
            #expect(answer.text == "hello")
            #expect(answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'")
        }
        let head = try #require(client.get("/", method: "HEAD"))
        #expect(head.headers["content-length"] == "5")
        #expect(client.get("/nothing")?.status == 404)
    }

    @Test(arguments: ["127.0.0.1", "172.30.32.2"]) func acceptsOnlyTheProxy(proxy: String) throws {
        let server = try server {
            $0.proxy = proxy
            $0.acceptsOnlyProxy = true
        }
        let client = try #require(RawClient(server.address))
        #expect(client.get("/")?.status == (proxy == "127.0.0.1" ? 200 : nil))
    }

    @Test func returnsNotModified() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        let tag = try #require(client.get("/")?.headers["etag"])
        #expect(client.get("/", "If-None-Match: \"x\", \(tag)\r\n")?.status == 304)
        #expect(client.get("/", "If-None-Match: \"x\"\r\n")?.status == 200)
        #expect(client.get("/long")?.headers["etag"] != tag)
    }

    @Test func compressesAcceptedResponses() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        let packed = try #require(client.get("/long", "Accept-Encoding: br, gzip;q=0.5\r\n"))
        #expect(packed.headers["content-encoding"] == "gzip")
        #expect(packed.body.prefix(2) == [0x1F, 0x8B])
        #expect(packed.body.count < 2000)
        #expect(client.get("/long", "Accept-Encoding: gzip;q=0\r\n")?.body.count == 60_000)
        // 64 MB of one letter, pulled and packed piece by piece.
        let stream = try #require(client.get("/count", "Accept-Encoding: gzip\r\n"))
        #expect(stream.headers["content-encoding"] == "gzip")
        #expect((10_000..<2_000_000).contains(stream.body.count))
    }

    @Test func failedStreamIsNotComplete() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        #expect(client.get("/fails") == nil)
        let other = try #require(RawClient(server.address))
        #expect(other.get("/")?.text == "hello")
    }

    @Test func aBodyIsBounded() throws {
        let server = try server()
        func post(_ target: String, _ headers: String, _ body: String = "") throws -> (Int?, RawClient) {
            let client = try #require(RawClient(server.address))
            client.send("POST \(target) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n\(body)")
            return (client.answer()?.status, client)
        }
        #expect(try post("/echo", "Content-Length: 5\r\n", "heart").0 == 200)
        #expect(try post("/echo", "Transfer-Encoding: chunked\r\n", "5\r\nheart\r\n0\r\n\r\n").0 == 200)
        // Refused before any byte of it was sent, and the connection ends.
        let (status, client) = try post("/echo", "Content-Length: 100000000\r\n")
        #expect(status == 413)
        #expect(client.isClosed())
        #expect(try post("/", "Content-Length: 1\r\n").0 == 413)
        #expect(try post("/echo", "Content-Length: 18446744073709551616\r\n").0 != 200)
        #expect(try post("/echo", "Content-Length: -1\r\n").0 != 200)
        #expect(try post("/echo", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n").0 != 200)
        // A body without a length is cut off when it is too long.
        let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
        let endless = try #require(RawClient(server.address))
        endless.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        var chunks = 0
        while endless.send(chunk), chunks < 5000 { chunks += 1 }
        #expect(chunks < 5000)
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
    }

    /// Nothing is unpacked, however small it came.
    @Test func refusesCompressedBodies() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        for encoding in ["gzip", "deflate", "br", "gzip, identity"] {
            let answer = try #require(RawClient(server.address)).send("POST", "/echo", "Content-Encoding: \(encoding)\r\n", "abc")
            #expect(answer?.status == 415 && answer?.headers["accept-encoding"] == "identity", "\(encoding)")
        }
        #expect(client.send("POST", "/echo", "Content-Encoding: identity\r\n", "abc")?.status == 200)
    }

    @Test func aHeadIsBounded() throws {
        let server = try server()
        let long = try #require(RawClient(server.address))
        #expect(long.get("/" + String(repeating: "a", count: 9000))?.status == 414)
        let many = try #require(RawClient(server.address))
        #expect(many.get("/", (0..<100).map { "X-\($0): 1\r\n" }.joined())?.status == 431)
        let flood = try #require(RawClient(server.address))
        flood.send("GET / HTTP/1.1\r\nHost: localhost\r\n")
        var lines = 0
        while flood.send("X-\(lines): \(String(repeating: "y", count: 1000))\r\n"), lines < 10_000 { lines += 1 }
        #expect(lines < 10_000)
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
    }

    /// Data around the bytes of a body: extensions of its chunks, and fields after it.
    @Test(arguments: ["1;", "0\r\nX-Behind: 1\r\nX: "]) func limitsChunkExtensionsAndTrailers(begin: String) throws {
        let server = try server()
        let flood = try #require(RawClient(server.address))
        flood.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + begin)
        let piece = String(repeating: "y", count: 1000)
        var pieces = 0
        while flood.send(piece), pieces < 20_000 { pieces += 1 }
        #expect(pieces < 20_000)
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
    }

    /// Hundreds of heads at once, each as long as one may be.
    @Test func manyLongHeadsAreBoundedTogether() throws {
        let server = try server()
        let head = "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "y", count: 30_000)
        let clients = (0..<300).compactMap { _ in RawClient(server.address) }
        for client in clients { client.send(head) }
        #expect(eventually { server.connections <= 257 })
        let other = try #require(RawClient(server.address, from: "127.0.0.2"))
        #expect(other.get("/")?.text == "hello")
    }

    @Test func splitsPathsBeforeDecoding() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        #expect(client.get("/path/a%20b/%C3%A4")?.text == "path|a b|ä")
        for path in [
            "/path/../etc", "/path/%2e%2e/etc", "/path/%2E", "/path/a%2fb", "/path/%00", "/path/%0a", "/path/%zz", "/path/%c3",
            "/path?x=%", "http://localhost/path", "*",
        ] {
            let client = try #require(RawClient(server.address))
            #expect(client.get(path)?.status == 400, "\(path)")
        }
    }

    @Test func disconnectsSlowHeaders() throws {
        let server = try server {
            $0.headTime = .milliseconds(300)
            $0.bodyIdleTime = .milliseconds(300)
        }
        // A letter now and then is activity, and yet no request.
        let slow = try #require(RawClient(server.address))
        slow.send("GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        var sent = 0
        while slow.send("y"), sent < 1000 {
            sent += 1
            usleep(20_000)
        }
        #expect(sent < 1000)
        let body = try #require(RawClient(server.address))
        body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx")
        #expect(body.isClosed())
        let mute = try #require(RawClient(server.address))
        #expect(mute.isClosed())
        // Between two requests as well.
        let retained = try #require(RawClient(server.address))
        #expect(retained.get("/")?.status == 200)
        #expect(retained.isClosed())
    }

    /// Clients whose connections break inside of a body or a head, as those of phones do, with all bytes in one packet.
    @Test func closesConnectionsOfClientsThatHaveLeft() throws {
        let server = try server {
            $0.headTime = .seconds(3600)
            $0.bodyIdleTime = .seconds(3600)
        }
        for number in 0..<200 {
            let client = try #require(RawClient(server.address))
            client.send(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: number))
            let head = try #require(RawClient(server.address))
            head.send("GET / HTTP/1.1\r\nHost: local")
        }
        #expect(eventually { server.connections == 0 })
    }

    /// A client that closes only its own side after a request gets the response.
    @Test func answersClientsThatHaveSentEverything() throws {
        let server = try server()
        let client = try #require(RawClient(server.address))
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello")
        client.endSending()
        #expect(client.answer()?.text == "hello")
    }

    @Test func aLongProblemIsCut() {
        let problem = Problem(422, String(repeating: "ä", count: 100_000))
        #expect(problem.detail.utf8.count < 10_000 && problem.detail.hasSuffix("ä…"))
        #expect(Problem(422, "Short.").detail == "Short.")
    }

    /// A client whose body continues has as long as its bytes may take, however little arrives at once.
    @Test func aSlowBodyIsNotHungUp() throws {
        let server = try server {
            $0.bodyTime = .milliseconds(1)
            $0.slowestBody = 1
        }
        let client = try #require(RawClient(server.address))
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
        for _ in 0..<10 {
            usleep(20_000)
            #expect(client.send(String(repeating: "a", count: 10)))
        }
        #expect(client.answer()?.text == String(repeating: "a", count: 100))
    }

    @Test func disconnectsSlowBodies() throws {
        let server = try server {
            $0.bodyTime = .milliseconds(300)
            $0.slowestBody = 1 << 20
        }
        let client = try #require(RawClient(server.address))
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        var sent = 0
        while client.send("y"), sent < 3000 {
            sent += 1
            usleep(20_000)
        }
        #expect(sent < 3000)
    }

    /// A piece of a file that a page uploads has more than nine minutes, and a small form one minute.
    @Test func aLargeBodyHasMoreTime() {
        let settings = ServerSettings(listening: .tcp(host: "127.0.0.1", port: 0))
        #expect(settings.bodyTime(for: 1 << 20) == .seconds(572) && settings.bodyTime(for: 0) == .seconds(60))
        #expect(settings.bodyIdleTime == .seconds(30))
    }

    @Test func oneAddressCannotTakeAllConnections() throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, 8192)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let server = try server {
            $0.connections = 64
            $0.connectionsPerAddress = 32
        }
        let clients = (0..<1200).compactMap { _ in RawClient(server.address) }
        #expect(clients.count > 1000)
        #expect(eventually { server.connections <= 33 })
        let other = try #require(RawClient(server.address, from: "127.0.0.2"))
        #expect(other.get("/")?.text == "hello")
    }

    @Test func aStreamWaitsWithoutAThreadAndIsWoken() throws {
        let server = try server { $0.streamsPerPayer = 64 }
        let clients = try (0..<64).map { _ in try #require(RawClient(server.address)) }
        for client in clients { client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        #expect(eventually { handler.bell.open == 64 })
        // They have two threads, which are free for others.
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
        handler.bell.ring()
        for client in clients { #expect(client.read(until: "id: 1") != nil) }
    }

    /// A response for a closed connection reads nothing more, and an idle connection does not block others.
    @Test func closedConnectionEndsResponse() throws {
        let server = try server()
        var clients = try (0..<8).map { _ in try #require(RawClient(server.address)) }
        for client in clients { client.send("GET /looks HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        #expect(eventually { handler.bell.open == 8 })
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
        clients.removeAll()
        #expect(eventually { handler.bell.open == 0 })
    }

    /// A browser that goes from page to page leaves streams that have nothing to send. They do not count when it opens the next one.
    @Test func streamsOfClientsThatLeftDoNotCount() throws {
        let server = try server { $0.streamsPerPayer = 2 }
        for _ in 0..<10 {
            let client = try #require(RawClient(server.address))
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(client.read(until: "200 OK") != nil)
        }
    }

    /// A client that only stops sending is taken for one that left. Its stream ends, so that its share is not exceeded.
    @Test func halfClosedConnectionEndsStream() throws {
        let server = try server { $0.streamsPerPayer = 2 }
        let request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let clients = try (0..<2).map { _ in try #require(RawClient(server.address)) }
        for client in clients {
            client.send(request)
            #expect(client.read(until: "200 OK") != nil)
            client.endSending()
        }
        let next = try #require(RawClient(server.address))
        next.send(request)
        #expect(next.read(until: "200 OK") != nil)
        handler.bell.ring()
        #expect(next.read(until: "id: 1") != nil)
        for client in clients { #expect(client.isClosed()) }
    }

    /// A stream beyond the share of its client is refused with 429, is not left open, and leaves the other streams alone.
    @Test func refusesStreamsBeyondTheShare() throws {
        let server = try server { $0.streamsPerPayer = 2 }
        let request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let clients = try (0..<2).map { _ in try #require(RawClient(server.address)) }
        for client in clients { client.send(request) }
        #expect(eventually { handler.bell.open == 2 })
        let refused = try #require(RawClient(server.address))
        refused.send(request)
        let answer = try #require(refused.answer())
        #expect(answer.status == 429 && answer.headers["retry-after"] == "30")
        #expect(handler.bell.open == 2)
        // Each refusal is counted by its bound.
        #expect(server.refusals == [.streams: 1])
        handler.bell.ring()
        for client in clients { #expect(client.read(until: "id: 1") != nil) }
    }

    @Test func releasesClosedConnections() throws {
        let server = try server()
        for round in 0..<100 {
            let client = try #require(RawClient(server.address, receiveBuffer: 4096))
            client.send("GET /\(round % 2 == 0 ? "count" : "events") HTTP/1.1\r\nHost: localhost\r\n\r\n")
            if round % 3 == 0 { _ = client.read(until: "HTTP/1.1 200") }
        }
        // Wakes come while the connections close.
        #expect(
            eventually {
                handler.bell.ring()
                return handler.bell.open == 0
            })
        #expect(try #require(RawClient(server.address)).get("/")?.text == "hello")
    }

    @Test func stopsWithStreamsAsleepAndDownloadsInProgress() throws {
        let server = try server { $0.drainTime = .milliseconds(100) }
        let sleeping = try #require(RawClient(server.address))
        sleeping.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let stuck = try #require(RawClient(server.address, receiveBuffer: 4096))
        stuck.send("GET /count HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(eventually { handler.bell.open == 2 })
        server.stop()
        #expect(handler.bell.open == 0)
        #expect(sleeping.answer() != nil)
        #expect(stuck.answer() == nil)
        #expect(RawClient(server.address) == nil)
    }
}
