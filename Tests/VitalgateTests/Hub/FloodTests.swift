import Glibc
import HTTPServerKit
import HTTPServerTesting
import Testing

/// Floods of connections to the real program: it keeps serving others, and releases the memory.
@Suite(.serialized) struct FloodTests {
    private static let readings = ["weight.csv": "time,type,value,unit\n2026-11-20T06:31:00Z,bodyMass,80.1,kg\n"]

    private func mayOpen(_ files: UInt) -> Bool {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit.rlim_cur >= files
    }

    /// As many as this process may open, ten thousand at most, each with half a request.
    @Test func tenThousandConnectionsDoNotBlock() throws {
        let hub = try ServingHub(Self.readings)
        let token = try hub.token("page")
        try hub.run("clients", "grant", "page", "--read", "bodyMass")
        func answer(from address: String) throws -> RawClient.Answer {
            let client = try #require(RawClient(hub.address, from: address))
            return try #require(client.get("/v1/latest", "Authorization: Bearer \(token)\r\n"))
        }
        #expect(try answer(from: "127.0.0.2").text.contains("\"value\":80.1"))
        let before = try hub.status("VmRSS")
        let wanted = mayOpen(11_000) ? 10_000 : 800
        var clients: [RawClient] = []
        for number in 0..<wanted {
            guard let client = RawClient(hub.address) else { break }
            client.send("GET /v1/samples HTTP/1.1\r\nHost: localhost\r\nX-\(number): ")
            clients.append(client)
            if number % 1000 == 999 { #expect(try answer(from: "127.0.0.2").status == 200) }
        }
        #expect(clients.count == wanted)
        #expect(try answer(from: "127.0.0.3").text.contains("\"value\":80.1"))
        // Of one address it holds 256, whatever they send, and each of these takes 32 KiB at most.
        #expect(try hub.status("VmRSS") < before + 24_000)
        clients.removeAll()
        #expect(eventually { (try? hub.status("VmRSS")).map { $0 < before + 12_000 } ?? false })
        #expect(try answer(from: "127.0.0.1").status == 200)
        try hub.stop()
    }

    /// 64 who follow have no thread each, and take 64 KiB each at most. A thread or an arena that the first requests had not needed yet
    /// does not count.
    @Test func sixtyFourStreamsTakeLittle() throws {
        let hub = try ServingHub(Self.readings)
        // Each client may have 16 streams.
        let tokens = try (0..<4).map { number in
            let token = try hub.token("page\(number)")
            try hub.run("clients", "grant", "page\(number)", "--read", "bodyMass")
            return token
        }
        var opened = 0
        func stream() throws -> RawClient {
            let client = try #require(RawClient(hub.address))
            let token = tokens[opened % tokens.count]
            opened += 1
            client.send("GET /v1/changes/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n")
            #expect(client.read(until: "\"value\":80.1") != nil)
            return client
        }
        // The first stream of each client opens its view of the store.
        var streams = try tokens.map { _ in try stream() }
        let (memory, threads) = (try hub.status("VmRSS"), try hub.status("Threads"))
        for _ in tokens.count..<64 { streams.append(try stream()) }
        #expect(try hub.status("Threads") < threads + 32)
        #expect(try hub.status("VmRSS") <= memory + 64 * 64 + 4096)
        let file = try hub.folder.write("more.csv", "time,type,value,unit\n2026-11-21T06:31:00Z,bodyMass,80.2,kg\n")
        try hub.run("import", file)
        for stream in streams { #expect(stream.read(until: "\"value\":80.2") != nil) }
        try hub.stop()
    }
}
