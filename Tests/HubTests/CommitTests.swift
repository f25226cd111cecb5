import EventLoopKit
import HealthModel
import Pipeline
import Testing

@testable import BlueZSource
@testable import Hub
@testable import Ingestion
@testable import SampleStore

/// When readings become durable: streams together every half minute, all others within a second.
@Suite struct CommitTests {
    private static let thermometer = BluetoothAddress("C0:01:02:03:04:02") ?? { preconditionFailure("an address") }()
    /// 36.6 °C of a Temperature Measurement without a time.
    private static let temperature: [UInt8] = [0, 0x6E, 0x01, 0x00, 0xFF]

    /// A strap's stream, whose first reading has been committed.
    private func bench() throws -> RadioBench {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        bench.receive("gatt:2A37", [0x00, 60])
        bench.pass(.seconds(1))
        return bench
    }

    private func beat(_ bench: RadioBench, _ count: Int) {
        for _ in 0..<count { bench.receive("gatt:2A37", [0x00, 60], after: .seconds(1)) }
    }

    @Test func aStreamIsCommittedTogether() throws {
        let bench = try bench()
        #expect(try bench.samples().count == 1, "whoever begins, or looks, sees at once that it works")
        beat(bench, 30)
        #expect(try bench.samples().count == 1)
        #expect(bench.live.waitingSamples == 30)
        bench.pass(.seconds(1))
        #expect(try bench.samples().count == 31, "30 s behind the first that waits, which came last but 29")
        #expect(bench.live.waitingSamples == 0)
        bench.pass(.seconds(60))
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
    }

    /// Readings that waited for the device's description have waited already, so a power cut loses at most half a minute of a stream.
    @Test func countsBufferingTime() throws {
        let bench = try bench()
        let bytes: [UInt8] = [0x00, 61]
        bytes.withUnsafeBytes {
            bench.service.received(
                RawFrame(
                    payload: .bytes($0), place: Place(.record, 100),
                    received: Instant(microseconds: bench.clock.now.microseconds - 25_000_000), channel: "gatt:2A37",
                    device: RadioBench.device),
                of: RadioBench.address)
        }
        bench.pass(.seconds(4))
        #expect(try bench.samples().count == 1)
        bench.pass(.seconds(1))
        #expect(try bench.samples().count == 2)
        try bench.stop()
    }

    /// A spot reading takes along what waits.
    @Test func aSpotReadingIsDurableWithinASecond() throws {
        let bench = try bench()
        try bench.adopt("sig-health-thermometer", at: Self.thermometer)
        beat(bench, 5)
        #expect(bench.live.waitingSamples == 5)
        bench.receive("gatt:2A1C", Self.temperature, of: Self.thermometer)
        bench.pass(.seconds(1))
        #expect(bench.live.waitingSamples == 0)
        #expect(try bench.samples().count == 7)
        try bench.stop()
    }

    /// Acknowledging a record also commits all waiting readings at once.
    @Test func aConfirmedRecordIsDurableAtOnce() throws {
        let bench = try bench()
        try bench.adopt("sig-glucose", at: Self.thermometer)
        beat(bench, 5)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1), of: Self.thermometer)
        var durable = -1
        bench.source.onConfirm = { _ in durable = (try? bench.samples().count) ?? -1 }
        bench.service.commit(CommitToken(address: Self.thermometer, number: 1), memory: DeviceMemory())
        #expect(durable >= 6 && bench.live.waitingSamples == 0)
        try bench.stop()
    }

    /// A follower receives waiting readings at once, and then every second.
    @Test func inAHurryStreamsAreCommittedEachSecond() throws {
        let bench = try bench()
        beat(bench, 5)
        bench.live.needsPromptCommits = true
        #expect(bench.live.waitingSamples == 0)
        beat(bench, 5)
        #expect(bench.live.waitingSamples <= 1)
        bench.pass(.seconds(1))
        bench.live.needsPromptCommits = false
        beat(bench, 5)
        #expect(bench.live.waitingSamples == 5)
        try bench.stop()
    }

    /// A shorter interval also applies to waiting readings. A longer one applies from the next commit on.
    @Test func theSettingIsTakenWithAReload() throws {
        let bench = try bench()
        var settings = try bench.settings()
        beat(bench, 3)
        settings.commitEvery = 10
        bench.hub.apply(settings)
        bench.pass(.seconds(10))
        #expect(bench.live.waitingSamples == 0)
        settings.commitEvery = 60
        bench.hub.apply(settings)
        beat(bench, 60)
        #expect(bench.live.waitingSamples == 60)
        bench.pass(.seconds(1))
        #expect(bench.live.waitingSamples == 0)
        try bench.stop()
    }

    /// A device that stores its readings and has an expected interval does not wait for others.
    @Test func commitsStoredRecordsImmediately() throws {
        let bench = try bench()
        try bench.adopt("sig-glucose", at: Self.thermometer)
        let device = try #require(bench.service.devices.first { $0.device.hasRecords }?.device)
        device.expectedInterval = .seconds(1)
        #expect(!device.isStream)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1), of: Self.thermometer)
        bench.pass(.seconds(1))
        #expect(bench.live.waitingSamples == 0)
        try bench.stop()
    }

    /// New readings do not cause a write to a full disk every second.
    @Test func retriesFailedStoreWithBackOff() throws {
        let bench = try bench()
        try bench.adopt("sig-health-thermometer", at: Self.thermometer)
        try bench.store.connection.execute("PRAGMA query_only = 1")
        var attempts: [Int] = []
        for _ in 0..<16 {
            bench.receive("gatt:2A1C", Self.temperature, after: .seconds(1), of: Self.thermometer)
            attempts.append(bench.live.failures)
        }
        #expect(attempts.last ?? 0 <= 5, "\(attempts)")
        bench.live.needsPromptCommits = true
        #expect(bench.live.failures == attempts.last, "nor at once because somebody looks")
        try bench.store.connection.execute("PRAGMA query_only = 0")
        try bench.stop()
        #expect(try bench.samples().count == 17)
    }

    @Test func aStopCommitsFirst() throws {
        let bench = try bench()
        beat(bench, 20)
        #expect(bench.live.waitingSamples == 20)
        try bench.stop()
        #expect(try bench.samples().count == 21)
    }

    /// Endless frames are not a stream to wait for, so the waiting readings stay few.
    @Test func aFloodIsCommittedEachSecond() throws {
        let bench = try bench()
        for _ in 0..<5000 { bench.receive("gatt:2A37", [0x00, 60], after: .microseconds(100)) }
        bench.pass(.seconds(1))
        #expect(bench.live.waitingSamples == 0)
        try bench.stop()
    }
}
