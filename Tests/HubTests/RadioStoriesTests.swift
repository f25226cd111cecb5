import BlueZSource
import HealthModel
import SampleStore
import Testing

/// What went wrong elsewhere with devices on the radio, from their frames to the store.
@Suite struct RadioStoriesTests {
    /// Story 9: a scale stops after the first half of a weighing. The received part is kept, and missing values are not zero.
    @Test func onlyTheFirstHalfOfAWeighing() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-body-composition")
        // Fat 24.5 %. Muscle and weight are announced but empty.
        bench.receive("gatt:2A9C", [0x20, 0x14, 0xF5, 0x00, 0, 0, 0, 0])
        bench.pass(.seconds(60))
        try bench.stop()
        #expect(try bench.samples().map(\.sample.origin.type.id) == ["bodyFatPercentage"])
    }

    /// Story 13: a repeated value is not a new one.
    @Test func aStaleValue() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        for delay in [0, 1, 3000, 3000] {
            bench.receive("advert:FCD2", [0x40, 0x00, 9, 0x02, 0xC4, 0x09], after: .seconds(delay))
        }
        try bench.stop()
        #expect(try bench.samples().count == 1)
    }

    /// Story 14: a cuff's error frame, in which every number means that there is no value.
    @Test func theCuffsErrorFrame() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-blood-pressure")
        bench.receive("gatt:2A35", [0x00, 0xFF, 0x07, 0xFF, 0x07, 0xFF, 0x07])
        bench.receive("gatt:2A35", [0x00, 120, 0, 80, 0, 0xFF, 0x07], after: .seconds(60))
        try bench.stop()
        #expect(Set(try bench.samples().map(\.sample.value)) == [120, 80])
        #expect(try bench.store.ledger.account(of: 1)?.skipped.values.reduce(0, +) == 1)
    }

    /// Stories 23 and 24: the meter's clock was moved to another zone, and all its records are read again: they are the ones of before.
    @Test func readAgainAfterAJourney() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        let records = (1...5).map { number -> [UInt8] in
            var record = RadioBench.glucose(number: UInt16(number))
            record[8] = UInt8(number)
            return record
        }
        for record in records { bench.receive("gatt:2A18", record) }
        bench.pass(.seconds(2))
        let before = try bench.samples().map(\.sample.start)
        #expect(before.count == 5)
        let now = bench.clock.now
        let here = now.wallTime(at: ZoneOffset(seconds: 3600))
        bench.service.learned(
            ClockEvidence(shown: WallTime(microseconds: here.microseconds + 21_600_000_000), received: now, expected: here),
            for: RadioBench.address)
        for record in records { bench.receive("gatt:2A18", record) }
        try bench.stop()
        #expect(try bench.samples().map(\.sample.start) == before)
        #expect(try bench.store.ledger.account(of: 1)?.duplicate == 5)
    }

    /// Story 25: a meter whose numbers run backwards, whose clock is compared at last: each reading once, by its own time and value.
    @Test func numbersThatRunBackwards() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        for (number, hour) in [(9, 3), (8, 4), (1, 5), (9, 3), (65_535, 2)] {
            var record = RadioBench.glucose(number: UInt16(number))
            record[7] = UInt8(hour)
            bench.receive("gatt:2A18", record)
        }
        bench.compareClocks()
        try bench.stop()
        #expect(try bench.samples().count == 4)
        #expect(try bench.store.ledger.account(of: 1)?.duplicate == 1)
    }
}
