import ExportTesting
import Glibc
import HomeAssistantKit
import Hub
import PipelineTesting
import SampleStore
import Testing

@testable import HomeAssistantSource

/// The hub with the radios of a Home Assistant.
@Suite(.serialized) struct HouseTests {
    private static let scale = "A4:C1:38:02:83:F4"
    private static let rooms = ["AA:BB:CC:00:00:01", "AA:BB:CC:00:00:02", "AA:BB:CC:00:00:03"]

    private func bench(_ devices: [String] = [scale]) throws -> HouseBench {
        let bench = try HouseBench()
        try bench.server.receive(Self.rooms.map { HomeAssistantServer.advert("00:00:00:00:00:01", "020106", by: $0) })
        try bench.use(token: "good")
        try bench.adopt(devices)
        try bench.reload()
        try bench.hub.start()
        bench.waitUntilListening()
        return bench
    }

    @Test func showsEveryRadio() throws {
        let bench = try bench()
        try bench.server.receive([
            HomeAssistantServer.advert(Self.scale, HouseBench.raw(HouseBench.packet(2000)), strength: -60),
            HomeAssistantServer.advert(Self.scale, HouseBench.raw(HouseBench.packet(2001)), by: Self.rooms[1], strength: -40),
            // A neighbor's.
            HomeAssistantServer.advert("A4:C1:38:02:83:F5", HouseBench.raw(HouseBench.packet(2001))),
        ])
        bench.wait { bench.source?.adverts?.received == 2 }
        try bench.receive(Self.scale, HouseBench.packet(2001))
        let status = try #require(bench.source)
        #expect(status.state == "running" && status.radios == ["house: double 01", "house: double 02", "house: double 03"])
        let device = try #require(bench.radio.devices.first)
        #expect(device.state == "live")
        #expect(device.receptions.map(\.name) == ["house: double 02", "house: double 01", "radio"])
        #expect(device.receptions.map(\.strength) == [-40, -60, -70])
        try bench.hub.stop()
        #expect(try bench.values() == [Self.scale: [2000, 2001]])
        #expect(bench.loop.load.watches == 0, "idle means idle")
    }

    /// Without an adapter, devices that only advertise can still be read.
    @Test func adapterIsNotNeeded() throws {
        let bench = try bench()
        bench.own.hasAdapter = false
        #expect(bench.radio.waitsFor == nil)
        try bench.use(token: "other")
        try bench.adopt([], "bthome-v2")
        try bench.hub.stop()
        bench.radio.hasReceivers = false
        try bench.reload()
        #expect(bench.radio.waitsFor == nil || bench.radio.waitsFor?.contains("adapter") == true)
    }

    @Test func connectionIsMadeAgain() throws {
        let bench = try bench()
        for round in 1...3 {
            let number = 7 * round
            try bench.server.receive([
                HomeAssistantServer.advert(Self.scale, HouseBench.raw(HouseBench.packet(2000 + round, number: number)))
            ])
            bench.wait { (bench.source?.adverts?.received ?? 0) >= round * 2 - 1 }
            try bench.server.receive([#"{"close": true}"#])
            bench.wait("round \(round)") { bench.source?.adverts?.interruptions == round }
            // An advertisement during the interruption has a number, so it is read although it comes from memory.
            try bench.server.receive([
                HomeAssistantServer.advert(Self.scale, HouseBench.raw(HouseBench.packet(3000 + round, number: number + 1)))
            ])
            bench.wait("round \(round)") { bench.source?.adverts?.replayed == round }
        }
        try bench.hub.stop()
        #expect(try bench.values()[Self.scale]?.sorted() == [2001, 2002, 2003, 3001, 3002, 3003])
        #expect(bench.notices.contains { $0.component == "house" && $0.text.contains("again, after") })
    }

    @Test func refusedTokenIsNotTriedAgain() throws {
        let bench = try HouseBench()
        try bench.use(token: "guess")
        try bench.adopt([Self.scale])
        try bench.reload()
        try bench.hub.start()
        bench.wait { bench.source?.reason?.contains("refuses the token") == true }
        let end = ContinuousClock.now + .seconds(2)
        while ContinuousClock.now < end { bench.loop.turn(maximumWait: .milliseconds(50)) }
        try bench.reload()
        #expect(try bench.server.refusedTokens() == 1)
        #expect(bench.notices.contains { $0.weight == .action && $0.component == "house" && !$0.text.contains("guess") })
        try bench.use(token: "good")
        try bench.server.receive([HomeAssistantServer.advert("00:00:00:00:00:01", "020106")])
        try bench.reload()
        bench.waitUntilListening()
        #expect(try bench.server.refusedTokens() == 1)
        try bench.hub.stop()
    }

    /// The remedies are those of the target.
    @Test func failuresNameTheRemedy() throws {
        let bench = try HouseBench()
        try bench.use(token: "member")
        try bench.adopt([Self.scale])
        try bench.reload()
        try bench.hub.start()
        bench.wait { bench.source?.reason?.contains("administrator") == true && bench.source?.state == "waiting" }
        try bench.hub.stop()
        let server = try HomeAssistantServer(options: ["--no-bluetooth"])
        defer { server.kill() }
        try bench.folder.write(Array("good".utf8), to: "good")
        chmod(bench.folder.file("good"), 0o600)
        #expect {
            try AdvertListener.check(
                HomeAssistantSettings(address: HomeAssistantAddress(server.url), token: .file(bench.folder.file("good"))))
        } throws: {
            "\($0)".contains("Bluetooth proxy")
        }
    }

    @Test func brokenMessagesDoNotStopIt() throws {
        let bench = try bench()
        for text in ["x", "[]", #"{\"id\":1,\"type\":\"event\",\"event\":7}"#, #"{\"id\":2,\"type\":\"event\",\"event\":{}}"#] {
            try bench.server.receive([#"{"text": "\#(text)"}"#])
        }
        bench.wait { (bench.source?.adverts?.interruptions ?? 0) > 0 }
        bench.waitUntilListening()
        try bench.server.receive([HomeAssistantServer.advert(Self.scale, HouseBench.raw(HouseBench.packet(2000)))])
        bench.wait { (bench.source?.adverts?.received ?? 0) > 0 }
        try bench.hub.stop()
        #expect(try bench.values() == [Self.scale: [2000]])
    }

    /// 20 devices through three radios of Home Assistant and the hub's own: each reading once, and none that the hub received is missing.
    @Test func eachReadingOnce() throws {
        let devices = (0..<20).map { "A4:C1:38:00:00:" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        let bench = try bench(devices)
        var random = SeededGenerator(seed: 3)
        var expected: [String: Set<Int>] = [:]
        for value in 1...150 {
            var adverts: [String] = []
            var own: [String] = []
            for (index, device) in devices.enumerated() {
                // Half of them number their packets.
                let raw = HouseBench.raw(HouseBench.packet(value * 10, number: index.isMultiple(of: 2) ? value : nil))
                for room in Self.rooms where Int.random(in: 0..<3, using: &random) > 0 {
                    let strength = Int.random(in: -90 ... -40, using: &random)
                    for _ in 0..<Int.random(in: 1...2, using: &random) {
                        adverts.append(HomeAssistantServer.advert(device, raw, by: room, strength: strength))
                    }
                }
                if Int.random(in: 0..<3, using: &random) > 0 { own.append(device) }
            }
            adverts.shuffle(using: &random)
            let isFirst = Bool.random(using: &random)
            func receiveOwn() throws {
                for (index, device) in devices.enumerated() where own.contains(device) {
                    try bench.receive(device, HouseBench.packet(value * 10, number: index.isMultiple(of: 2) ? value : nil))
                    expected[device, default: []].insert(value * 10)
                }
            }
            if isFirst { try receiveOwn() }
            try bench.server.receive(adverts)
            if !isFirst { try receiveOwn() }
            bench.loop.turn(maximumWait: .zero)
        }
        let sent = try bench.server.sentAdverts().filter { devices.contains($0.address) }
        for (device, raw) in sent {
            let bytes = raw.suffix(4)
            let value = Int(bytes.suffix(2) + bytes.prefix(2), radix: 16)
            expected[device, default: []].insert(try #require(value))
        }
        #expect(sent.count > 2000)
        bench.wait { bench.source?.adverts?.received == sent.count }
        #expect(bench.source?.adverts?.dropped == 0)
        try bench.hub.stop()
        let stored = try bench.values()
        for device in devices {
            #expect(stored[device]?.sorted() == expected[device]?.sorted(), "\(device)")
        }
    }
}
