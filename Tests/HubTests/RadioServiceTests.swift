import HealthModel
import Ingestion
import Pipeline
import PipelineTesting
import Profiles
import Testing

@testable import BlueZSource
@testable import Hub
@testable import SampleStore

@Suite struct RadioServiceTests {
    @Test func framesBecomeSamplesOnceASecond() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        #expect(bench.loop.load.timers == 0)
        for rate in 60..<65 { bench.receive("gatt:2A37", [0x00, UInt8(rate)], after: .milliseconds(100)) }
        #expect(try bench.samples().isEmpty)
        #expect(bench.loop.load.timers == 1)
        bench.pass(.seconds(1))
        #expect(try bench.samples().map(\.sample.value) == [60, 61, 62, 63, 64])
        // The time of each is its own receipt, whichever commit it came with.
        let starts = try bench.samples().map(\.sample.start.microseconds)
        #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 == 100_000 })
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect((account.kind, account.state, account.stored) == (.live, "done", 5))
    }

    /// `doctor` calls a missing adapter broken, so the status must not call the radio running.
    @Test func theRadioWaitsForAnAdapter() throws {
        let bench = try RadioBench()
        func radio() throws -> HubStatus.Source {
            try #require(HubStatus(of: bench.hub, started: .zero).sources.first { $0.name == "radio" })
        }
        try bench.hub.start()
        bench.source.hasAdapter = false
        // Without a Bluetooth device, no adapter was requested.
        #expect(try radio().state == "running")
        try bench.adopt("sig-heart-rate")
        #expect(try radio().state == "waiting")
        #expect(try radio().reason == "no Bluetooth adapter responds: run `vitalgate doctor`")
        bench.source.hasAdapter = true
        #expect(try radio().state == "running")
        #expect(try radio().reason == nil)
        try bench.stop()
    }

    @Test func onlyAdoptedDevices() throws {
        let bench = try RadioBench()
        bench.receive("gatt:2A37", [0x00, 60])
        bench.pass(.seconds(2))
        try bench.stop()
        #expect(try bench.store.ledger.accounts().isEmpty)
    }

    @Test func countsDamagedAndUnknownFrames() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        bench.receive("gatt:2A37", [0x01, 60])
        bench.receive("gatt:FFFF", [1])
        bench.receive("gatt:2A37", [0x00, 60])
        try bench.stop()
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect((account.stored, account.refused, account.skipped) == (1, 1, ["no-profile": 1]))
    }

    @Test func confirmsAfterCommit() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        var stored: [Int] = []
        var cursor: AdoptedDevice.LastRecord?
        bench.source.onConfirm = { _ in
            // Another connection sees only committed samples.
            stored.append((try? bench.samples().count) ?? -1)
            cursor = (try? bench.reader().devices.adopted().first?.lastRecord) ?? nil
        }
        bench.compareClocks()
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7))
        var memory = DeviceMemory()
        memory.device = RadioBench.device
        memory.records = RecordCursor(number: 7, fingerprint: .max, count: 7)
        let token = CommitToken(address: RadioBench.address, number: 1)
        bench.service.commit(token, memory: memory)
        #expect(bench.source.confirmed == [token])
        #expect(stored == [1])
        #expect(cursor == AdoptedDevice.LastRecord(number: 7, fingerprint: -1, count: 7))
        #expect(bench.loop.load.timers == 0)
        // Another run starts where this one ended.
        try bench.stop()
        try bench.restartHub()
        #expect(bench.source.adopted.last?.memory == memory)
        #expect(try bench.reader().devices.adopted().first?.key == "Maker/Meter/42")
    }

    @Test func doesNotConfirmDuringStoreFailure() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        let token = CommitToken(address: RadioBench.address, number: 1)
        bench.compareClocks()
        try bench.store.connection.execute("PRAGMA query_only = ON")
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7))
        bench.service.commit(token, memory: DeviceMemory())
        #expect(bench.source.confirmed.isEmpty)
        try bench.store.connection.execute("PRAGMA query_only = OFF")
        #expect(bench.notices.contains { $0.component == "store" && $0.weight == .action })
        bench.pass(.seconds(2))
        #expect(bench.source.confirmed == [token])
        #expect(try bench.samples().count == 1)
        try bench.stop()
    }

    @Test func correctedClockKeepsIdentity() throws {
        let slow = try RadioBench()
        let right = try RadioBench()
        for bench in [slow, right] { try bench.adopt("sig-glucose") }
        let now = slow.clock.now
        let expected = now.wallTime(at: ZoneOffset(seconds: 3600))
        slow.service.learned(
            ClockEvidence(
                shown: WallTime(microseconds: expected.microseconds - 7_200_000_000), received: now, expected: expected),
            for: RadioBench.address)
        right.compareClocks()
        for bench in [slow, right] {
            // A record from this morning, before the time that the slow clock shows now.
            bench.receive("gatt:2A18", RadioBench.glucose(number: 7, hour: 5))
            try bench.stop()
        }
        let (corrected, recorded) = (try #require(slow.samples().first).sample, try #require(right.samples().first).sample)
        #expect(corrected.identity == recorded.identity)
        #expect(corrected.start.microseconds - recorded.start.microseconds == 7_200_000_000)
        #expect((corrected.timeOrigin, recorded.timeOrigin) == (.deviceCorrected, .device))
        #expect(try slow.store.ledger.account(of: 1)?.notes.count == 1)
    }

    @Test func repeatedAdvertisementIsOneMeasurement() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        // Packet id, temperature.
        for packet: UInt8 in [1, 1, 1, 2, 2] {
            bench.receive("advert:FCD2", [0x40, 0x00, packet, 0x02, 0xC4, 0x09], after: .seconds(5))
        }
        try bench.stop()
        #expect(try bench.samples().count == 2)
        #expect(try bench.store.ledger.account(of: 1)?.skipped == ["repeated-advert": 3])
    }

    @Test func changesOfAPersonAreTakenUp() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        #expect(bench.source.adopted.count == 1)
        try bench.reload()
        #expect(bench.source.adopted.count == 1, "nothing changed")
        var device = try #require(try bench.store.devices.adopted().first)
        device.person = Origin.unassigned
        try bench.store.devices.save(device)
        bench.receive("gatt:2A37", [0x00, 60])
        try bench.reload()
        bench.receive("gatt:2A37", [0x00, 61])
        try bench.store.devices.forget(device: device.address)
        try bench.reload()
        #expect(bench.source.released == [RadioBench.address])
        bench.receive("gatt:2A37", [0x00, 62])
        try bench.stop()
        #expect(Set(try bench.samples().map(\.sample.origin.person)) == [bench.store.owner, Origin.unassigned])
        #expect(try bench.store.devices.adopted().isEmpty, "what is forgotten stays so")
    }

    /// Story 30: a device that returns under another key (paired again, repaired) continues as before.
    @Test func newKeyIsStoredUnderOldKey() throws {
        let bench = try RadioBench()
        try bench.store.devices.merge(device: RadioBench.device.key, into: "old")
        try bench.adopt("sig-heart-rate")
        bench.receive("gatt:2A37", [0x00, 60])
        try bench.stop()
        #expect(try bench.samples().first?.sample.origin.device?.key == "old")
    }
}

@Suite struct DeviceAssemblyTests {
    private func near(services: [UInt16], adverts: Set<AdvertisedData> = [], name: String? = nil) -> NearbyDevice {
        NearbyDevice(
            address: RadioBench.address, addressIsDurable: true, name: name, strength: nil,
            services: services.map { BluetoothUUID($0) },
            adverts: adverts, isBonded: false, isConnected: false, adapter: "hci0")
    }

    /// The output of `scan` for a device that is not adopted.
    @Test func scanAdvice() throws {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let adopt = "vitalgate devices adopt C0:01:02:03:04:01"
        let pair = "vitalgate devices pair C0:01:02:03:04:01"
        let strap = try #require(assembly.advice(for: near(services: [0x180D, 0x180F])))
        #expect(strap.names == ["Heart Rate"] && strap.commands == [adopt])
        var cuff = near(services: [0x1810])
        #expect(assembly.advice(for: cuff)?.commands == [pair, adopt])
        cuff.isBonded = true
        #expect(assembly.advice(for: cuff)?.commands == [adopt])
        var changing = near(services: [0x180D])
        changing.addressIsDurable = false
        #expect(assembly.advice(for: changing)?.commands == [pair, adopt])
        let users = try #require(assembly.advice(for: near(services: [], name: "BF720")))
        #expect(users.names.contains("Weight Scale") && users.commands.count == 3)
        #expect(users.commands.last?.hasSuffix("--person me --user NUMBER --consent CODE") == true)
        let sealed = near(services: [], adverts: [.service(BluetoothUUID(0xFE95))])
        #expect(assembly.advice(for: sealed)?.commands == [adopt + " [--bind-key KEY]"])
        #expect(assembly.advice(for: near(services: [0x180F])) == nil)
        #expect(assembly.advice(for: near(services: [])) == nil)
    }

    @Test func aScaleHasSeveralProfiles() throws {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let profiles = assembly.profiles(for: near(services: [0x180A, 0x180F, 0x181B, 0x181D])).map(\.id)
        #expect(profiles == ["sig-body-composition", "sig-weight-scale", "sig-battery"])
        let adopted = AdoptedDevice(
            address: "bluetooth:\(RadioBench.address)", key: "", profiles: profiles, name: "", person: "me", adopted: 0)
        let description = try #require(assembly.description(of: adopted))
        #expect(
            Set(description.subscriptions) == [
                CharacteristicName(0x181D, 0x2A9D), CharacteristicName(0x181B, 0x2A9C),
            ])
        #expect(description.accompaniments == [CharacteristicName(0x180F, 0x2A19)])
        #expect(description.presence == .leave(quiet: .seconds(30), rest: .seconds(20)), "its battery alone keeps nobody")
        #expect(description.clock?.isSet == false)
    }

    /// It has the services but counts in 0.05 kg where they define 0.005 (ble-scale-sync, scales/renpho.ts).
    @Test(arguments: ["Renpho-Scale", "RENPHO ES-WBE28", "renpho"]) func excludesScaleWithOtherResolution(name: String) throws {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let profiles = assembly.profiles(for: near(services: [0x180F, 0x181B, 0x181C, 0x181D], name: name)).map(\.id)
        #expect(profiles == ["sig-battery"])
        #expect(assembly.profiles(for: near(services: [0x181D], name: "Scale")).map(\.id) == ["sig-weight-scale"])
    }

    @Test func advertisedDataAreNoService() throws {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let data = AdvertisedData.service(BluetoothUUID(0xFCD2))
        #expect(assembly.profiles(for: near(services: [], adverts: [data])).map(\.id) == ["bthome-v2"])
        let adopted = AdoptedDevice(
            address: "bluetooth:\(RadioBench.address)", key: "", profiles: ["bthome-v2"], name: "", person: "me", adopted: 0)
        let description = try #require(assembly.description(of: adopted))
        #expect((description.presence, description.adverts) == (.adverts, [data]))
    }

    /// Many devices share a company number, so the profile must be able to read the received data. A name is sufficient.
    @Test func receivedDataSelectsProfile() throws {
        let assembly = DeviceAssembly(library: try Checkout.library)
        func profiles(_ data: [AdvertisedData: [UInt8]], name: String? = nil, services: [UInt16] = []) -> [String] {
            var device = near(services: services, adverts: Set(data.keys), name: name)
            device.data = data
            return assembly.profiles(for: device).map(\.id)
        }
        let govee = AdvertisedData.manufacturer(0xEC88)
        #expect(profiles([govee: [0x00, 0x03, 0x4D, 0xB2, 0x64, 0x00]]) == ["govee-h5075"])
        #expect(profiles([govee: [0x00, 0xBA, 0x0A, 0xF9, 0x0F, 0x63, 0x02, 0x01, 0x01]]) == ["govee-h5074"])
        #expect(profiles([govee: [1, 2, 3]]).isEmpty)
        #expect(profiles([govee: [1, 2, 3]], name: "GVH5075_2762") == ["govee-h5075"])
        #expect(profiles([.manufacturer(0x0001): [1, 1, 0x0E, 0xD1, 0x32, 0x98]]).isEmpty, "many devices send under 0001")
        #expect(profiles([.manufacturer(0x0001): [1, 1, 0x0E, 0xD1, 0x32, 0x98]], name: "GVH5106_4E05") == ["govee-h5106"])
        // A phone's iBeacon is not a thermometer.
        #expect(profiles([.manufacturer(0x004C): [0x02, 0x15, 1, 2, 3]]).isEmpty)
        // Its own address inside is proof enough, under whatever company's number.
        let address = RadioBench.address.description.split(separator: ":").compactMap { UInt8($0, radix: 16) }
        let company = UInt16(address[5]) | UInt16(address[4]) << 8
        var rest = [address[3], address[2], address[1], address[0], 0x0B, 0x74, 0x17, 0x04, 0x03, 0x1F, 0x40, 0x01, 0xF4]
        rest.append(rest[7...].reduce(0) { $0 ^ $1 })
        #expect(profiles([.manufacturer(company): rest]) == ["yunmai-x"])
        rest[0] ^= 1
        #expect(profiles([.manufacturer(company): rest]).isEmpty)
        // Both must match, because either alone is ambiguous.
        #expect(profiles([:], name: "OXIMETER", services: [0xFFE0]) == ["guangdong-jks50f"])
        #expect(profiles([:], services: [0xFFE0]).isEmpty)
    }

    @Test(
        arguments: [
            (0x2A18, "sig-glucose"), (0x2A5E, "sig-pulse-oximeter"), (0x2AA7, "sig-continuous-glucose"),
        ] as [(UInt16, String)]) func recordAccess(measurement: UInt16, profile: String) throws
    {
        let assembly = DeviceAssembly(library: try Checkout.library)
        let adopted = AdoptedDevice(
            address: "bluetooth:\(RadioBench.address)", key: "", profiles: [profile], name: "", person: "me", adopted: 0)
        let description = try #require(assembly.description(of: adopted))
        #expect(description.recordAccess?.measurement.characteristic == BluetoothUUID(measurement))
        #expect(description.subscriptions.contains { $0.characteristic == BluetoothUUID(measurement) })
    }
}
