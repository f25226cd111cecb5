import HealthModel
import SystemdKit
import Testing

@testable import BlueZSource

/// ATT allows thirty seconds for each answer. A slow device is not a missing one.
@Suite(.serialized) struct SlowDeviceTests {
    static let strap = "C0:01:02:03:04:01"

    /// A strap with all descriptive characteristics. The test answers its reads.
    private func slowBench() throws -> Bench {
        let bench = try Bench()
        bench.addStrap()
        bench.bluez.addService(
            Self.strap, 0x180A,
            [0x2A27, 0x2A26, 0x2A28, 0x2A23, 0x2B00].map { ($0, ["Value": .bytes(Array("1.0".utf8))]) })
        bench.bluez.answers["ReadValue"] = { [unowned bluez = bench.bluez] in bluez.ignored.append($0) }
        bench.source.adopt(try Bench.strap(), memory: DeviceMemory())
        bench.source.start()
        try bench.until("a read") { !bench.bluez.ignored.isEmpty }
        return bench
    }

    @Test func doesNotDisconnectSlowDevice() throws {
        let bench = try slowBench()
        var reads = 0
        while let call = bench.bluez.ignored.first, reads < 20 {
            try bench.pass(.seconds(8))
            bench.bluez.ignored.removeFirst()
            bench.bluez.defaultAnswer(call)
            try bench.waitUntilIdle()
            reads += 1
        }
        #expect(reads == 8)
        #expect(bench.isLive())
        #expect(bench.bluez.count("Disconnect") == 0)
        #expect(bench.memories.last?.device?.key == "Maker/H1/SN12")
        // A person who looks why nothing comes finds it, once.
        #expect(bench.notices.count { $0.weight == .information && $0.text.contains("responds slowly") } == 1)
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
        try bench.until("a frame") { bench.frames == ["gatt:2A37 1648"] }
    }

    /// Readings that arrive while a device describes itself are kept. They belong to the same device and have their own times.
    @Test func buffersReadingsDuringDescription() throws {
        let bench = try slowBench()
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        var beats: UInt8 = 0x40
        while let call = bench.bluez.ignored.first, beats < 0x60 {
            bench.bluez.notify(path, [0x16, beats])
            beats += 1
            try bench.pass(.seconds(8))
            // Not longer than a power cut may cost (Decision 20). By then, the parts of its key were read.
            #expect(bench.frames.isEmpty == (beats < 0x44))
            // The hub's own clock is set in between, as by NTP after a start.
            if beats == 0x43 { bench.clock.start = Instant(microseconds: bench.clock.start.microseconds + 1_000_000_000) }
            bench.bluez.ignored.removeFirst()
            bench.bluez.defaultAnswer(call)
            try bench.waitUntilIdle()
        }
        #expect(bench.frames == (0x40..<0x48).map { "gatt:2A37 16" + String($0, radix: 16) })
        #expect(Set(bench.devices.map { $0?.key }) == ["Maker/H1/SN12"])
        #expect(zip(bench.received, bench.received.dropFirst()).allSatisfy { $1.microseconds - $0.microseconds == 8_000_000 })
        #expect(bench.received.last.map { bench.clock.now.microseconds - $0.microseconds } == 8_000_000)
    }

    /// The link ends before the device has described itself completely. Known parts are not read again, and waiting readings are kept.
    @Test func aDescriptionOverTwoLinks() throws {
        let bench = try slowBench()
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        for _ in 0..<3 {
            let call = bench.bluez.ignored.removeFirst()
            bench.bluez.defaultAnswer(call)
            try bench.until("the next read") { !bench.bluez.ignored.isEmpty }
        }
        bench.bluez.notify(path, [0x16, 0x48])
        try bench.waitUntilIdle()
        bench.bluez.ignored.removeFirst().fail(BusError("org.bluez.Error.NotConnected"))
        bench.bluez.disconnect(Self.strap)
        bench.bluez.answers["ReadValue"] = nil
        let asked = bench.bluez.count("ReadValue")
        try bench.pass(.seconds(5))
        bench.bluez.change(ScriptedBlueZ.path(Self.strap), BlueZ.device, ["RSSI": .int16(-51)])
        try bench.until("live") { bench.isLive() }
        #expect(bench.bluez.count("ReadValue") == asked + 5)
        #expect(bench.frames == ["gatt:2A37 1648"])
        #expect(bench.devices.first??.key == "Maker/H1/SN12")
    }

    /// The hub stops before the device has described itself. Waiting readings are not discarded.
    @Test func deliversBufferedFramesOnStop() throws {
        let bench = try slowBench()
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
        try bench.waitUntilIdle()
        #expect(bench.frames.isEmpty)
        bench.source.stop()
        #expect(bench.frames == ["gatt:2A37 1648"])
    }

    /// However long it takes, nothing that came is thrown away.
    @Test func deliversBufferedFramesAtLimit() throws {
        let bench = try slowBench()
        let path = bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37)
        for number in 0..<4096 {
            bench.bluez.notify(path, [0x16, UInt8(number & 0xFF)])
            if number % 256 == 254 { try bench.waitUntilIdle() }
        }
        try bench.until("the frames") { !bench.frames.isEmpty }
        #expect(bench.frames.count == 4096)
        #expect(bench.places == Array(1...4096))
    }

    /// An answer that never arrives ends the link, and the log names the request.
    @Test func reportsMissingResponse() throws {
        let bench = try slowBench()
        try bench.pass(.seconds(36))
        try bench.until("the end of the link") { bench.bluez.count("Disconnect") == 1 }
        #expect(bench.notices.contains { $0.weight == .warning && $0.text.contains("no response") })
    }
}
