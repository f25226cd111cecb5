import Formats
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import Hub
@testable import Ingestion
@testable import SampleStore

/// A strap's intervals between heartbeats as one series a minute: `hub.heartbeats: "series"`.
@Suite struct HeartbeatSeriesTests {
    private func bench(gathering: Bool = true) throws -> RadioBench {
        let bench = try RadioBench()
        bench.gathersHeartbeats = gathering
        try bench.adopt("sig-heart-rate")
        return bench
    }

    /// A frame of a Heart Rate Measurement with intervals in 1024ths of a second.
    private func receive(_ bench: RadioBench, _ intervals: [Int], after delay: Duration = .seconds(1)) {
        let bytes = intervals.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        bench.receive("gatt:2A37", [intervals.isEmpty ? 0x00 : 0x10, 60] + bytes, after: delay)
    }

    private func series(_ bench: RadioBench) throws -> [StoredSample] {
        try bench.samples().filter { $0.sample.origin.kind == .heartbeatSeries }
    }

    /// Each beat's time in microseconds since 1970, and whether there is a gap before it.
    private func beats(_ stored: StoredSample) throws -> [(time: Int64, gap: Bool)] {
        let body = try #require(stored.sample.body)
        let points = try body.decoded(as: HeartbeatSeries.self).points
        #expect(points.columns == HeartbeatSeries.columns)
        var reader = try PointsReader(points, try #require(body.content))
        var beats: [(time: Int64, gap: Bool)] = []
        while let point = try reader.next() {
            let time = try #require(point[0]?.doubleValue)
            beats.append((stored.sample.start.microseconds + Int64(time), point[1]?.doubleValue == 1))
        }
        #expect(beats.first?.time == stored.sample.start.microseconds)
        #expect(beats.last?.time == stored.sample.end.microseconds)
        return beats
    }

    /// The intervals of all series, in microseconds. The time before a gap or in another series is not an interval.
    private func intervals(_ bench: RadioBench) throws -> [Int64] {
        var intervals: [Int64] = []
        for series in try series(bench) {
            let beats = try beats(series)
            for (one, next) in zip(beats, beats.dropFirst()) where !next.gap { intervals.append(next.time - one.time) }
        }
        return intervals
    }

    /// A packet cut by the link contains one beat less, so the next beat has a gap before it.
    @Test func truncatedPacketMakesGap() throws {
        let bench = try bench()
        for _ in 0..<5 { receive(bench, [1024]) }
        bench.receive("gatt:2A37", [0x10, 60, 0x00, 0x04, 0xFF], after: .seconds(1))
        for _ in 0..<5 { receive(bench, [1024]) }
        try bench.stop()
        let beats = try series(bench).flatMap { try self.beats($0) }
        #expect(beats.dropFirst().count { $0.gap } == 1)
        #expect(try intervals(bench).count == 11)
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect(account.refused == 0 && account.skipped["cut-off-rr_intervals"] == 1)
    }

    @Test func withoutTheSettingABeatIsASample() throws {
        let bench = try bench(gathering: false)
        for _ in 0..<70 { receive(bench, [1024]) }
        try bench.stop()
        #expect(try series(bench).isEmpty)
        #expect(try bench.samples().count { $0.sample.origin.type.id == "heartbeatInterval" } == 70)
    }

    @Test func noIntervalIsLostInMinutes() throws {
        let bench = try bench()
        var reported: [Int64] = []
        for frame in 0..<200 {
            // Two beats in a frame now and then, none in others.
            let intervals = frame % 7 == 3 ? [] : frame % 7 == 4 ? [1000, 1048] : [1024]
            reported += intervals.map { Int64((Double($0) * 1e6 / 1024).rounded()) }
            receive(bench, intervals)
        }
        try bench.stop()
        let found = try intervals(bench)
        #expect(found == reported)
        let all = try series(bench)
        #expect((4...5).contains(all.count))
        for (one, next) in zip(all, all.dropFirst()) {
            #expect(next.sample.start == one.sample.end, "no beat between them is missing")
        }
        #expect(try all.map { try beats($0).first?.gap } == [true] + Array(repeating: false, count: all.count - 1))
        #expect(all.allSatisfy { $0.sample.timeOrigin == .receipt })
        #expect(try bench.samples().count { $0.sample.origin.type.id == "heartbeatInterval" } == 0)
        #expect(try bench.samples().count { $0.sample.origin.type == .heartRate } == 200)
        // The counts of input and output agreed, otherwise the stop would have failed.
        let account = try #require(try bench.store.ledger.accounts().first { $0.kind == .live })
        #expect(account.read == 200 + all.count)
    }

    @Test func whereBeatsAreMissingThereIsAGap() throws {
        let bench = try bench()
        for _ in 0..<5 { receive(bench, [1024]) }
        receive(bench, [1024], after: .seconds(15))
        for _ in 0..<5 { receive(bench, [1024]) }
        try bench.stop()
        #expect(try intervals(bench).count == 11)
        let gaps = try series(bench).flatMap { try beats($0) }.filter(\.gap).count
        #expect(gaps == 2, "before the first, and where nothing was heard")
    }

    @Test func quarantinesImpossibleIntervals() throws {
        let bench = try bench()
        for _ in 0..<3 { receive(bench, [1024]) }
        receive(bench, [0xFFFF])
        for _ in 0..<3 { receive(bench, [1024]) }
        try bench.stop()
        #expect(try bench.store.quarantine.all().count == 1)
        #expect(try intervals(bench).count == 6)
    }

    @Test func silenceEndsAMinute() throws {
        let bench = try bench()
        for _ in 0..<3 { receive(bench, [1024]) }
        bench.pass(.seconds(60))
        bench.pass(.seconds(60))
        bench.pass(.seconds(30))
        #expect(try series(bench).count == 1)
        #expect(bench.loop.load.timers == 0, "idle means idle")
        try bench.stop()
    }

    @Test func announcedPowerFailureLosesNothing() throws {
        let bench = try bench()
        for _ in 0..<3 { receive(bench, [1024]) }
        bench.live.commitNow()
        #expect(try intervals(bench).count == 3)
        receive(bench, [1024])
        try bench.stop()
        #expect(try intervals(bench).count == 4)
    }

    @Test func theSettingIsTakenWithAReload() throws {
        let bench = try bench()
        for _ in 0..<3 { receive(bench, [1024]) }
        bench.gathersHeartbeats = false
        try bench.reload()
        for _ in 0..<3 { receive(bench, [1024]) }
        try bench.stop()
        #expect(try intervals(bench).count == 3)
        #expect(try bench.samples().count { $0.sample.origin.type.id == "heartbeatInterval" } == 3)
    }

    /// A recording that begins in the middle of a minute gives the same series, under the same UUIDs.
    @Test func aRecordingGivesTheSameSeries() throws {
        let folder = try TemporaryFolder()
        let bench = try bench()
        for _ in 0..<20 { receive(bench, [1024]) }
        bench.pass(.zero)
        let file = folder.file("beats.ndjson")
        let writer = try CaptureWriter(
            path: file, limit: CaptureWriter.defaultLimit, head: CaptureHead(of: bench.store, zone: try .berlin),
            clock: bench.clock
        )
        bench.live.onEvent = { writer.record($0) }
        for frame in 0..<150 { receive(bench, [1000 + frame % 50]) }
        bench.live.commitNow()
        receive(bench, [1024], after: .seconds(70))
        bench.pass(.seconds(60))
        bench.pass(.seconds(60))
        try bench.stop()
        writer.close()
        let berlin = try TimeZoneRules.berlin
        let replay = Replay(
            reader: try CaptureReader(path: file),
            settings: Replay.Settings(
                library: try Checkout.library, keys: [:], now: { Instant(seconds: 2_000_000_000) }, zone: { _ in berlin }))
        try replay.check()
        let other = try SampleStore(
            path: folder.file("other.db"), access: .write, creation: .init(person: OneReadingTests.person, time: 0))
        _ = try replay.run(into: other, name: file)
        var replayed: [String] = []
        let cursor = try other.samples.cursor(matching: SampleQuery())
        while let stored = try cursor.next() {
            if stored.sample.origin.kind == .heartbeatSeries { replayed.append("\(stored.sample.identity)") }
        }
        let live = try series(bench).map { "\($0.sample.identity)" }
        #expect(live.count > 4)
        // The first series was collected before the recording began.
        #expect(replayed == Array(live.dropFirst()))
    }

    /// Two hours of a strap in both forms: bytes of the store's pages for each beat.
    @Test func seriesNeedFewBytesPerBeat() throws {
        var bytes: [Bool: Double] = [:]
        for gathering in [false, true] {
            let bench = try bench(gathering: gathering)
            var (beats, seed) = (0, UInt64(7))
            for _ in 0..<7200 {
                // A heart's own unrest: 900 to 1000 ms, at random but the same each time.
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let bytesOfFrame = 920 + Int(seed >> 57)
                bench.receive(
                    "gatt:2A37", [0x16, 60, UInt8(bytesOfFrame & 0xFF), UInt8(bytesOfFrame >> 8)], after: .milliseconds(960))
                beats += 1
            }
            try bench.stop()
            let bare = try self.bench(gathering: gathering)
            for _ in 0..<7200 { bare.receive("gatt:2A37", [0x06, 60], after: .milliseconds(960)) }
            try bare.stop()
            bytes[gathering] = Double(try size(bench) - size(bare)) / Double(beats)
        }
        let (samples, series) = (bytes[false] ?? 0, bytes[true] ?? 0)
        print("octets a beat: \(samples) as samples, \(series) as series")
        #expect(series < 10)
        #expect(samples > 7 * series)
    }

    /// Of the store's file, whole.
    private func size(_ bench: RadioBench) throws -> Int {
        let copy = try TemporaryFolder()
        try bench.store.backup(to: copy.file("copy.db"))
        var status = stat()
        #expect(stat(copy.file("copy.db"), &status) == 0)
        return Int(status.st_size)
    }
}
