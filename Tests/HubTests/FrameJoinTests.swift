import HealthModel
import Ingestion
import Testing

@testable import SampleStore

/// Frames of a device that describe readings in other frames.
@Suite struct FrameJoinTests {
    private func metadata(_ bench: RadioBench) throws -> [String?] {
        try bench.samples().map { $0.sample.metadata?.json }
    }

    @Test func whereAStrapSits() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-heart-rate")
        bench.receive("gatt:2A37", [0x00, 60])
        bench.receive("gatt:2A38", [1], after: .seconds(1))
        // With the time between two beats, which HealthKit knows no place for.
        bench.receive("gatt:2A37", [0x10, 61, 0x00, 0x04], after: .seconds(1))
        bench.receive("gatt:2A38", [2], after: .seconds(1))
        bench.receive("gatt:2A37", [0x00, 62], after: .seconds(1))
        // A location that is reserved for future use is ignored.
        bench.receive("gatt:2A38", [200], after: .seconds(1))
        bench.receive("gatt:2A37", [0x00, 63], after: .seconds(1))
        try bench.stop()
        let found = try bench.samples().map { "\($0.sample.origin.type.id) \($0.sample.metadata?.json ?? "")" }
        #expect(
            found.sorted() == [
                "heartRate ", "heartRate ", #"heartRate {"heartRateSensorLocation":"chest"}"#,
                #"heartRate {"heartRateSensorLocation":"wrist"}"#, "heartbeatInterval ",
            ])
    }

    /// The measurement's own location takes precedence.
    @Test func whereAThermometerSits() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-health-thermometer")
        bench.receive("gatt:2A1D", [6])
        bench.receive("gatt:2A1C", [0x00, 0x6D, 0x01, 0x00, 0xFF])
        bench.receive("gatt:2A1C", [0x04, 0x6D, 0x01, 0x00, 0xFF, 3], after: .seconds(1))
        try bench.stop()
        #expect(
            try metadata(bench) == [
                #"{"bodyTemperatureSensorLocation":"mouth"}"#, #"{"bodyTemperatureSensorLocation":"ear"}"#,
            ])
    }

    /// A context belongs to the measurement of its record only.
    @Test func mealsOfGlucose() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.compareClocks()
        // Before a meal, in a laboratory. 12 g for lunch has no key.
        bench.receive("gatt:2A34", [0x07, 7, 0, 3, 0x0C, 0xD0, 1, 0x53])
        bench.receive("gatt:2A18", RadioBench.glucose(number: 7), continues: true)
        // Fasting is neither before nor after a meal.
        bench.receive("gatt:2A34", [0x02, 8, 0, 3])
        bench.receive("gatt:2A18", RadioBench.glucose(number: 8), continues: true)
        bench.receive("gatt:2A34", [0x02, 9, 0, 2])
        bench.receive("gatt:2A18", RadioBench.glucose(number: 10))
        try bench.stop()
        let samples = try bench.samples().map(\.sample)
        #expect(try bench.store.ledger.account(of: 1)?.skipped == ["glucose-context": 3])
        // The three are one measurement by time and value. The first stored one stays.
        #expect(samples.count == 1)
        #expect(samples[0].metadata?["bloodGlucoseMealTime"] == .string("preprandial"))
        #expect(samples[0].metadata?["wasTakenInLab"] == .boolean(true))
    }

    @Test func contextsOfOtherRecords() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-glucose")
        bench.receive("gatt:2A34", [0x02, 9, 0, 2])
        bench.receive("gatt:2A18", RadioBench.glucose(number: 10))
        try bench.stop()
        #expect(try bench.samples().first?.sample.metadata?["bloodGlucoseMealTime"] == nil)
    }

    /// A weighing that takes two frames is one: the second has the time and the user of the first.
    @Test func aWeighingInTwoFrames() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-body-composition")
        // 07:30 in Berlin: a minute before it arrives.
        bench.receive("gatt:2A9C", [0x06, 0x10, 0xF5, 0x00, 0xEA, 0x07, 11, 20, 7, 30, 0, 2])
        bench.receive("gatt:2A9C", [0x00, 0x14, 0xFF, 0xFF, 0xB0, 0x36], after: .seconds(1))
        // Complete ones keep their meaning.
        bench.receive("gatt:2A9C", [0x00, 0x04, 0xFF, 0xFF, 0xB0, 0x36], after: .seconds(1))
        try bench.stop()
        let samples = try bench.samples().map(\.sample).sorted { $0.start < $1.start }
        #expect(samples.map(\.origin.type.id) == ["bodyFatPercentage", "bodyMass", "bodyMass"])
        #expect(samples[0].start == samples[1].start)
        #expect(samples[1].metadata?.json == #"{"userIndex":2}"#)
        #expect(samples[2].metadata == nil)
        #expect(samples[2].timeOrigin == .receipt)
    }

    /// Beurer's scales send time and user with the weight only, and the body composition right after it. A frame that arrives later, or
    /// without a weight, has the time of receipt.
    @Test func joinsBodyCompositionWithWeight() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-body-composition", "sig-user-data", "sig-weight-scale")
        // 07:30 in Berlin: a minute before it arrives.
        let weight: [UInt8] = [0x06, 0xB0, 0x36, 0xEA, 0x07, 11, 20, 7, 30, 0, 2]
        let composition: [UInt8] = [0x10, 0x02, 0xF5, 0x00, 0xA4, 0x01, 0x88, 0x13]
        bench.receive("gatt:2A9D", weight)
        bench.receive("gatt:2A9C", composition, after: .seconds(1))
        bench.receive("gatt:2A9C", composition, after: .seconds(1))
        bench.receive("gatt:2A9D", weight, after: .seconds(60))
        bench.receive("gatt:2A9C", composition, after: .seconds(11))
        // The scale sends everything again: the same samples.
        bench.receive("gatt:2A9D", weight, after: .seconds(60))
        bench.receive("gatt:2A9C", composition, after: .seconds(2))
        try bench.stop()
        let samples = try bench.samples().map(\.sample)
        let weighed = try #require(samples.first { $0.origin.type == .bodyMass })
        #expect(samples.count { $0.origin.type == .bodyMass } == 1)
        let together = samples.filter { $0.start == weighed.start }
        #expect(
            together.map(\.origin.type.id).sorted() == ["bodyFatPercentage", "bodyImpedance", "bodyMass", "musclePercentage"])
        #expect(together.allSatisfy { $0.metadata?.json == #"{"userIndex":2}"# && $0.timeOrigin == .device })
        // Two samples without partners.
        #expect(samples.count == 4 + 2 * 3)
    }

    /// A sensor that repeats a packet number has not measured again, for any length of time. Another number is another measurement.
    @Test func packetsOfAdvertisements() throws {
        let bench = try RadioBench()
        try bench.adopt("bthome-v2")
        func receive(_ packet: UInt8, _ value: UInt8, after delay: Duration) {
            bench.receive("advert:FCD2", [0x40, 0x00, packet, 0x02, value, 0x09], after: delay)
        }
        receive(1, 0xC4, after: .zero)
        for _ in 0..<10 { receive(1, 0xC4, after: .seconds(600)) }
        receive(2, 0xC4, after: .seconds(1))
        // Round once, after a night out of range.
        receive(2, 0xC4, after: .seconds(30_000))
        // The number of the last packet with other content: the device started over.
        receive(2, 0xC5, after: .seconds(1))
        try bench.stop()
        #expect(try bench.samples().count == 4)
        #expect(try bench.store.ledger.account(of: 1)?.skipped == ["repeated-advert": 10])
    }

    /// A thermometer that sends temperature and humidity alternately, each with its own number. An equal value within the profile's
    /// interval is the same measurement, and the other value in between changes nothing.
    @Test func alternatingRepeats() throws {
        let bench = try RadioBench()
        try bench.adopt("xiaomi-mibeacon")
        var counter: UInt8 = 0
        func receive(_ object: [UInt8], after delay: Duration) {
            counter += 1
            bench.receive("advert:FE95", [0x40, 0x20, 0xAA, 0x01, counter] + object, after: delay)
        }
        let (warm, warmer) = ([0x04, 0x10, 2, 0x10, 0x01] as [UInt8], [0x04, 0x10, 2, 0x11, 0x01] as [UInt8])
        let humid: [UInt8] = [0x06, 0x10, 2, 0xEA, 0x01]
        receive(warm, after: .zero)
        for object in [humid, warm, humid, warmer, humid] { receive(object, after: .seconds(5)) }
        receive(warmer, after: .seconds(15))
        receive(warmer, after: .seconds(15))
        // A frame without objects is not a reading.
        bench.receive("advert:FE95", [0x00, 0x20, 0xAA, 0x01, 99], after: .seconds(1))
        try bench.stop()
        let samples = try bench.samples().map(\.sample).sorted { $0.start < $1.start }
        #expect(samples.map(\.value) == [27.2, 49, 27.3, 27.3])
        #expect(try bench.store.ledger.account(of: 1)?.skipped == ["no-value": 1, "repeated": 4])
    }

    /// A scale's weight counts once it is stable, and once while its advertisements repeat it.
    @Test func aWeightCountsWhenItIsStable() throws {
        let bench = try RadioBench()
        try bench.adopt("qn-broadcast")
        func receive(_ stable: Bool, _ weight: UInt16, after delay: Duration) {
            let head: [UInt8] = [0xAA, 0xBB] + [UInt8](repeating: 0, count: 13) + [stable ? 0x20 : 0, 0]
            bench.receive("advert:manufacturer:FFFF", head + [UInt8(weight & 0xFF), UInt8(weight >> 8)], after: delay)
        }
        receive(false, 4000, after: .zero)
        receive(false, 8100, after: .seconds(1))
        receive(true, 8125, after: .seconds(1))
        for _ in 0..<5 { receive(true, 8125, after: .seconds(2)) }
        receive(false, 0, after: .seconds(5))
        // Another person, or another weighing.
        receive(true, 8125, after: .seconds(60))
        try bench.stop()
        #expect(try bench.samples().map(\.sample.value) == [81.25, 81.25])
        #expect(try bench.store.ledger.account(of: 1)?.skipped == ["repeated-advert": 5, "unsettled": 3])
    }

    /// Story 22: minutes since the start of a session become times only once the session's start is known.
    @Test func sessionsOfContinuousMonitors() throws {
        let bench = try RadioBench()
        try bench.adopt("sig-continuous-glucose")
        bench.receive("gatt:2AA7", [6, 0, 0x50, 0x00, 30, 0])
        bench.receive("gatt:2AAA", [0xEA, 0x07, 11, 20, 5, 0, 0, 4, 0])
        bench.receive("gatt:2AA7", [6, 0, 0x50, 0x00, 30, 0])
        try bench.stop()
        let samples = try bench.samples().map(\.sample)
        #expect(try samples.map(\.start) == [Timestamp(iso8601: "2026-11-20T04:30:00Z").instant])
        #expect(samples.first?.value == 80)
        #expect(try bench.store.ledger.account(of: 1)?.refused == 1)
    }

    /// A broken session start only shows that there is a new session. The earlier start no longer applies.
    @Test(arguments: [(UInt8(0x01), 2), (0x00, 1)]) func invalidSessionStartEndsEarlierStart(check: UInt8, count: Int) throws {
        let bench = try RadioBench()
        try bench.adopt("sig-continuous-glucose")
        bench.receive("gatt:2AAA", [0xEA, 0x07, 11, 20, 5, 0, 0, 4, 0])
        bench.receive("gatt:2AA7", [6, 0, 0x50, 0x00, 30, 0])
        bench.receive("gatt:2AAA", [0xEA, 0x07, 11, 20, 5, 0, 0, 4, 0, check, 0x86], after: .seconds(1))
        bench.receive("gatt:2AA7", [6, 0, 0x51, 0x00, 31, 0], after: .seconds(60))
        try bench.stop()
        #expect(try bench.samples().count == count)
        #expect(try bench.store.ledger.account(of: 1)?.refused == (count == 2 ? 0 : 2))
    }
}
