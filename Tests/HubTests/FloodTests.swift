import HealthModel
import Hub
import Ingestion
import PipelineTesting
import Testing

@testable import BlueZSource
@testable import SampleStore

/// Anybody can send adverts under a device's address, as many as the air takes: they must not fill the disk.
@Suite struct FloodTests {
    private func receive(_ count: Int, every pause: Duration, from first: Int = 0, _ bench: RadioBench) {
        for number in first..<(first + count) {
            bench.receive("advert:FCD2", [0x40, 0x02, UInt8(number & 0xFF), UInt8(number >> 8)], after: pause)
        }
    }

    @Test func aFlood() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        receive(5000, every: .milliseconds(2), bench)
        // A minute's worth at once, and what ten seconds are worth.
        let samples = try bench.live.waitingSamples + bench.samples().count
        #expect((700...702).contains(samples))
        #expect(bench.notices.count == 1)
        #expect(bench.notices.first?.component == "C0:01:02:03:04:01")
        // When the flood is over, all that comes counts again.
        bench.pass(.seconds(120))
        receive(100, every: .seconds(1), from: 5000, bench)
        try bench.stop()
        #expect(try bench.samples().count == samples + 100)
        #expect(bench.notices.count == 1)
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect(account.stored == samples + 100)
        #expect(account.skipped == ["flood": 5000 - samples])
    }

    /// A number of readings up to the limit is not a flood, for any length of time. A connection never is.
    @Test func noFlood() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2", "sig-heart-rate")
        receive(2000, every: .milliseconds(100), bench)
        for rate in 0..<2000 { bench.receive("gatt:2A37", [0x00, UInt8(60 + rate % 2)], after: .milliseconds(10)) }
        try bench.stop()
        #expect(try bench.samples().count == 4000)
        #expect(bench.notices.isEmpty)
    }

    /// Packets encrypted with another key are refused, and each is a line in the ledger. They are counted as well, and do not reduce the
    /// limit of the real device.
    @Test func aFloodOfForgedPackets() throws {
        let bench = try RadioBench()
        let address = DeviceAssembly.storedAddress(RadioBench.address)
        var device = AdoptedDevice(
            address: address, key: address, profiles: ["bthome-v2"], name: "", person: bench.store.owner, adopted: 1)
        device.bindKey = SealedAdvertTests.key
        try bench.store.devices.save(device)
        try bench.reload()
        for number in 0..<5000 {
            let packet = [0x41, UInt8(number & 0xFF), UInt8(number >> 8), 0x8E, 9, 0, 0, 0, 0x0A, 0x5D, 0x6E, 0xCD] as [UInt8]
            bench.receive("advert:FCD2", packet, after: .milliseconds(2))
        }
        #expect(bench.notices.count == 1)
        for packet in SealedAdvertTests.packets { bench.receive("advert:FCD2", packet, after: .seconds(1)) }
        try bench.stop()
        #expect(try bench.samples().count == 3)
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect((700...702).contains(account.refused))
        #expect(account.skipped == ["flood": 5000 - account.refused])
        #expect(account.read == 3 + account.refused)
    }
}
