import Testing

@testable import HealthModel

@Suite struct SamplePredicateTests {
    private static let sample: Sample = {
        let device = Device(
            key: "maker-model-7", name: "Ear", manufacturer: "Maker", model: "Model", serial: "7", firmware: "1.2")
        let origin = Origin(
            person: "me", type: .bodyTemperature, source: SourceRevision(id: "ble.ht", name: "Ear thermometer", version: "1"),
            device: device)
        let unit = SampleType.bodyTemperature.canonicalUnit
        let start = Instant(microseconds: 1_795_156_260_000_000)
        let numeral = Numeral(coefficient: 3860, exponent: -2)
        return Sample(
            origin: origin,
            identity: SampleIdentity(
                series: origin.seriesKey, start: start.microseconds, end: start.microseconds, numeral: numeral, unit: unit,
                ordinal: 0),
            nominalStart: start.microseconds, start: start, end: Instant(microseconds: start.microseconds + 90_500_000),
            value: 38.6,
            numeral: numeral, unit: unit, zone: ZoneOffset(seconds: 3600), timeOrigin: .device, received: start, group: 0xAB,
            metadata: Metadata([
                ("bodyTemperatureSensorLocation", .string("ear")), ("wasUserEntered", .boolean(true)),
                ("syncVersion", .number(Numeral(coefficient: 3))),
                ("weatherTemperature", .quantity(Numeral(coefficient: 50), fahrenheit)),
            ]))
    }()

    private static let fahrenheit: Unit = {
        guard let unit = try? Unit(ucum: "[degF]") else { preconditionFailure("[degF] is a unit") }
        return unit
    }()

    @Test(arguments: [
        ("value > 38 Cel", true), ("value > 38", true), ("value >= 38.6", true), ("value = 38.60", true),
        ("value < 101.4 [degF]", false),
        ("value<101.5 [degF]", true), ("value != 38.6", false), ("value == 38.6", true), ("value > 300 K", true),
        ("start = '2026-11-20T06:31:00Z'", true), ("start < 2026-11-20T07:31:01+01:00", true),
        ("end > 2026-11-20T06:32:30Z", true),
        ("duration = 90.5", true), ("duration > 91", false), ("zone = '+01:00'", true), ("subject = me", true),
        ("group = 00000000000000ab", true),
        ("source.id = ble.ht", true), ("source.name = 'Ear thermometer'", true), ("source.name ~ thermo", true),
        ("source.version = 1", true),
        ("device.firmware < '1.3'", true), ("device.serial = 7", true), ("device.udi = x", false), ("device.udi != x", true),
        ("not device.udi = x", true), ("device.key ~ ''", true), ("original.value = 38.6", true), ("original.unit = Cel", true),
        ("time.origin = device", true), ("time.received >= 2026-11-20T06:31:00Z", true),
        ("time.received < 2026-11-20T06:31:00Z", false), ("metadata.bodyTemperatureSensorLocation = ear", true),
        ("metadata.wasUserEntered = true", true),
        ("metadata.wasUserEntered = 1", true), ("metadata.syncVersion > 2", true), ("metadata.weatherTemperature = 10 Cel", true),
        ("metadata.weatherTemperature < 60", true), ("metadata.none = x", false), ("metadata.none != x", true),
        // A number and its unit in one word or in quotes. A text that looks like a number is compared as written.
        ("value > 38Cel", true), ("value > '38 Cel'", true), ("value > '38.5'", true), ("duration > 1min", true),
        ("duration > 1h30min", false),
        ("duration < 91000 ms", true), ("device.serial = 07", false), ("device.serial = '7'", true),
        ("device.firmware < 1.10", true),
        ("device.firmware >= 1.10", false), ("zone = +0100", true), ("zone != Z", true), ("group != 0000000000000012", true),
        ("original.unit = Cel", true), ("metadata.HKWasUserEntered = yes", true),
        ("metadata.bodyTemperatureSensorLocation = 3", true),
        ("metadata.syncVersion = '3.0'", true), ("metadata.weatherTemperature = 10Cel", true),
        // Values that cannot be compared match neither a condition nor its negation.
        ("value > 5 kg", false), ("not value > 5 kg", false), ("value != 5 kg", false),
        ("not (value > 5 kg and value > 38)", false),
        ("value > 5 kg or value > 38", true), ("not (value > 5 kg and value > 40)", true),
        ("not metadata.weatherTemperature > 5 kg", false),
        ("metadata.wasUserEntered != 7 kg or value > 40", nil),
        // What binds how.
        ("value > 40 or value > 38 and zone = '+01:00'", true), ("(value > 40 or value > 38) and zone = '+02:00'", false),
        ("not value > 40 and value > 38", true), ("not (value > 40 or value > 38)", false), ("not not value > 38", true),
        ("VALUE > 40", nil), ("value > 38 AND NOT zone = '+02:00'", true),
    ])
    func matching(text: String, expected: Bool?) throws {
        guard let expected else {
            #expect(throws: PredicateError.self) { try SamplePredicate(text) }
            return
        }
        #expect(try SamplePredicate(text).matches(Self.sample) == expected)
    }

    @Test func unlikeUnitsAreAnError() throws {
        let predicate = try SamplePredicate("value > 5 kg")
        #expect(!predicate.matches(Self.sample))
        #expect(throws: UnitError.self) { try predicate.check(for: [Self.sample.origin.type]) }
        #expect(throws: Never.self) { try predicate.check(for: [Self.sample.origin.type, .bodyMass]) }
        let metadata = try SamplePredicate("metadata.weatherTemperature > 5 kg")
        #expect(!metadata.matches(Self.sample))
    }

    @Test(arguments: [
        ("", 1), ("value", 6), ("value >", 8), ("value > 5 parsecs", 9), ("value > 38)", 11), ("(value > 38", 12),
        ("value 38", 7),
        ("pulse > 5", 1), ("source.id = 'x", 13), ("value > 38 value < 40", 9), ("and value > 1", 1), ("source.colour = red", 1),
        ("value > 38 or", 14), ("value > abc", 9), ("value > 61,5", 9), ("value ~ 3", 9), ("start > 5", 9),
        ("start > 2026-11-19", 9),
        ("duration > 1m", 12), ("duration > 3 kg", 12), ("zone = Berlin", 8), ("group = 12", 9), ("original.value = x", 18),
        ("time.origin = clock", 15), ("metadata.wasUserEntered = maybe", 27), ("source.name = 5 kg", 15), ("subject < me", 11),
    ])
    func malformed(text: String, position: Int) {
        let error = thrown(PredicateError.self) { _ = try SamplePredicate(text) }
        #expect(error?.position == position, "\(text): \(error.map(\.description) ?? "")")
    }

    @Test func depthAndLengthAreBounded() throws {
        #expect(throws: PredicateError.self) { try SamplePredicate(String(repeating: "(", count: 2000)) }
        #expect(throws: PredicateError.self) { try SamplePredicate(String(repeating: "not ", count: 1000) + "value > 1") }
        #expect(throws: PredicateError.self) { try SamplePredicate("subject = " + String(repeating: "x", count: 5000)) }
        #expect(try SamplePredicate(Array(repeating: "value > 1", count: 250).joined(separator: " and ")).matches(Self.sample))
    }

    @Test(arguments: [
        ("2.1", "2.1", true), ("2.1", "2.1.0", true), ("=2.1", "2.1.0", true), ("<2.1", "2.0.9", true), ("<2.1", "2.10", false),
        (">=1.0 <2.1", "1.9", true), ("1.0...2.0", "2.0", true), ("1.0...2.0", "2.0.1", false), (">1.9", "1.10", true),
        ("<2", "v1.4b2", true), ("<=1.4b2", "1.4b10", false), ("<2", "", false), ("<2", nil, false),
    ])
    func versions(range: String, version: String?, lies: Bool) throws {
        var sample = Self.sample
        sample.origin = Origin(
            person: "me", type: .bodyTemperature, source: SourceRevision(id: "file.ear", name: "Ear", version: version))
        #expect(SamplePredicate.version(.source(.version), in: try #require(VersionRange(range))).matches(sample) == lies)
        #expect(!SamplePredicate.version(.device(.firmware), in: try #require(VersionRange(range))).matches(sample))
    }

    @Test func conditionsFromOptions() {
        var conditions = SampleConditions()
        #expect(conditions.predicate.matches(Self.sample))
        for (name, fits) in [("ble.ht", true), ("Ear thermometer", true), ("ble", false), ("1", false)] {
            conditions.source = name
            #expect(conditions.predicate.matches(Self.sample) == fits)
        }
        conditions.source = nil
        for (name, fits) in [("maker-model-7", true), ("Ear", true), ("Model", true), ("7", true), ("Maker", false)] {
            conditions.device = name
            #expect(conditions.predicate.matches(Self.sample) == fits)
        }
        conditions.device = nil
        for (family, fits) in [("ble", true), ("ble.ht", true), ("ble.h", false), ("serial", false)] {
            conditions.sourceFamilies = ["file.other", family]
            #expect(conditions.predicate.matches(Self.sample) == fits)
        }
    }

    /// Whatever a person types is read or refused.
    @Test func noiseDoesNotTrap() {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "value", "start", "(", ")", "and", "or", "not", " ", " ", ">", "<=", "=", "!", "~", "'", "\"", "38", "Cel", "[degF]",
            "metadata.", "source.id", "é", "1e400",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }.joined()
            guard let predicate = try? SamplePredicate(text) else { continue }
            _ = predicate.matches(Self.sample)
        }
    }
}
