import BlueZSource
import ExportTesting
import FoundationEssentials
import Pipeline
import PipelineTesting
import Testing
import WebSocketKit

@testable import HomeAssistantSource

/// A session recorded from Home Assistant 2026.2.3: hearings of its radios, and events of a subscriber.
@Suite struct AdvertCaseTests {
    struct Case: Decodable {
        struct Step: Decodable {
            var note: String?
            var heard: [String: JSON]?
            var send: [String: JSON]?
            var answer: JSON?
            var event: JSON?
        }
        var steps: [Step]
    }

    static func steps() throws -> [Case.Step] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Cases/10-adverts.json")
        return try JSONDecoder().decode(Case.self, from: Data(contentsOf: file)).steps
    }

    static func text(_ value: some Encodable) throws -> [UInt8] { Array(try JSONEncoder().encode(value)) }

    /// The double sends the recorded events, and no others.
    @Test func doubleSendsAsRecorded() throws {
        let server = try HomeAssistantServer()
        defer { server.kill() }
        let socket = try WebSocket(server.url + "/api/websocket")
        func receive() throws -> JSON {
            let bytes = try #require(try socket.receive(within: .seconds(10)))
            return try JSONDecoder().decode(JSON.self, from: Data(bytes))
        }
        _ = try receive()
        try socket.send(Array(#"{"type":"auth","access_token":"good"}"#.utf8))
        _ = try receive()
        for step in try Self.steps() {
            if var heard = step.heard {
                if step.note == nil, heard["address"] == .string("C0:00:00:00:00:06") { heard["age"] = .number(30) }
                try server.receive([String(decoding: try Self.text(heard), as: UTF8.self)])
            }
            if let send = step.send { try socket.send(try Self.text(send)) }
            for expected in [step.answer, step.event].compactMap(\.self) {
                let received = try receive()
                #expect(received.withoutTimes == expected.withoutTimes, "\(step.note ?? "")")
            }
        }
        try socket.send(Array(#"{"id":99,"type":"ping"}"#.utf8))
        #expect(try receive() == .object(["id": .number(99), "type": .string("pong")]))
    }

    @Test func recordedSessionIsRead() throws {
        var reader = AdvertReader(addresses: nil, uptime: 100, now: 1_795_892_835)
        var read: [String] = []
        for event in try Self.steps().compactMap(\.event) {
            let bytes = try Self.text(event)
            guard case .object(let members) = event, members["id"] == .number(1) else {
                if case .object(let members) = event, members["id"] == .number(2) { reader.readRadios(bytes) }
                continue
            }
            for advert in reader.read(bytes, uptime: 100 + Double(read.count), now: 1_795_892_835 + Double(read.count)) {
                let parts = advert.parts.map { "\($0.key.channel) \($0.value.count)" }.sorted().joined(separator: ", ")
                read.append(
                    "\(advert.address) \(advert.strength ?? 0) \(parts) \(advert.radioName) \(advert.replay?.rawValue ?? "now")")
            }
        }
        #expect(
            read.prefix(8) == [
                "A4:C1:38:02:83:F4 -63 advert:181A 13 AA:BB:CC:00:00:01 timed",
                "A4:C1:38:02:83:F4 -60 advert:181A 13 double 01 now", "A4:C1:38:02:83:F4 -60 advert:181A 13 double 01 now",
                "A4:C1:38:02:83:F4 -35 advert:181A 13 double 02 now",
                // Only the data of the packet, although Home Assistant shows both companies.
                "C0:00:00:00:00:01 -60 advert:manufacturer:1111 2 double 01 now",
                "C0:00:00:00:00:01 -60 advert:manufacturer:2222 2 double 01 now", "C0:00:00:00:00:02 -60  double 01 now",
                "C0:00:00:00:00:03 -60 advert:manufacturer:004C 4 double 01 now",
            ])
        // The torn one is missing.
        #expect(
            read.dropFirst(8).map { $0.prefix(17) } == ["C0:00:00:00:00:06"] + Array(repeating: "C0:00:00:00:00:07", count: 5))
        #expect(reader.counts.received == 15 && reader.counts.torn == 1 && reader.counts.replayed == 1)
        #expect(reader.radios == ["AA:BB:CC:00:00:01": "double 01"])
    }
}

extension JSON {
    /// The value without times, and with the members of objects only.
    fileprivate var withoutTimes: JSON {
        switch self {
        case .list(let values): .list(values.map(\.withoutTimes))
        case .object(let values): .object(values.filter { $0.key != "time" }.mapValues(\.withoutTimes))
        default: self
        }
    }
}
