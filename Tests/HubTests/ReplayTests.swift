import EventLoopKit
import Formats
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import BlueZSource
@testable import Hub
@testable import Ingestion
@testable import SampleStore

/// Frames that a hub received, recorded and processed again elsewhere.
@Suite struct ReplayTests {
    private let folder: TemporaryFolder
    private var file: String { folder.file("field.ndjson") }

    init() throws { folder = try TemporaryFolder() }

    private func text(_ name: String) throws -> String { String(decoding: try folder.read(name), as: UTF8.self) }

    private func address(_ number: UInt8) throws -> BluetoothAddress {
        try #require(BluetoothAddress("C0:01:02:03:04:0\(number)"))
    }

    private func capture(_ bench: RadioBench, limit: Int = CaptureWriter.defaultLimit) throws -> CaptureWriter {
        let writer = try CaptureWriter(
            path: file, limit: limit, head: CaptureHead(of: bench.store, zone: try .berlin), clock: bench.clock)
        bench.live.onEvent = { writer.record($0) }
        return writer
    }

    private func replay(_ file: String? = nil, keys: [String: String] = [:]) throws -> Replay {
        let berlin = try TimeZoneRules.berlin
        return Replay(
            reader: try CaptureReader(path: file ?? self.file),
            settings: Replay.Settings(
                library: try Checkout.library, keys: keys,
                now: { Instant(seconds: 2_000_000_000) },
                zone: { $0 == "Europe/Berlin" ? berlin : nil }))
    }

    private func store(_ name: String) throws -> SampleStore {
        try SampleStore(path: folder.file(name), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
    }

    /// The content of a store as lines: its samples and quarantined readings.
    private func contents(_ store: SampleStore) throws -> [String] {
        let line = SampleLine(me: store.owner)
        var bytes: [UInt8] = []
        let cursor = try store.samples.cursor(matching: SampleQuery())
        while let stored = try cursor.next() { line.append(stored.sample, ingest: nil, seq: nil, to: &bytes) }
        for quarantined in try store.quarantine.all() {
            bytes += "held by \(quarantined.rule) \(quarantined.frame ?? "") ".utf8
            line.append(quarantined.stored.sample, ingest: nil, seq: nil, to: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init).sorted()
    }

    private func expectTheSame(as bench: RadioBench, keys: [String: String] = [:]) throws {
        let expected = try contents(try bench.reader())
        let replay = try replay(keys: keys)
        try replay.check()
        let other = try store("other.db")
        let account = try replay.run(into: other, name: file)
        #expect(try contents(other) == expected)
        #expect(account.state == "done")
        let live = try bench.store.ledger.accounts().filter { $0.kind == .live }
        #expect(account.read == live.reduce(0) { $0 + $1.read })
        #expect(account.stored == live.reduce(0) { $0 + $1.stored })
        #expect(account.refused == live.reduce(0) { $0 + $1.refused })
        #expect(account.skipped == live.reduce(into: [:]) { $0.merge($1.skipped, uniquingKeysWith: +) })
        // Once more, and into the store of the hub itself.
        let again = try self.replay(keys: keys)
        try again.check()
        #expect(try again.run(into: other, name: file).stored == 0)
        #expect(try contents(other) == expected)
        let own = try self.replay(keys: keys)
        try own.check()
        let devices = try bench.store.devices.adopted()
        #expect(try own.run(into: bench.store, name: file).stored == 0)
        #expect(try contents(try bench.reader()) == expected)
        #expect(try bench.store.devices.adopted() == devices, "nothing is remembered of a device")
    }

    /// The first of two halves: a strap, a thermometer whose clock is wrong, a meter's memory, and advertisements, plain and sealed.
    private func family(_ bench: RadioBench) throws {
        try bench.adopt("sig-heart-rate", at: try address(1))
        try bench.adopt("sig-health-thermometer", at: try address(2))
        try bench.adopt("sig-glucose", at: try address(3))
        try bench.adopt("bthome-v2", at: try address(4))
        let sealed = DeviceAssembly.storedAddress(RadioBench.address)
        try bench.store.devices.forget(device: sealed)
        var adopted = AdoptedDevice(
            address: sealed, key: sealed, profiles: ["bthome-v2", "sig-heart-rate"], name: "", person: bench.store.owner,
            adopted: 9)
        adopted.bindKey = SealedAdvertTests.key
        try bench.store.devices.save(adopted)
        try bench.reload()
    }

    private func live(_ bench: RadioBench) throws {
        for beat: UInt8 in 60..<75 {
            bench.receive("gatt:2A37", [0x00, beat], after: .milliseconds(700), of: try address(1))
        }
        bench.receive("gatt:2A37", [0x01, 60], of: try address(1))
        bench.receive("gatt:2A37", [0x00, 255], of: try address(1))
        // 36.6 °C, stamped two days ahead of its arrival.
        for number in 0..<4 as Range<UInt8> {
            let minute = 10 + number
            bench.receive(
                "gatt:2A1C", [0x02, 0x0E + number, 0x01, 0x00, 0xFF, 0xEA, 0x07, 11, 23, 7, minute, 0], after: .seconds(60),
                of: try address(2))
        }
        // Its memory comes before anybody has compared its clock.
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7), of: try address(3))
        bench.receive("gatt:2A18", RadioBench.glucose(number: 8), of: try address(3))
        bench.pass(.seconds(2))
        let expected = bench.clock.now.wallTime(at: ZoneOffset(seconds: 3600))
        bench.service.learned(
            ClockEvidence(
                shown: WallTime(microseconds: expected.microseconds - 7_200_000_000), received: bench.clock.now,
                expected: expected),
            for: try address(3))
        bench.receive("gatt:2A18", RadioBench.glucose(number: 9, hour: 5), of: try address(3))
        var memory = DeviceMemory()
        memory.device = RadioBench.device
        memory.records = RecordCursor(number: 9, fingerprint: 3, count: 3)
        bench.service.commit(CommitToken(address: try address(3), number: 1), memory: memory)
        for packet: UInt8 in [1, 1, 1, 2, 2] {
            bench.receive("advert:FCD2", [0x40, 0x00, packet, 0x02, 0xC4, 0x09], after: .seconds(5), of: try address(4))
        }
        for packet in SealedAdvertTests.packets + SealedAdvertTests.packets.prefix(1) {
            bench.receive("advert:FCD2", packet, after: .seconds(5))
        }
    }

    @Test func theSameSamplesWithTheSameUUIDs() throws {
        let bench = try RadioBench()
        try family(bench)
        let writer = try capture(bench)
        try live(bench)
        bench.pass(.seconds(2))
        try bench.stop()
        writer.close()
        #expect(try contents(try bench.reader()).count > 20)
        #expect(try contents(try bench.reader()).contains { $0.hasPrefix("held by") })
        let text = try text("field.ndjson")
        #expect(!text.lowercased().contains(SealedAdvertTests.key), "a capture holds no key")
        var status = stat()
        #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try expectTheSame(as: bench, keys: [DeviceAssembly.storedAddress(RadioBench.address): SealedAdvertTests.key])
    }

    /// Advertisements before the device's key are refused, and reported.
    @Test func encryptedDeviceNeedsKey() throws {
        let bench = try RadioBench()
        try family(bench)
        let writer = try capture(bench)
        try live(bench)
        try bench.stop()
        writer.close()
        let replay = try replay()
        try replay.check()
        #expect(replay.notes.contains { $0.contains("contain no keys") })
        let account = try replay.run(into: try store("keyless.db"), name: file)
        // Four sealed packets, and the strap's frame that is cut.
        #expect(account.refused == 5)
    }

    /// The hub's own clock is set while it runs. Waiting readings are moved, and stored ones are replaced.
    @Test func theHubsOwnClock() throws {
        for start in [Instant(seconds: 60), Instant(seconds: 1_760_000_000)] {
            unlink(file)
            unlink(folder.file("other.db"))
            let bench = try RadioBench()
            try bench.adopt("sig-heart-rate")
            let right = bench.clock.now
            bench.clock.now = start
            let writer = try capture(bench)
            var isRight = false
            var set: (() -> Void)?
            let clock = HubClock(
                hub: bench.hub,
                questions: HubClock.Questions(
                    boot: "one", isSynchronised: { isRight },
                    watch: {
                        set = $0
                        return bench
                    }))
            try clock.start()
            for beat: UInt8 in 60..<64 { bench.receive("gatt:2A37", [0x00, beat], after: .seconds(1)) }
            bench.pass(.seconds(2))
            for beat: UInt8 in 64..<66 { bench.receive("gatt:2A37", [0x00, beat], after: .milliseconds(100)) }
            bench.clock.now = right
            isRight = true
            set?()
            bench.receive("gatt:2A37", [0x00, 66], after: .seconds(1))
            try bench.stop()
            writer.close()
            #expect(try contents(try bench.reader()).count == 7)
            let replay = try replay()
            try replay.check()
            let other = try store("other.db")
            _ = try replay.run(into: other, name: file)
            #expect(try contents(other) == contents(try bench.reader()))
            let again = try self.replay()
            try again.check()
            #expect(try again.run(into: other, name: file).stored == 0)
            #expect(try contents(other) == contents(try bench.reader()))
            for name in ["other.db", "other.db-wal", "other.db-shm"] { unlink(folder.file(name)) }
        }
    }

    /// Nothing has confirmed the hub's own clock, so a device's clock that agrees with it is corrected as one that does not.
    @Test(arguments: [false, true]) func unconfirmedClock(isConfirmedLater: Bool) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        var isRight = false
        let clock = HubClock(
            hub: bench.hub,
            questions: HubClock.Questions(boot: "one", isSynchronised: { isRight }, watch: { _ in bench }))
        try clock.start()
        let writer = try capture(bench, limit: CaptureWriter.limits.lowerBound)
        for minute in 0..<200 {
            if minute.isMultiple(of: 20) { bench.compareClocks() }
            isRight = isConfirmedLater && minute > 60
            let time = bench.clock.now.wallTime(at: ZoneOffset(seconds: 3600)).description
            let numbers = time.split { !$0.isNumber }.prefix(6).compactMap { Int($0) }
            let stamp = [numbers[0] & 0xFF, numbers[0] >> 8] + numbers[1...]
            bench.receive("gatt:2A1C", [0x02, 0x0E, 0x01, 0x00, 0xFF] + stamp.map(UInt8.init), after: .seconds(60))
        }
        try bench.stop()
        writer.close()
        let stored = try contents(try bench.reader())
        #expect(stored.contains { $0.contains(#""origin":"device-corrected""#) })
        #expect(stored.contains { $0.contains(#""origin":"device""#) } == isConfirmedLater)
        try expectTheSame(as: bench)
        #expect(access(file + ".1", F_OK) == 0, "each part has the boot")
    }

    // MARK: Two parts

    @Test func bothPartsAreReplayed() throws {
        let bench = try RadioBench()
        try family(bench)
        let writer = try capture(bench, limit: 64 << 10)
        try live(bench)
        // Until one part is full. The second part needs information from the first.
        var beats = 0
        while access(file + ".1", F_OK) != 0 {
            beats += 1
            bench.receive("gatt:2A37", [0x00, UInt8(50 + beats % 100)], after: .seconds(1), of: try address(1))
        }
        try live(bench)
        try bench.stop()
        writer.close()
        try expectTheSame(as: bench, keys: [DeviceAssembly.storedAddress(RadioBench.address): SealedAdvertTests.key])
    }

    /// However long it runs, there are two parts with at most the requested number of bytes, and the last part is complete.
    @Test func captureStaysWithinLimit() throws {
        let bench = try RadioBench()
        try family(bench)
        let writer = try capture(bench, limit: 64 << 10)
        try live(bench)
        for beat in 0..<2000 {
            bench.receive("gatt:2A37", [0x00, UInt8(50 + beat % 100)], after: .milliseconds(500), of: try address(1))
            if beat % 50 == 0 { #expect(size(file) + size(file + ".1") <= 64 << 10) }
        }
        bench.receive("gatt:2A18", RadioBench.glucose(number: 10, hour: 4), of: try address(3))
        try bench.stop()
        writer.close()
        let all = Set(try contents(try bench.reader()))
        let replay = try replay()
        try replay.check()
        #expect(replay.notes.contains { $0.contains("its beginning is missing") })
        let other = try store("end.db")
        #expect(try replay.run(into: other, name: file).stored > 50)
        // The meter's clock was compared in a part that is gone, and its record has its right time all the same.
        #expect(Set(try contents(other)).isSubset(of: all))
        #expect(try contents(other).contains { $0.contains("bloodGlucose") && !$0.hasPrefix("held") })
    }

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    // MARK: Files that are not captures

    @Test func fullDiskEndsOnlyCapture() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        let writer = try capture(bench)
        var notices: [SourceNotice] = []
        writer.onNotice = { notices.append($0) }
        bench.receive("gatt:2A37", [0x00, 60])
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        #expect(dup2(full, writer.file.descriptor) >= 0)
        close(full)
        for beat: UInt8 in 61..<70 { bench.receive("gatt:2A37", [0x00, beat], after: .seconds(1)) }
        try bench.stop()
        writer.close()
        #expect(notices.count == 1)
        #expect(try bench.samples().count == 10)
    }

    @Test func doesNotOverwriteOtherFiles() throws {
        let bench = try RadioBench()
        try folder.write(Array("time,type,value,unit\n".utf8), to: "field.ndjson")
        #expect(throws: SourceError.self) { try capture(bench) }
        #expect(try text("field.ndjson") == "time,type,value,unit\n")
        unlink(file)
        symlink("/dev/null", file)
        #expect(throws: SourceError.self) { try capture(bench) }
        unlink(file)
        let first = try capture(bench)
        #expect(throws: SourceError.self, "another hub is writing to it") { try capture(bench) }
        first.close()
        try folder.write(Array("mine\n".utf8), to: "field.ndjson.1")
        #expect(throws: SourceError.self) { try capture(bench) }
        #expect(try text("field.ndjson.1") == "mine\n")
        unlink(file + ".1")
        let second = try capture(bench)
        second.close()
        #expect(access(file + ".1", F_OK) == 0)
    }
}
