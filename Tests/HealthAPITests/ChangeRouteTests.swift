import FoundationEssentials
import Glibc
import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthAPI

@Suite struct ChangeRouteTests {
    private struct Changes: Codable {
        struct Change: Codable {
            var value: Double?
            var deleted: String?
        }
        var changes: [Change]
        var anchor: String
        var more: Bool
    }

    private func changes(_ served: ServedStore, _ query: String) throws -> Changes {
        let answer = try served.get("/v1/changes?" + query)
        #expect(answer.status == 200)
        return try JSONDecoder().decode(Changes.self, from: Data(answer.body))
    }

    @Test func everyChangeIsSeenOnceWithAnyLimit() throws {
        for limit in 1...7 {
            let served = try ServedStore()
            let uuids = try served.add([60, 61, 62, 63, 64])
            _ = try served.store.samples.delete([uuids[1]], description: IngestDescription(kind: .delete, received: 0))
            var (anchor, seen) = ("0", [Changes.Change]())
            for _ in 0..<10 {
                let part = try changes(served, "after=\(anchor)&limit=\(limit)")
                seen += part.changes
                anchor = part.anchor
                guard part.more else { break }
            }
            #expect(seen.compactMap(\.value) == [60, 62, 63, 64])
            #expect(seen.compactMap(\.deleted) == [uuids[1].description])
            #expect(try changes(served, "after=\(anchor)").changes.isEmpty)
            try served.add([99], from: 1_790_009_000)
            #expect(try changes(served, "after=\(anchor)").changes.compactMap(\.value) == [99])
            #expect(try changes(served, "after=\(anchor)&types=stepCount").changes.isEmpty)
        }
    }

    /// A client with a later anchor receives newly readable samples once, whatever the limit.
    @Test(arguments: [1, 2, 1000]) func anchorIncludesNewlyReadableSamples(limit: Int) throws {
        let served = try ServedStore()
        let noon = Instant(seconds: 1_790_000_000 + 3 * 60)
        try served.grant("heartRate", reading: .from(noon), mayWrite: false, to: served.watch)
        try served.add([60, 61, 62, 63, 64])
        let records = try (0..<3).map { try served.addRecord("\($0)", at: 1_790_000_000 + Int64($0)) }
        func all(after start: String) throws -> (values: [Double], anchor: String) {
            var (anchor, values) = (start, [Double]())
            for _ in 0..<40 {
                let part = try changes(served, "after=\(anchor)&limit=\(limit)")
                values += part.changes.map { $0.value ?? -1 }
                anchor = part.anchor
                guard part.more else { break }
            }
            return (values, anchor)
        }
        var (values, anchor) = try all(after: "0")
        #expect(values == [63, 64])
        try served.grant("heartRate", reading: .all, mayWrite: false, to: served.watch)
        try served.add([99], from: 1_790_100_000)
        (values, anchor) = try all(after: anchor)
        #expect(values == [60, 61, 62, 99])
        #expect(try all(after: anchor).values.isEmpty)
        // Narrower, and nothing more.
        try served.grant("heartRate", reading: .from(noon), mayWrite: false, to: served.watch)
        (values, anchor) = try all(after: anchor)
        #expect(values.isEmpty)
        // Object by object.
        let type = try #require(ObjectType("immunizationRecord"))
        func grant(_ objects: [SampleIdentity], future: Bool = false) throws {
            try served.store.clients.set(
                Grant(person: ServedStore.person, type: type, reading: .objects(future: future), mayWrite: false),
                objects: objects,
                of: served.watch, at: ServedStore.now)
        }
        try grant([records[0]])
        (values, anchor) = try all(after: anchor)
        #expect(values == [-1])
        try grant(records, future: true)
        try served.addRecord("later", at: 1_790_000_009)
        (values, anchor) = try all(after: anchor)
        #expect(values == [-1, -1, -1])
        #expect(try all(after: anchor).values.isEmpty)
        // A client that starts again receives all of them once.
        #expect(try all(after: "0").values == [63, 64, -1, -1, -1, 99, -1])
    }

    @Test func streamIncludesNewlyReadableSamples() throws {
        let served = try ServedStore()
        try served.add([60])
        let client = try served.client()
        client.send("GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.otherToken)\r\n\r\n")
        #expect(client.read(until: "retry: 2000") != nil)
        try served.grant("heartRate", reading: .all, mayWrite: false)
        #expect(client.read(until: "\"value\":60.0") != nil)
    }

    @Test func anchorIsOpaqueAndBoundToClientAndStore() throws {
        let served = try ServedStore()
        try served.add([60])
        let (first, second) = (try changes(served, "").anchor, try changes(served, "").anchor)
        // Two anchors for the same position, which cannot be recognized as such.
        #expect(first != second && first.count == second.count)
        try served.add([Int](60...160), from: 1_791_000_000)
        #expect(try changes(served, "").anchor.count == first.count)
        let client = try served.client()
        #expect(client.get("/v1/changes?after=\(first)", "Authorization: Bearer \(served.otherToken)\r\n")?.status == 410)
        #expect(try served.get("/v1/changes?after=\(first.dropLast())\(first.last == "0" ? "1" : "0")").status == 410)
        #expect(try served.get("/v1/changes?after=5ba07cd5c1be4f10-1").status == 410)
        let other = try ServedStore()
        try other.add([60])
        #expect(try other.get("/v1/changes?after=\(first)").status == 410)
        var status = stat()
        #expect(stat(served.store.path + "-anchors.key", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func streamResumesAfterLastEvent() throws {
        let served = try ServedStore()
        try served.add([60])
        let client = try served.client()
        let head = "GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n"
        client.send(head + "\r\n")
        #expect(client.read(until: "retry: 2000")?.contains("text/event-stream") == true)
        try served.add([71], from: 1_790_001_000)
        let text = try #require(client.read(until: "\"value\":71.0"))
        #expect(text.contains("event: added\nid: ") && !text.contains("\"value\":60.0"))
        let anchor = try #require(text.split(separator: "\n").last { $0.hasPrefix("id: ") }?.dropFirst(4))
        // Changes that arrived without a listener are sent first, then the new ones.
        let uuids = try served.add([72, 73], from: 1_790_002_000)
        let again = try served.client()
        again.send(head + "Last-Event-ID: \(anchor)\r\n\r\n")
        #expect(again.read(until: "\"value\":73.0")?.contains("\"value\":71.0") == false)
        _ = try served.store.samples.delete([uuids[0]], description: IngestDescription(kind: .delete, received: 0))
        #expect(again.read(until: "event: deleted") != nil)
        #expect(client.read(until: "event: deleted") != nil)
        let wrong = try served.client()
        #expect(wrong.get("/v1/changes/stream", "Authorization: Bearer \(served.token)\r\nLast-Event-ID: x\r\n")?.status == 410)
    }

    /// The store is restored from a backup under an open stream. The stream reports it, and so does a reconnection.
    @Test func streamReportsRestoredBackup() throws {
        let served = try ServedStore { $0.heartbeat = .milliseconds(50) }
        try served.add([60])
        try served.store.backup(to: served.folder.file("backup.db"))
        try served.add([61], from: 1_790_001_000)
        let client = try served.client()
        client.send(
            "GET /v1/changes/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        let text = try #require(client.read(until: "\"value\":61.0"))
        let anchor = try #require(text.split(separator: "\n").last { $0.hasPrefix("id: ") }?.dropFirst(4))
        try served.store.checkpoint()
        for suffix in ["-wal", "-shm"] { unlink(served.store.path + suffix) }
        #expect(rename(served.folder.file("backup.db"), served.store.path) == 0)
        let end = try #require(client.read(until: "event: gone"))
        #expect(client.read(until: "\r\n0\r\n\r\n")?.contains("{\"reason\":\"anchor\"}") == true, "\(end.suffix(100))")
        let again = try served.get("/v1/changes/stream", "Last-Event-ID: \(anchor)\r\n")
        #expect(again.status == 410)
        #expect(try changes(served, "").changes.compactMap(\.value) == [60])
    }

    @Test func idleStreamSendsHeartbeats() throws {
        let served = try ServedStore { $0.heartbeat = .milliseconds(50) }
        let client = try served.client()
        client.send("GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        #expect(client.read(until: ": no news") != nil)
        // A client that loses read access receives nothing more.
        try served.revoke()
        #expect(eventually { client.read(until: "so long as it goes on, there is no end of it") == nil })
    }

    @Test func manyStreamsShareThreadsAndReader() throws {
        let served = try ServedStore { $0.server.streamsPerPayer = 64 }
        let clients = try (0..<64).map { _ in try served.client() }
        for client in clients {
            client.send("GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        }
        for client in clients { #expect(client.read(until: "retry: 2000") != nil) }
        #expect(eventually { served.service.readers == 0 })
        try served.add([88])
        for client in clients { #expect(client.read(until: "\"value\":88.0") != nil) }
        served.service.stop()
    }

    @Test func writersKnowWhetherStreamsAreOpen() throws {
        let received = Mutex([Bool]())
        let served = try ServedStore { settings in settings.following = { word in received.withLock { $0.append(word) } } }
        var client: RawClient? = try served.client()
        client?.send("GET /v1/changes/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        // Earlier commits of the store may also ring.
        #expect(eventually { received.withLock { $0.last } == true })
        let before = received.withLock { $0.count }
        try served.add([60])
        #expect(client?.read(until: "\"value\":60.0") != nil)
        #expect(eventually { received.withLock { $0.count } > before })
        #expect(received.withLock { $0.allSatisfy { $0 } })
        client = nil
        served.service.stop()
        #expect(eventually { received.withLock { $0.last } == false })
    }
}
