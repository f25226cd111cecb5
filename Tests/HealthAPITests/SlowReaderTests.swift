import HTTPServerTesting
import HealthModel
import HealthServingTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthAPI

/// A client that follows changes without reading is disconnected with an event, costs little until then, and misses nothing.
@Suite struct SlowReaderTests {
    private static let count = 2000

    private func values(_ text: String) -> [Int] {
        text.split(separator: "\"value\":").dropFirst().compactMap { Int($0.prefix { $0.isNumber }) }
    }

    @Test(arguments: ["", "Accept-Encoding: gzip\r\n"]) func slowReaderResumesAfterDisconnection(packing: String) throws {
        let received = Mutex([Bool]())
        let served = try ServedStore {
            $0.following = { word in received.withLock { $0.append(word) } }
            $0.server.slowTime = .milliseconds(300)
        }
        let numerals = (0..<Self.count).map { "\($0 * 7919 % 100_000 + 100_000)" }
        try served.add(numerals: numerals, of: "stepCount", every: 60)
        let head = "GET /v1/changes/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n"
        let client = try #require(RawClient(served.service.address, receiveBuffer: 4096))
        client.send(head + packing + "\r\n")
        // Nothing is read before the server has given up.
        #expect(eventually { received.withLock { $0.contains(true) && $0.last == false } })
        // It ends as an answer does.
        let answer = try #require(client.answer())
        #expect(answer.headers["content-encoding"] == (packing.isEmpty ? nil : "gzip"))
        // The unread data in the server is bounded, however many changes there are.
        #expect(answer.body.count < 200_000)
        guard packing.isEmpty else { return }
        let first = values(answer.text)
        #expect(!first.isEmpty && first.count < Self.count)
        #expect(answer.text.hasSuffix("data: {\"reason\":\"slow\"}\n\n") && answer.text.contains("event: gone\n"))
        let last = try #require(answer.text.split(separator: "\n").last { $0.hasPrefix("id: ") }?.dropFirst(4))
        let rest = try served.get("/v1/changes?limit=10000&after=\(last)")
        #expect(first + values(rest.text) == numerals.compactMap { Int($0) })
    }

    /// A client that reads receives everything at once.
    @Test func fastReaderReceivesEverything() throws {
        let served = try ServedStore { $0.heartbeat = .milliseconds(50) }
        let numerals = (0..<Self.count).map { "\($0 + 100_000)" }
        try served.add(numerals: numerals, of: "stepCount", every: 60)
        let client = try served.client()
        client.send(
            "GET /v1/changes/stream?after=0 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(served.token)\r\n\r\n")
        let text = Self.joined(try #require(client.read(until: ": no news")))
        #expect(!text.contains("event: gone") && values(text).count == Self.count)
    }

    /// What chunks hold, as far as they came.
    private static func joined(_ answer: String) -> String {
        var rest = Array(answer.utf8)[...]
        let blank = Array("\r\n\r\n".utf8)
        guard let head = rest.indices.first(where: { rest[$0...].starts(with: blank) }) else { return "" }
        rest = rest[(head + 4)...]
        var text: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0A) {
            let size = Int(String(decoding: rest[..<end], as: UTF8.self).filter(\.isHexDigit), radix: 16) ?? 0
            text += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size + 2)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
