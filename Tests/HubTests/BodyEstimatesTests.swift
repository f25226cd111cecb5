import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import Hub
@testable import Ingestion

/// Which estimates are made from a weighing's impedance, and which are not.
@Suite struct BodyEstimatesTests {
    private static let zone = TimeZoneRules(fixed: .utc)
    private static let rows = [
        FileStoryTests.header, "2026-11-06T07:00:00Z,bodyMass,85.3,kg", "2026-11-06T07:00:08Z,bodyImpedance,517.2,Ohm",
        "2026-11-07T07:00:00Z,bodyImpedance,517.2,Ohm",
    ]

    private func know(_ store: SampleStore, height: Bool = true, in story: FileStoryTests? = nil) throws {
        for (type, value) in [(CharacteristicType.dateOfBirth, "1986-11-07"), (.biologicalSex, "male")] {
            try store.people.set(
                type, to: Characteristic(type, value), of: store.owner, from: "2026-01-01", recorded: FixedClock().now)
        }
        if height { try story?.load([FileStoryTests.header, "2026-01-01T07:00:00Z,height,180,cm"]) }
    }

    private func make(_ story: FileStoryTests, _ formula: ImpedanceFormula = .sun2003) throws -> BodyEstimates.Account {
        let all = Instant(microseconds: 0)...Instant(seconds: 4_000_000_000)
        return try BodyEstimates(store: story.store, person: story.store.owner, formula: formula, zone: Self.zone)
            .make(in: all, now: story.received)
    }

    private func type(_ name: String) throws -> SampleType { try #require(SampleType(name)) }

    @Test func estimateHasMetadata() throws {
        let story = try FileStoryTests()
        try story.load(Self.rows)
        try know(story.store, in: story)
        let account = try make(story)
        #expect(account.stored == 2)
        #expect(account.withoutWeight == 1)
        let mass = try #require(try story.samples(type("fatFreeMass")).first)
        #expect(mass.numeral.description == "62.6")
        #expect(mass.unit.code == "kg")
        #expect(mass.start == Instant(seconds: 1_793_948_408), "the time of the impedance")
        #expect(mass.origin.source.id == "estimate.sun-2003")
        let metadata = try #require(mass.metadata)
        #expect(metadata["estimated"] == .boolean(true))
        #expect(metadata["formula"] == .string("sun-2003"))
        // The day before the birthday.
        #expect(metadata["estimatedWithAge"] == .number(Numeral(coefficient: 39)))
        for key in ["estimatedFrom", "estimatedWithSex", "estimatedWithHeight", "estimatedWithWeight", "estimatedWithImpedance"] {
            #expect(metadata[key] != nil, "\(key)")
        }
        #expect(try story.samples(type("bodyFatPercentage")).map(\.numeral.description) == ["26.7"])
        // An estimate is made once, and does not return after it was undone.
        #expect(try make(story).known == 1)
        #expect(try story.samples(type("fatFreeMass")).count == 1)
        // Another formula is another source.
        #expect(try make(story, .janssen2000).stored == 1)
        #expect(try story.samples(type("muscleMass")).map(\.numeral.description) == ["31.3"])
        #expect(try story.store.check() == [])
    }

    /// A later height also applies to an adult's earlier days.
    @Test(arguments: BodyEstimates.Missing.allCases) func requiresAllInputs(missing: BodyEstimates.Missing) throws {
        let story = try FileStoryTests()
        try story.load(Self.rows)
        try know(story.store, height: missing != .height, in: story)
        let type: CharacteristicType? =
            switch missing {
            case .dateOfBirth: .dateOfBirth
            case .biologicalSex: .biologicalSex
            case .height: nil
            }
        if let type {
            try story.store.people.set(type, to: nil, of: story.store.owner, from: "2026-01-01", recorded: FixedClock().now)
        }
        let account = try make(story)
        #expect(account.missing == [missing])
        #expect(account.stored == 0)
        #expect(try story.samples(self.type("fatFreeMass")).isEmpty)
    }

    /// Who still grows has another height after a year: only one of those weeks counts.
    @Test func growingPersonNeedsRecentHeight() throws {
        let story = try FileStoryTests()
        try story.load(Self.rows)
        for (type, value) in [(CharacteristicType.dateOfBirth, "2012-03-01"), (.biologicalSex, "female")] {
            try story.store.people.set(
                type, to: Characteristic(type, value), of: story.store.owner, from: "2026-01-01", recorded: FixedClock().now)
        }
        try story.load([FileStoryTests.header, "2026-01-01T07:00:00Z,height,150,cm"])
        let account = try make(story)
        #expect(account.withoutHeight == 1 && account.stored == 0 && account.missing.isEmpty)
        try story.load([FileStoryTests.header, "2026-11-20T07:00:00Z,height,163,cm"])
        #expect(try make(story).stored == 2)
        let mass = try #require(try story.samples(type("fatFreeMass")).first)
        #expect(
            mass.metadata?["estimatedWithHeight"]
                == .quantity(Numeral(coefficient: 1630, exponent: -3), try type("height").canonicalUnit))
    }

    /// A file with fat and impedance but without a device needs no estimate.
    @Test func skipsMeasuredValues() throws {
        let story = try FileStoryTests()
        try story.load(Self.rows + ["2026-11-06T07:00:00Z,bodyFatPercentage,21.5,%"])
        try know(story.store, in: story)
        let account = try make(story)
        #expect(account.measured == 1 && account.stored == 0)
    }

    /// "Other" is a sex, and none that the equations know.
    @Test func anotherSexHasNoEquation() throws {
        let story = try FileStoryTests()
        try story.load(Self.rows)
        try know(story.store, in: story)
        try story.store.people.set(
            .biologicalSex, to: Characteristic(.biologicalSex, "other"), of: story.store.owner, from: "2026-01-01",
            recorded: FixedClock().now)
        #expect(try make(story).missing == [.biologicalSex])
    }

    @Test func yearsCountFromBirthdayToBirthday() {
        #expect(BodyEstimates.years(from: "1986-11-07", to: "2026-11-06") == 39)
        #expect(BodyEstimates.years(from: "1986-11-07", to: "2026-11-07") == 40)
        #expect(BodyEstimates.years(from: "2026-11-07", to: "2026-11-07") == 0)
    }

    // MARK: In the hub

    /// Of a real frame: 85.3 kg and 517.2 Ω.
    private static let frame: [UInt8] = [
        0xBA, 0x82, 0xE6, 0xC7, 0xFC, 0x34, 0x14, 0xA4, 0x42, 0xBF, 0x46, 0xEC, 0x68, 0x00, 0x04, 0x62, 0xBB, 0xA3, 0x01, 0x00,
    ]

    private func weigh(_ bench: RadioBench, knowing: Bool = true) throws {
        try bench.adopt("amazfit-scale")
        if knowing {
            for (type, value) in [(CharacteristicType.dateOfBirth, "1986-11-07"), (.biologicalSex, "female")] {
                try bench.store.people.set(
                    type, to: Characteristic(type, value), of: bench.store.owner, from: "2020-01-01", recorded: FixedClock().now)
            }
            _ = try bench.store.samples.save(
                ReadingPath.samples(
                    of: [
                        Reading(
                            origin: Origin(
                                person: bench.store.owner, type: type("height"),
                                source: SourceRevision(id: "test", name: "Test")),
                            numeral: Numeral("1.80"), unit: type("height").canonicalUnit,
                            time: .instants(
                                start: Instant(seconds: 1_700_000_000), end: Instant(seconds: 1_700_000_000), offset: nil),
                            place: Place(.record, 1))
                    ], zone: Self.zone, received: FixedClock().now),
                as: IngestDescription(kind: .save, name: "test", received: 0), within: 0..<1)
        }
        bench.receive("advert:FEE0", Self.frame, after: .seconds(600))
        bench.pass(.seconds(2))
    }

    /// Without the setting, nothing is computed.
    @Test func offUnlessSwitchedOn() throws {
        let bench = try RadioBench()
        try weigh(bench)
        try bench.stop()
        #expect(
            try bench.samples().map(\.sample.origin.type.id).sorted() == ["bodyImpedance", "bodyMass", "heartRate", "height"])
    }

    @Test func estimatesLiveReadings() throws {
        let bench = try RadioBench()
        bench.estimates = [bench.store.owner: [.sun2003, .janssen2000]]
        try weigh(bench)
        #expect(bench.notices.filter { $0.weight == .action }.isEmpty)
        try bench.stop()
        let estimated = try bench.samples().map(\.sample).filter { $0.metadata?["estimated"] == .boolean(true) }
        #expect(estimated.map(\.origin.type.id).sorted() == ["bodyFatPercentage", "fatFreeMass", "muscleMass"])
        #expect(estimated.first { $0.origin.type.id == "fatFreeMass" }?.numeral.description == "58.5")
        #expect(bench.loop.load.timers == 0, "idle means idle")
    }

    /// A missing input is reported once, and no sample is made.
    @Test func reportsMissingInputOnce() throws {
        let bench = try RadioBench()
        bench.estimates = [bench.store.owner: [.sun2003]]
        try weigh(bench, knowing: false)
        bench.receive("advert:FEE0", Self.frame, after: .seconds(600))
        bench.pass(.seconds(2))
        let reported = bench.notices.filter { $0.weight == .action }.map(\.description)
        #expect(reported.count == 3, "\(reported)")
        #expect(reported.allSatisfy { $0.hasPrefix("estimates: body composition is not estimated") })
        try bench.stop()
        #expect(try bench.samples().allSatisfy { $0.sample.metadata?["estimated"] == nil })
    }

    // MARK: The configuration

    @Test func formulasAreNamed() throws {
        let folder = try TemporaryFolder()
        func configuration(_ text: String) throws -> Configuration {
            try folder.write(Array(text.utf8), to: "config.json5")
            return try Configuration(
                path: folder.file("config.json5"),
                machine: Machine(environment: [:], now: { FixedClock().now }, zoneDirectory: "/nonexistent"))
        }
        let story = try FileStoryTests()
        #expect(try configuration("{}").estimates(in: story.store).isEmpty)
        let formulas = try configuration(#"{ bodyComposition: { me: ["sun-2003", "foot-to-foot-2015"] } }"#).estimates(
            in: story.store)
        #expect(formulas == [story.store.owner: [.sun2003, .footToFoot2015]])
        #expect(throws: ConfigurationError.self) { try configuration(#"{ bodyComposition: { me: ["fat"] } }"#) }
        let unknownPerson = try configuration(#"{ bodyComposition: { Nobody: ["sun-2003"] } }"#)
        #expect(throws: ConfigurationError.self) { try unknownPerson.estimates(in: story.store) }
    }
}
