import HealthModel
import Hub
import Ingestion
import PipelineTesting
import SampleStore
import Testing

@testable import BlueZSource

/// Two devices of one make that report the same identity, including the serial number. This is reported, and the user separates them.
@Suite struct SharedKeyTests {
    static let common = "Maker/Meter/42"

    private static func other() throws -> BluetoothAddress { try #require(BluetoothAddress("C0:01:02:03:04:02")) }

    /// Two straps that have identified themselves.
    private static func bench() throws -> RadioBench {
        let bench = try RadioBench()
        // A follower requires a commit every second.
        bench.live.needsPromptCommits = true
        try bench.adopt("sig-heart-rate")
        try bench.adopt("sig-heart-rate", at: other())
        var memory = DeviceMemory()
        memory.device = RadioBench.device
        for address in [RadioBench.address, try other()] { bench.service.remember(memory, for: address) }
        return bench
    }

    private static func keys(_ bench: RadioBench) throws -> [Double: String] {
        Dictionary(uniqueKeysWithValues: try bench.samples().map { ($0.sample.value, $0.sample.origin.device?.key ?? "") })
    }

    @Test func reportsSharedKeyOnceAndSeparatesDevices() throws {
        let bench = try Self.bench()
        let other = try Self.other()
        for rate in 60..<65 {
            bench.receive("gatt:2A37", [0x00, UInt8(rate)], after: .seconds(1))
            bench.receive("gatt:2A37", [0x00, UInt8(rate + 100)], of: other)
        }
        bench.pass(.seconds(1))
        #expect(Set(try Self.keys(bench).values) == [Self.common])
        let reported = bench.notices.filter { $0.weight == .action && $0.text.contains("devices part") }
        #expect(reported.count == 1)
        let before = try bench.samples().map(\.uuid)

        let key = try bench.store.devices.part(device: DeviceAssembly.storedAddress(other))
        #expect(key == "Maker/Meter/42/C0:01:02:03:04:02")
        try bench.reload()
        bench.receive("gatt:2A37", [0x00, 70], after: .seconds(1))
        bench.receive("gatt:2A37", [0x00, 170], of: other)
        bench.pass(.seconds(1))
        let keys = try Self.keys(bench)
        #expect(keys[70] == Self.common && keys[170] == key)
        #expect(Set(before).isSubset(of: Set(try bench.samples().map(\.uuid))), "what is stored stays")
        // It reports its identity again, also in another run, and stays separate.
        var memory = DeviceMemory()
        memory.device = RadioBench.device
        bench.service.remember(memory, for: other)
        try bench.stop()
        #expect(try bench.reader().devices.adopted().map(\.storageKey) == [Self.common, key])
        #expect(bench.notices.filter { $0.weight == .action }.count == reported.count)
    }

    /// The sensor returns under another address, and the earlier one is absent. By its identity it is the same device.
    @Test func doesNotReportChangedAddress() throws {
        let bench = try Self.bench()
        bench.source.away = [RadioBench.address]
        for rate in 60..<65 { bench.receive("gatt:2A37", [0x00, UInt8(rate)], after: .seconds(1), of: try Self.other()) }
        bench.pass(.seconds(1))
        #expect(!bench.notices.contains { $0.weight == .action })
    }

    @Test func mergedAgain() throws {
        let bench = try Self.bench()
        let address = DeviceAssembly.storedAddress(try Self.other())
        try bench.stop()
        let key = try bench.store.devices.part(device: address)
        try bench.store.devices.merge(device: key, into: Self.common)
        #expect(try bench.store.devices.aliases() == [key: Self.common])
        #expect(try bench.store.devices.part(device: address) == key, "the same key as before")
        #expect(try bench.store.devices.aliases().isEmpty)
    }

    @Test func refusesPartingSingleDevice() throws {
        let bench = try Self.bench()
        try bench.stop()
        let other = DeviceAssembly.storedAddress(try Self.other())
        #expect(throws: StoreError.self) { try bench.store.devices.part(device: "bluetooth:C0:01:02:03:04:77") }
        try bench.store.devices.part(device: other)
        for address in [other, DeviceAssembly.storedAddress(RadioBench.address)] {
            #expect(throws: StoreError.self, "they are parted already") { try bench.store.devices.part(device: address) }
        }
        // Adopting it again, such as with another profile, does not make it another device.
        var device = try #require(try bench.store.devices.adopted().last)
        device.profiles = ["sig-heart-rate", "sig-battery"]
        try bench.store.devices.save(device)
        #expect(try bench.store.devices.adopted().last?.ownKey == device.ownKey && device.ownKey != nil)
    }
}
