import Dispatch
import Glibc
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI
@testable import HealthServing

@Suite struct AttackTests {
    @Test func requiresTokenForEveryRoute() throws {
        let served = try ServedStore()
        try served.add([60])
        for route in RouteTable.all where route.right != .none {
            let path = route.path.replacing("{uuid}", with: "11111111-2222-8333-8444-555555555555")
            var answers: Set<[UInt8]> = []
            for header in [
                "", "Authorization: Bearer\r\n", "Authorization: Bearer bad\r\n", "Authorization: Basic good\r\n",
                "Authorization: good\r\n", "Cookie: token=good\r\n", "Authorization: Bearer \(served.token) x\r\n",
            ] {
                // The body of an unauthenticated request is not even read.
                let body = route.body == nil ? "" : "Content-Type: application/json\r\nContent-Length: 9000\r\n"
                let answer = try #require(try served.client().get(path + "?types=heartRate", header + body, method: route.method))
                #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer", "\(path) \(header)")
                answers.insert(answer.body)
            }
            // A wrong token gets the same answer as a missing one.
            #expect(answers.count == 1)
        }
        #expect(try served.get("/v1/samples").status == 200)
        try served.revoke()
        #expect(try served.get("/v1/samples").status == 401)
    }

    @Test func endsStreamWhenAccessIsWithdrawn() throws {
        let served = try ServedStore()
        try served.add([60])
        let type = ObjectType(.heartRate)
        let client = try served.client()
        client.send("GET /v1/changes/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        #expect(client.read(until: "\"value\":60.0") != nil)
        try served.store.clients.set(
            Grant(person: ServedStore.person, type: type, reading: .none, mayWrite: false), of: served.watch,
            at: ServedStore.now)
        try served.add([61], from: 1_790_001_000)
        try served.add([7], of: "stepCount", from: 1_790_002_000)
        #expect(client.read(until: "\"value\":7.0")?.contains("\"value\":61.0") == false)
        #expect(try served.get("/v1/samples?types=heartRate&format=ndjson").text == "")
        // Without its token it receives nothing more.
        try served.revoke()
        try served.add([8], of: "stepCount", from: 1_790_003_000)
        #expect(client.read(until: "\"value\":8.0") == nil)
    }

    @Test func refusesOtherOrigins() throws {
        let served = try ServedStore()
        let client = try served.client()
        client.send("GET /v1/samples HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        #expect(client.answer()?.status == 421)
        #expect(try served.get("/v1/samples", "Cookie: a=b\r\nSec-Fetch-Site: cross-site\r\n").status == 403)
        #expect(try served.get("/v1/samples", "Origin: http://evil.example\r\n", method: "DELETE").status == 403)
        // A request without cookies has no header that allows the page to read it.
        let read = try served.get("/v1/samples", "Origin: http://evil.example\r\n")
        #expect(read.headers["access-control-allow-origin"] == nil)
        #expect(
            try served.get("/v1/samples", "Origin: http://evil.example\r\n", method: "OPTIONS").headers[
                "access-control-allow-methods"] == nil)
    }

    @Test func pathsLeadNowhere() throws {
        let served = try ServedStore()
        for path in [
            "/../../etc/passwd", "/v1/../store.db", "/v1/samples/..%2f..%2fetc", "/v1/%2e%2e/openapi.json", "//v1/samples",
            "/v1//samples",
        ] {
            #expect([400, 404].contains(try served.get(path).status), "\(path)")
        }
    }

    @Test(arguments: [("GET", 413), ("POST", 413), ("PUT", 405)]) func aBodyIsNotEvenRead(method: String, status: Int) throws {
        let served = try ServedStore()
        let client = try served.client()
        client.send(
            "\(method) /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n"
        )
        #expect(client.answer()?.status == status)
        #expect(client.isClosed())
    }

    /// Without a length, so it cannot be refused in advance.
    @Test func disconnectsEndlessBody() throws {
        let served = try ServedStore()
        try served.grant("bodyMass", to: served.watch)
        let client = try served.client()
        client.send(
            "POST /v1/samples HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        let chunk = [UInt8]("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x10000) + "\r\n".utf8
        var chunks = 0
        while client.send(chunk), chunks < 1600 { chunks += 1 }
        // 16 MiB, and the sockets' buffers.
        #expect(chunks < 500, "\(chunks * 0x10000) octets were taken")
        // Its share of the memory for bodies is free again.
        let line = "{\"type\":\"bodyMass\",\"start\":\"2026-11-21T07:00:00Z\",\"value\":71.4,\"unit\":\"kg\"}"
        for _ in 0..<8 { #expect(try served.post("/v1/samples", line).status == 200) }
    }

    @Test func cancelledDownloadsGiveTheirReadersBack() throws {
        let served = try ServedStore()
        try served.add([Int](repeating: 60, count: 20_000).enumerated().map { 40 + $0.offset % 100 })
        for _ in 0..<60 {
            let client = try #require(RawClient(served.service.address, receiveBuffer: 4096))
            client.send(
                "GET /v1/samples?format=ndjson HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
            #expect(client.read(until: "\r\n\r\n") != nil)
        }
        #expect(eventually { served.service.readers == 0 })
        #expect(try served.get("/v1/samples?format=ndjson").text.split(separator: "\n").count == 20_000)
    }

    /// A query that reads much and finds little gives the thread to others again and again.
    @Test func sparseQueryDoesNotBlockOthers() throws {
        let served = try ServedStore()
        try served.add([Int](repeating: 60, count: 35_000).enumerated().map { 40 + $0.offset % 100 })
        try served.add([150], from: 1_795_000_000)
        let pool = ReaderPool(path: served.store.path, tally: ReadTally(path: served.store.path) { "2026-11-20" })
        for order in ["", "-value"] {
            let reader = try pool.lend(to: served.watch)
            var query = SampleQuery(types: [.heartRate], where: try SamplePredicate("value > 149"))
            query.order = order.isEmpty ? [] : try [#require(SampleOrder(order))]
            let stream = try served.stream(reader, query)
            let renewals = reader.renewals
            var (pauses, text) = (0, "")
            reading: while true {
                switch try stream.next() {
                case .wait(let time):
                    #expect(time == .zero)
                    pauses += 1
                case .bytes(let bytes): text += String(decoding: bytes, as: UTF8.self)
                case .end: break reading
                }
            }
            stream.close()
            #expect(pauses == 3 && text.contains("\"value\":150.0"), "\(order) \(pauses)")
            // A search that finds nothing has no more time because it pauses.
            #expect(reader.renewals == renewals + 1, "\(order)")
        }
        // Over the wire as well.
        let text = try served.get("/v1/samples?types=heartRate&where=value%20%3E%20149&format=ndjson").text
        #expect(text.split(separator: "\n").count == 1)
    }

    /// Sorting before the first byte does not run on the thread that serves others.
    @Test func sortingDoesNotBlockOthers() throws {
        let served = try ServedStore()
        try served.add([Int](repeating: 60, count: 12_000).enumerated().map { 40 + $0.offset % 100 })
        let gate = DispatchSemaphore(value: 0)
        for lane in 0..<2 { try served.api.lookQueue.async(for: .client("\(lane)")) { gate.wait() } }
        let client = try served.client()
        let head = "Host: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n"
        client.send("GET /v1/samples?types=heartRate&sort=-value&limit=2&format=ndjson HTTP/1.1\r\n" + head)
        for _ in 0..<4 { #expect(try served.get("/v1/samples?limit=1").status == 200) }
        var byte: UInt8 = 0
        #expect(recv(client.descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == -1)
        for _ in 0..<2 { gate.signal() }
        let answer = try #require(client.answer())
        #expect(answer.text.split(separator: "\n").count == 2 && answer.text.contains("\"value\":139.0"))
        // Nothing is left to be waited for.
        let query = SampleQuery(types: [.heartRate], where: try SamplePredicate("value > 138"))
        let pool = ReaderPool(path: served.store.path, tally: ReadTally(path: served.store.path) { "2026-11-20" })
        let stream = try served.stream(pool.lend(to: served.watch), query)
        defer { stream.close() }
        try stream.prepare()
        guard case .bytes = try stream.next() else {
            Issue.record("there are no octets")
            return
        }
    }

    @Test func tooManyReadersGetRetryAfter() throws {
        let served = try ServedStore()
        try served.add([Int](repeating: 60, count: 20_000).enumerated().map { 40 + $0.offset % 100 })
        // Each holds a reader as long as it takes nothing.
        let slow = try (0..<8).map { _ in
            let client = try #require(RawClient(served.service.address, receiveBuffer: 4096))
            client.send(
                "GET /v1/samples?format=ndjson HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
            #expect(client.read(until: "\r\n\r\n")?.hasPrefix("HTTP/1.1 200") == true)
            return client
        }
        let answer = try served.get("/v1/samples")
        #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
        // There are some for others.
        let others = "Authorization: Bearer \(served.otherToken)\r\n"
        #expect(try served.client().get("/v1/samples", others)?.status == 200)
        // A write does not wait for them.
        try served.add([60], from: 1_795_000_000)
        withExtendedLifetime(slow) {}
    }
}
