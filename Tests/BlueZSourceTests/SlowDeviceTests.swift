import Testing

@testable import BlueZSource

/// ATT allows thirty seconds for each answer; a device that takes its time is not one that is gone.
@Suite(.serialized) struct SlowDeviceTests {
    static let strap = "C0:01:02:03:04:01"

    /// A strap with everything a device may say about itself, whose reads the test answers.
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

    @Test func aDeviceThatAnswersSlowlyIsNotHungUpOn() throws {
        let bench = try slowBench()
        var reads = 0
        while let call = bench.bluez.ignored.first, reads < 20 {
            try bench.pass(.seconds(8))
            bench.bluez.ignored.removeFirst()
            bench.bluez.usual(call)
            try bench.settle()
            reads += 1
        }
        #expect(reads == 8)
        #expect(bench.isLive())
        #expect(bench.bluez.count("Disconnect") == 0)
        #expect(bench.memories.last?.device?.key == "Maker/H1/SN12")
        // A person who looks why nothing comes finds it, once.
        #expect(bench.notices.count { $0.weight == .information && $0.text.contains("answers slowly") } == 1)
        bench.bluez.notify(bench.bluez.characteristic(Self.strap, 0x180D, 0x2A37), [0x16, 0x48])
        try bench.until("a frame") { bench.frames == ["gatt:2A37 1648"] }
    }

    /// One answer that never comes ends the link, and what was waited for is told.
    @Test func anAnswerThatNeverComesIsTold() throws {
        let bench = try slowBench()
        try bench.pass(.seconds(36))
        try bench.until("the end of the link") { bench.bluez.count("Disconnect") == 1 }
        #expect(bench.notices.contains { $0.weight == .warning && $0.text.contains("no answer") })
    }
}
