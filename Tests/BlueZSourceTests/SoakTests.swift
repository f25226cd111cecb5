import EventLoopKit
import Glibc
import HealthModel
import Hub
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import SampleStore
import Testing

@testable import BlueZSource

/// One day of a household with twenty devices that come and go, in steps of five minutes: from D-Bus to the store.
@Suite(.serialized) struct SoakTests {
    private static let steps = 288
    private static let profiles = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/DeviceProfiles"

    /// Story 11: nothing is lost, doubled or leaked. After a day, memory, descriptors, timers, slots and calls are the same as after an
    /// hour.
    ///
    /// Memory is measured for the whole process, which other tests share. The day therefore runs in a separate process.
    @Test func aDayWithTwentyDevices() throws {
        #expect(try OwnProcess.run("aDayWithTwentyDevices", day) == 0)
    }

    private func day() throws {
        let bench = try Bench()
        let folder = try TemporaryFolder()
        let start = bench.clock.now
        let store = try SampleStore(
            path: folder.file("store.db"), access: .write,
            creation: .init(person: "11111111-2222-4333-8444-555555555555", time: 0))
        let zone = TimeZoneRules(fixed: .utc)
        let live = LiveIngest(
            store: store, now: { start }, zone: zone,
            loop: bench.loop)
        let hub = Hub(live: live)
        let service = RadioService(live: live, source: bench.source)
        hub.add(service, policy: .error)
        bench.source.delegate = service
        let devices = (0..<20).map { "C0:01:02:03:05:" + String(0x10 + $0, radix: 16) }
        for (index, device) in devices.enumerated() {
            // Half of them hand out descriptors.
            bench.addStrap(device, acquire: index.isMultiple(of: 2))
            let address = DeviceAssembly.storedAddress(try #require(BluetoothAddress(device)))
            try store.devices.save(
                AdoptedDevice(
                    address: address, key: address, profiles: ["sig-heart-rate"], name: "", person: store.owner, adopted: 1))
        }
        hub.apply(
            HubSettings(
                library: try ProfileLibrary.load(directories: [Self.profiles]), devices: try store.devices.adopted(),
                aliases: try store.devices.aliases(), zone: zone))
        try hub.start()
        var before = Load()
        for step in 0..<Self.steps {
            try gather(devices, bench)
            for (index, device) in devices.enumerated() {
                let rate = UInt8(50 + (step + index) % 100)
                bench.bluez.notify(bench.bluez.characteristic(device, 0x180D, 0x2A37), [0x00, rate])
            }
            try bench.waitUntilIdle()
            if step == 12 { before = Load(bench) }
            if step < Self.steps - 1 {
                // Some devices leave by themselves. The others are silent for so long that their links are renewed.
                for (index, device) in devices.enumerated() where (step + index).isMultiple(of: 3) {
                    bench.bluez.disconnect(device)
                }
            }
            try bench.pass(.seconds(300))
        }
        try gather(devices, bench)
        let after = Load(bench)
        try hub.stop()
        #expect(after.counts == before.counts)
        #expect(after.memory - before.memory < 16 << 20, "bytes more in memory")
        let account = try #require(try store.ledger.account(of: 1))
        #expect(account.stored == Self.steps * devices.count)
        #expect(account.read == account.stored)
        #expect(try store.summary().samples == account.stored)
        #expect(bench.bluez.count("Connect") > Self.steps * devices.count / 3)
    }

    /// Brings back all devices that are away.
    private func gather(_ devices: [String], _ bench: Bench) throws {
        var rounds = 0
        while true {
            let missing = devices.filter { !bench.isLive($0) }
            if missing.isEmpty { return }
            rounds += 1
            try #require(rounds < 100, "\(missing.count) devices do not come back")
            for device in missing { bench.bluez.change(ScriptedBlueZ.path(device), BlueZ.device, ["RSSI": .int16(-51)]) }
            try bench.pass(.seconds(1))
        }
    }

    private struct Load {
        /// Messages, slots and calls of D-Bus, descriptors watched, timers, and all descriptors of the process.
        var counts: [Int] = []
        /// In bytes, resident.
        var memory = 0

        init() {}
        init(_ bench: Bench) {
            let bus = bench.source.bus.load
            counts = [bus.messages, bus.slots, bus.calls, bench.loop.load.watches, OwnProcess.openDescriptors()]
            guard let file = fopen("/proc/self/statm", "r") else { return }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            guard fgets(&line, 256, file) != nil else { return }
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            memory = (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }
}
