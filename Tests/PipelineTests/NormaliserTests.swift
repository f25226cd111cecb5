import HealthModel
import PipelineTesting
import Testing

@testable import Pipeline

@Suite struct NormaliserTests {
    static let received = Instant(seconds: 1_795_156_260)
    static let origin = Origin(person: "me", type: .bodyTemperature, source: SourceRevision(id: "file.csv", name: "CSV"))

    static func reading(
        _ value: String = "36.6", _ unit: String = "Cel", _ time: ReadingTime, line: Int = 1, ordinal: UInt32 = 0,
        group: Reading.Group = .none, origin: Origin = origin, record: RecordIdentifier? = nil
    ) throws -> Reading {
        Reading(
            origin: origin, numeral: try Numeral(value), unit: try Unit(ucum: unit), time: time, ordinal: ordinal, group: group,
            record: record, place: Place(.line, line))
    }

    static func reading(_ time: ReadingTime, line: Int = 1, ordinal: UInt32 = 0) throws -> Reading {
        try reading("36.6", "Cel", time, line: line, ordinal: ordinal)
    }

    static func at(_ text: String, until end: String? = nil) throws -> ReadingTime {
        .instants(start: try Instant(text), end: try Instant(end ?? text), offset: nil)
    }

    static func normalise(_ frames: [[Reading]], zone: TimeZoneRules = TimeZoneRules(fixed: .utc)) -> Normaliser.Output {
        let normaliser = Normaliser(zone: zone, received: received)
        var output = Normaliser.Output()
        for frame in frames { normaliser.normalise(frame, into: &output) }
        normaliser.finish(into: &output)
        return output
    }

    @Test func keepsOriginalWithCanonicalValue() throws {
        let output = Self.normalise([[try Self.reading("98.60", "[degF]", Self.at("2026-11-20T06:31:00+01:00"))]])
        let sample = try #require(output.samples.first).sample
        #expect(output.refusals.isEmpty)
        #expect(sample.value == 37)
        #expect(sample.numeral.text == "98.60")
        #expect(sample.unit.code == "[degF]")
        #expect(sample.start.description == "2026-11-20T05:31:00.000000Z")
        #expect(sample.nominalStart == sample.start.microseconds)
        #expect(sample.timeOrigin == .device)
        #expect(sample.received == Self.received)
    }

    @Test func identityUsesReceivedNumeral() throws {
        let time = try Self.at("2026-11-20T05:31:00Z")
        let output = Self.normalise([
            [try Self.reading("98.6", "[degF]", time)], [try Self.reading("98.60", "[degF]", time)],
            [try Self.reading("37", "Cel", time)],
        ])
        let identities = output.samples.map(\.sample.identity)
        #expect(identities[0] == identities[1])
        // The same temperature, and another reading.
        #expect(identities[0] != identities[2])
        #expect(output.samples.allSatisfy { $0.sample.value == 37 })
    }

    /// Story 22: years that a wrong clock or a wrong byte order make.
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", "before 1971"), ("1970-12-31T23:59:59Z", "before 1971"), ("2094-01-01T00:00:00Z", "future"),
        ("2026-11-21T06:31:00.000001Z", "future"), ("1904-01-01T00:00:00Z", "before 1971"),
    ])
    func impossibleYears(time: String, reason: String) throws {
        let output = Self.normalise([[try Self.reading(Self.at(time), line: 7)]])
        #expect(output.samples.isEmpty)
        let refusal = try #require(output.refusals.first)
        #expect(refusal.reason.contains(reason))
        #expect(refusal.place == Place(.line, 7))
    }

    @Test(arguments: ["1971-01-01T00:00:00Z", "2026-11-21T06:31:00Z"])
    func yearsThatPass(time: String) throws {
        #expect(Self.normalise([[try Self.reading(Self.at(time))]]).samples.count == 1)
    }

    @Test func endsBeforeItStarts() throws {
        let output = Self.normalise([[try Self.reading(Self.at("2026-11-20T06:00:01Z", until: "2026-11-20T06:00:00Z"))]])
        #expect(output.samples.isEmpty)
        #expect(output.refusals.map(\.reason) == ["it ends before it starts"])
        let future = Self.normalise([[try Self.reading(Self.at("2026-11-20T06:00:00Z", until: "2027-11-20T06:00:00Z"))]])
        #expect(future.refusals.map(\.reason) == ["the time is in the future"])
    }

    /// A frame is taken whole or not at all: the good readings of a bad frame are not kept.
    @Test func framesAreWhole() throws {
        let time = try Self.at("2026-11-20T06:00:00Z")
        let before = [try Self.reading(time, line: 1)]
        let bad = [
            try Self.reading("36.7", "Cel", time, line: 2, group: .frame),
            try Self.reading("80", "kg", time, line: 2, group: .frame),
            try Self.reading("36.8", "Cel", time, line: 2, group: .frame),
        ]
        let output = Self.normalise([before, bad, []])
        #expect(output.samples.map(\.place) == [Place(.line, 1)])
        #expect(output.refusals.count == 1)
        #expect(output.refusals[0].place == Place(.line, 2))
        #expect(output.refusals[0].reason.hasPrefix("bodyTemperature: "))
        // The reason contains no value.
        #expect(!output.refusals[0].reason.contains("80"))
    }

    @Test func numbersOutOfRange() throws {
        // 9e306 /s is finite, and not as /min.
        let origin = Origin(person: "me", type: .heartRate, source: SourceRevision(id: "s", name: "S"))
        let output = Self.normalise([[try Self.reading("9e306", "/s", Self.at("2026-11-20T06:00:00Z"), origin: origin)]])
        #expect(output.samples.isEmpty)
        #expect(output.refusals.map(\.reason) == ["the number is out of range"])
    }

    @Test func groups() throws {
        let time = try Self.at("2026-11-20T06:00:00Z")
        func group(_ values: [String], _ group: Reading.Group) throws -> [UInt64?] {
            Self.normalise([try values.map { try Self.reading($0, "Cel", time, group: group) }]).samples.map(\.sample.group)
        }
        let together = try group(["36.1", "36.2", "36.3"], .frame)
        #expect(together[0] != nil)
        #expect(Set(together).count == 1)
        // Whatever the order in which the hub's decoder gives them.
        #expect(try group(["36.3", "36.1", "36.2"], .frame)[0] == together[0])
        #expect(try group(["36.1", "36.2"], .frame)[0] != together[0])
        #expect(try group(["36.1"], .frame) == [nil])
        #expect(try group(["36.1", "36.2"], .none) == [nil, nil])
        #expect(try group(["36.1"], .shared(77)) == [77])
        // Only those with a number.
        let mixed = [
            try Self.reading("36.1", "Cel", time, group: .frame), try Self.reading("36.2", "Cel", time, group: .frame),
            try Self.reading("36.3", "Cel", time),
        ]
        let samples = Self.normalise([mixed]).samples
        #expect(samples[0].sample.group == samples[1].sample.group)
        #expect(samples[0].sample.group != nil)
        #expect(samples[2].sample.group == nil)
    }

    @Test func receiptWhereTheSourceGivesNoTime() throws {
        let sample = try #require(Self.normalise([[try Self.reading(.receipt)]]).samples.first).sample
        #expect(sample.timeOrigin == .receipt)
        #expect((sample.start, sample.end) == (Self.received, Self.received))
        #expect(sample.zone == nil)
    }

    @Test func recordsHaveTheirMakersIdentity() throws {
        let time = try Self.at("2026-11-20T06:00:00Z")
        func identity(_ value: String, _ version: Int64) throws -> SampleIdentity {
            let reading = try Self.reading(value, "Cel", time, record: RecordIdentifier(id: "r", version: version))
            return try #require(Self.normalise([[reading]]).samples.first).sample.identity
        }
        #expect(try identity("36.6", 1) == identity("36.7", 1))
        #expect(try identity("36.6", 1) != identity("36.6", 2))
    }

    @Test func equalReadingsOfOneFrame() throws {
        let time = try Self.at("2026-11-20T06:00:00Z")
        let output = Self.normalise([[try Self.reading(time), try Self.reading(time, ordinal: 1), try Self.reading(time)]])
        let identities = output.samples.map(\.sample.identity)
        #expect(identities[0] == identities[2])
        #expect(identities[0] != identities[1])
    }

    @Test func theGate() throws {
        let gate = Gate()
        func rule(_ value: Double, _ type: SampleType) throws -> GateRule? {
            var sample = try #require(Self.normalise([[try Self.reading(Self.at("2026-11-20T06:00:00Z"))]]).samples.first).sample
            sample.origin = Origin(person: "me", type: type, source: SourceRevision(id: "s", name: "S"))
            sample.value = value
            return gate.rule(against: sample)
        }
        #expect(try rule(72, .heartRate) == nil)
        #expect(try rule(2047, .bloodPressureSystolic) == .impossible)
        #expect(try rule(101, .oxygenSaturation) == .impossible)
        #expect(try rule(100, .oxygenSaturation) == nil)
        #expect(try rule(.nan, .heartRate) == .impossible)
        #expect(try rule(-1, .stepCount) == .impossible)
    }
}
