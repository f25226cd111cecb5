import HealthModel
import Hub
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import BlueZSource

/// A wrong clock, the device's or ours, never makes a wrong sample.
@Suite struct ClockTests {
    private static func glucose(_ bench: RadioBench, _ number: UInt16, year: Int = 2026, hour: UInt8 = 6, minute: UInt8 = 0) {
        bench.receive("gatt:2A18", RadioBench.glucose(number: number, year: year, hour: hour, minute: minute))
    }

    private static func starts(_ bench: RadioBench) throws -> [String] { try bench.samples().map { $0.sample.start.description } }

    @Test("a clock that cannot be read: held as clock-unknown, released when the offset becomes known") func unknownClock() throws
    {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        Self.glucose(bench, 1)
        Self.glucose(bench, 2, hour: 5)
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        let quarantined = try bench.reader().quarantine.all()
        #expect(quarantined.map(\.rule) == ["clock-unknown", "clock-unknown"])
        #expect(quarantined.compactMap(\.frame).contains("gatt:2A18 020100EA070B1406000064B011"))
        // Half an hour slow.
        bench.compareClocks(ahead: -1800)
        bench.pass(.seconds(2))
        #expect(try Self.starts(bench) == ["2026-11-20T04:30:00.000000Z", "2026-11-20T05:30:00.000000Z"])
        #expect(Set(try bench.samples().map(\.uuid)) == Set(quarantined.map(\.stored.uuid)))
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.deviceCorrected])
        #expect(Set(try bench.samples().map(\.sample.received)) == [quarantined[0].stored.sample.received])
        #expect(try bench.store.devices.clockComparisons(of: RadioBench.address.description).isEmpty)
        #expect(try bench.store.devices.clockComparisons(of: RadioBench.device.key).map(\.ahead) == [1_800_000_000])
        // The same records again: nothing twice.
        Self.glucose(bench, 1)
        try bench.stop()
        #expect(try bench.samples().count == 2)
        #expect(try bench.store.check() == [])
        // After the undo, they are quarantined as before.
        let release = try #require(try bench.store.ledger.accounts().first { $0.kind == .release })
        try bench.store.ledger.undo(release.id, forget: false, description: IngestDescription(kind: .undo, received: 0))
        #expect(try bench.samples().isEmpty)
        #expect(try bench.store.quarantine.all().count == 2)
        #expect(try bench.store.check() == [])
    }

    @Test("a live reading's stamp shows that the clock is right") func liveReading() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        // 07:30 in Berlin: a minute before it arrives.
        Self.glucose(bench, 1, hour: 7, minute: 30)
        Self.glucose(bench, 2)
        try bench.stop()
        #expect(try bench.samples().count == 2)
    }

    @Test("what was held before a live reading's stamp is released by it") func bufferedRecordBeforeLiveReading() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        Self.glucose(bench, 2)
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        Self.glucose(bench, 1, hour: 7, minute: 30)
        bench.pass(.seconds(2))
        #expect(try Self.starts(bench) == ["2026-11-20T05:00:00.000000Z", "2026-11-20T06:30:00.000000Z"])
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.device])
        try bench.stop()
        #expect(try bench.store.check() == [])
    }

    /// A thermometer without a readable clock: 36.5 °C with a local time.
    private static func temperature(
        _ bench: RadioBench, _ year: Int, _ day: UInt8, _ hour: UInt8, _ minute: UInt8, after delay: Duration = .zero
    ) {
        let stamp = [UInt8(year & 0xFF), UInt8(year >> 8), 11, day, hour, minute, 0]
        bench.receive("gatt:2A1C", [0x02, 0x6D, 0x01, 0x00, 0xFF] + stamp, after: delay)
    }

    /// The first reading arrives at 07:31 in Berlin. The clock is ahead, was never set, or is days off: no reading is stored at a wrong
    /// time, none is refused after its acknowledgement, and two that agree reveal the clock.
    @Test(arguments: [(2026, 20, 8), (2000, 20, 7), (2026, 23, 7), (1970, 20, 7)] as [(Int, UInt8, UInt8)])
    func unreadableClock(year: Int, day: UInt8, hour: UInt8) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        Self.temperature(bench, year, day, hour, 8)
        bench.pass(.seconds(2))
        #expect(try bench.samples().isEmpty)
        #expect(try bench.reader().quarantine.all().map(\.rule) == ["clock-unknown"])
        Self.temperature(bench, year, day, hour, 9, after: .seconds(58))
        Self.temperature(bench, year, day, hour, 10, after: .seconds(60))
        Self.temperature(bench, year, day, hour, 11, after: .seconds(60))
        bench.pass(.seconds(2))
        let starts = try bench.samples().map(\.sample.start)
        #expect(starts.count == 4)
        for (start, next) in zip(starts, starts.dropFirst()) { #expect(next.microseconds - start.microseconds == 60_000_000) }
        let last = try #require(starts.last)
        #expect(abs(last.microseconds - bench.clock.now.microseconds) < 10_000_000, "\(last)")
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.deviceCorrected])
        #expect(bench.notices.contains { $0.text.contains("its clock is wrong") })
        try bench.stop()
        #expect(try bench.store.ledger.account(of: 1)?.refused == 0)
        #expect(try bench.store.check() == [])
    }

    /// A clock that is an hour slow looks like one of a device with a memory. The first one is stored, and then repaired.
    @Test func aSlowClock() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for minute in 31...35 { Self.temperature(bench, 2026, 20, 6, UInt8(minute), after: .seconds(minute == 31 ? 0 : 60)) }
        bench.pass(.seconds(2))
        #expect(try Self.starts(bench) == (31...35).map { "2026-11-20T06:\($0):00.000000Z" })
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.deviceCorrected])
        #expect(try bench.reader().quarantine.all().isEmpty)
        // Sent again, they are the same, and show nothing.
        for minute in 31...35 { Self.temperature(bench, 2026, 20, 6, UInt8(minute), after: .seconds(1)) }
        bench.pass(.seconds(2))
        #expect(try bench.samples().count == 5)
        try bench.stop()
        #expect(try bench.store.check() == [])
    }

    /// A thermometer that sends its whole memory each evening, and is used beside the hub only then.
    @Test func memorySentAgain() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for day in 20..<25 as Range<UInt8> {
            for earlier in 20...day {
                Self.temperature(bench, 2026, earlier, 4, earlier, after: .milliseconds(300))
                Self.temperature(bench, 2026, earlier, 7, 30, after: .milliseconds(300))
            }
            bench.pass(.seconds(86_400 - Int(day - 19) * 600 / 1000))
        }
        #expect(try bench.samples().count == 10)
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.device])
        #expect(try bench.reader().quarantine.all().isEmpty)
        try bench.stop()
    }

    /// 02:30 occurs twice in the night of the change, and 02:15 never. Neither is lost, and an arrival shows which one it is.
    @Test(arguments: [true, false]) func hoursOfTheChange(isLive: Bool) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-blood-pressure")
        func measure(_ month: UInt8, _ day: UInt8, _ hour: UInt8, _ minute: UInt8, at time: String) throws {
            bench.clock.now = try Instant(time)
            bench.receive("gatt:2A35", [0x02, 121, 0, 80, 0, 95, 0, 0xEA, 0x07, month, day, hour, minute, 0])
            bench.pass(.seconds(2))
        }
        try measure(3, 29, 2, 15, at: isLive ? "2026-03-29T01:15:20Z" : "2026-03-29T08:00:00Z")
        try measure(10, 25, 2, 30, at: isLive ? "2026-10-25T01:30:20Z" : "2026-10-25T08:00:00Z")
        // A time that occurs twice is held until the end.
        bench.service.stop()
        try bench.hub.stop()
        let quarantined = try bench.store.quarantine.all()
        #expect(try bench.store.ledger.account(of: 1)?.refused == 0)
        if isLive {
            #expect(Set(try Self.starts(bench)) == ["2026-03-29T01:15:00.000000Z", "2026-10-25T01:30:00.000000Z"])
            #expect(quarantined.isEmpty)
        } else {
            #expect(try bench.samples().isEmpty)
            #expect(quarantined.count == 6 && quarantined.allSatisfy { $0.rule == "clock-unknown" })
            #expect(
                quarantined.last?.stored.sample.metadata?["possibleTimes"]
                    == .string("2026-10-25T00:30:00.000000Z,2026-10-25T01:30:00.000000Z"))
        }
    }

    /// A meter that is half a minute fast, and set at each change of the clocks.
    @Test(arguments: [5, 30, -700] as [Int64]) func anErrorOfSeconds(ahead: Int64) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks(ahead: ahead)
        bench.receive("gatt:2A18", RadioBench.glucose(number: 1, hour: 6))
        try bench.stop()
        let zone = try TimeZoneRules.berlin
        let july = WallTime(microseconds: Int64(Calendar.days(year: 2026, month: 7, day: 1)) * Calendar.day)
        let clock = LearnedClock(
            shown: WallTime(
                microseconds: bench.clock.now.wallTime(at: ZoneOffset(seconds: 3600)).microseconds + ahead * 1_000_000),
            received: bench.clock.now, zone: zone)
        #expect(clock.corrected(july)?.microseconds == july.microseconds - ahead * 1_000_000)
        let expected = try Instant("2026-11-20T05:00:00Z").microseconds - (ahead.magnitude > 10 ? ahead * 1_000_000 : 0)
        #expect(try bench.samples().map(\.sample.start.microseconds) == [expected])
    }

    /// A record from the night in which clocks went back, by a clock that is slow by seconds.
    @Test func anAmbiguousTimeOfASlowClock() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks(ahead: -45)
        var record = RadioBench.glucose(number: 1, hour: 2, minute: 42)
        (record[5], record[6]) = (10, 25)
        bench.receive("gatt:2A18", record)
        // It waits for the order of the records.
        #expect(try bench.reader().quarantine.all().isEmpty)
        bench.pass(.seconds(4))
        bench.pass(.seconds(1))
        #expect(try bench.samples().isEmpty)
        let quarantined = try #require(try bench.reader().quarantine.all().first)
        #expect(
            quarantined.stored.sample.metadata?[ClockDoubt.timesKey]
                == .string("2026-10-25T00:42:45.000000Z,2026-10-25T01:42:45.000000Z"))
    }

    /// The owner sets the clock, and later it loses its battery. The learned offset is forgotten with the first timestamp that contradicts
    /// it.
    @Test func clockSetAfterLearning() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for minute in 31...33 { Self.temperature(bench, 2026, 20, 8, UInt8(minute), after: .seconds(minute == 31 ? 0 : 60)) }
        Self.temperature(bench, 2026, 20, 7, 34, after: .seconds(60))
        Self.temperature(bench, 2026, 20, 7, 35, after: .seconds(60))
        Self.temperature(bench, 2000, 1, 1, 0, after: .seconds(60))
        bench.pass(.seconds(2))
        let starts = try Self.starts(bench)
        #expect(starts == (31...35).map { "2026-11-20T06:\($0):00.000000Z" })
        #expect(try bench.reader().quarantine.all().count == 1)
        try bench.stop()
    }

    /// An offset learned from three timestamps survives a restart of the hub, as long as the next ones confirm it. If the clock was set in
    /// the meantime, it is right. If it lost its battery, it is unknown.
    @Test func learnedClockSurvivesRestart() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        for minute in 31...33 { Self.temperature(bench, 2026, 20, 8, UInt8(minute), after: .seconds(minute == 31 ? 0 : 60)) }
        try bench.travel(to: .berlin)
        Self.temperature(bench, 2026, 20, 8, 34, after: .seconds(60))
        bench.pass(.seconds(2))
        #expect(try Self.starts(bench) == (31...34).map { "2026-11-20T06:\($0):00.000000Z" })
        try bench.travel(to: .berlin)
        Self.temperature(bench, 2026, 20, 7, 35, after: .seconds(60))
        Self.temperature(bench, 2026, 20, 7, 36, after: .seconds(60))
        bench.pass(.seconds(2))
        #expect(try Self.starts(bench) == (31...36).map { "2026-11-20T06:\($0):00.000000Z" })
        try bench.travel(to: .berlin)
        Self.temperature(bench, 2000, 1, 1, 0, after: .seconds(60))
        bench.pass(.seconds(2))
        #expect(try bench.samples().count == 6)
        #expect(try bench.reader().quarantine.all().map(\.rule) == ["clock-unknown"])
        try bench.stop()
        #expect(try bench.store.check() == [])
    }

    /// Measurements from before breakfast that are sent late, one of them twice, and one with a future date, which stays quarantined
    /// whatever arrives later. A current timestamp proves nothing about it.
    @Test func lateReadingsOfARightClock() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        Self.temperature(bench, 2026, 20, 5, 0)
        Self.temperature(bench, 2026, 20, 5, 0, after: .seconds(40))
        Self.temperature(bench, 2026, 20, 6, 0, after: .seconds(2))
        Self.temperature(bench, 2026, 23, 6, 0, after: .seconds(2))
        Self.temperature(bench, 2026, 20, 7, 32, after: .seconds(10))
        bench.pass(.seconds(2))
        #expect(
            try Self.starts(bench) == [
                "2026-11-20T04:00:00.000000Z", "2026-11-20T05:00:00.000000Z", "2026-11-20T06:32:00.000000Z",
            ])
        #expect(Set(try bench.samples().map(\.sample.timeOrigin)) == [.device])
        #expect(try bench.reader().quarantine.all().count == 1)
        try bench.stop()
    }

    @Test("the device's clock is set back and forth between reads") func setBackAndForth() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks(ahead: 3600)
        Self.glucose(bench, 1, hour: 6)
        bench.compareClocks(ahead: -3600)
        Self.glucose(bench, 2, hour: 5)
        // The whole memory once more.
        Self.glucose(bench, 1, hour: 6)
        Self.glucose(bench, 2, hour: 5)
        try bench.stop()
        #expect(try Self.starts(bench) == ["2026-11-20T04:00:00.000000Z", "2026-11-20T05:00:00.000000Z"])
        #expect(try bench.store.ledger.account(of: 1)?.duplicate == 2)
        #expect(try bench.store.devices.clockComparisons(of: bench.samples()[0].sample.origin.device?.key ?? "").count <= 2)
    }

    @Test("story 22: a clock that shows 2094, or 1999, is corrected", arguments: [2094, 1999]) func anotherCentury(year: Int)
        throws
    {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        let shown = WallTime(
            microseconds: Int64(Calendar.days(year: year, month: 11, day: 20)) * Calendar.day + 7 * 3_600_000_000)
        bench.service.learned(
            ClockEvidence(
                shown: shown, received: bench.clock.now, expected: bench.clock.now.wallTime(at: ZoneOffset(seconds: 3600))),
            for: RadioBench.address)
        Self.glucose(bench, 1, year: year, hour: 6, minute: 30)
        try bench.stop()
        // Half an hour before it was read.
        #expect(try Self.starts(bench) == ["2026-11-20T06:01:00.000000Z"])
    }

    @Test("story 22: without a clock to compare, 2094, 1970 and 1960 are no samples", arguments: [2094, 1970, 1960])
    func unknownCentury(year: Int) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        Self.glucose(bench, 1, year: year)
        try bench.stop()
        #expect(try bench.samples().isEmpty)
        let account = try #require(try bench.store.ledger.account(of: 1))
        #expect(account.quarantined == 1)
    }

    @Test("story 23: a traveller re-reads the device in another zone, and nothing comes twice") func traveller() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        for number in 1...5 { Self.glucose(bench, UInt16(number), minute: UInt8(number)) }
        let before = { try Self.starts(bench) }
        try bench.travel(to: TimeZoneRules(fixed: ZoneOffset(seconds: -18_000)))
        let stored = try before()
        // At home the clock was right. Here it is six hours ahead.
        bench.compareClocks(ahead: 21_600, zoneHours: -5)
        for number in 1...6 { Self.glucose(bench, UInt16(number), minute: UInt8(number)) }
        try bench.stop()
        #expect(try Self.starts(bench) == stored + ["2026-11-20T05:06:00.000000Z"])
    }

    @Test("story 24: a newer reading hides no older ones") func olderRecordsAfterNewer() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        Self.glucose(bench, 9, hour: 7)
        for number in 1...8 { Self.glucose(bench, UInt16(number), hour: 3, minute: UInt8(number)) }
        try bench.stop()
        #expect(try bench.samples().count == 9)
    }

    @Test("story 25: numbers that run backwards and a clock that cannot be read: held, not guessed") func backwards() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        for number in [9, 8, 7] as [UInt16] { Self.glucose(bench, number, minute: UInt8(number)) }
        try bench.stop()
        #expect(try bench.samples().isEmpty)
        #expect(try bench.store.quarantine.all().count == 3)
    }

    @Test("the hub's own clock is wrong at first") func hubClock() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose", "sig-heart-rate")
        let right = bench.clock.now
        bench.clock.now = Instant(seconds: 60)
        // The difference from our clock proves nothing.
        bench.compareClocks()
        Self.glucose(bench, 1)
        bench.receive("gatt:2A37", [0x00, 60])
        bench.clock.now = right
        bench.receive("gatt:2A37", [0x00, 61])
        bench.pass(.seconds(2))
        #expect(try bench.samples().map(\.sample.value) == [61])
        #expect(try bench.reader().quarantine.all().map(\.rule) == ["clock-unknown", "clock-unknown"])
        // The record is released when the clocks can be compared. The time of the strap's pulse stays unknown.
        bench.compareClocks()
        bench.pass(.seconds(2))
        #expect(try bench.samples().count == 2)
        #expect(try bench.reader().quarantine.all().count == 1)
        try bench.stop()
        #expect(try bench.store.check() == [])
    }
}
