import HealthModel
import Pipeline
import Testing

@testable import FileSource

@Suite struct AppleHealthInterpreterTests {
    /// Each spelling of a case is its number, also one of before, or the number itself.
    @Test(
        arguments: [
            ("SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepCore", 3),
            ("SleepAnalysis", "HKCategoryValueSleepAnalysisAsleep", 1),
            ("SleepAnalysis", "HKCategoryValueSleepAnalysisAsleepUnspecified", 1), ("SleepAnalysis", "5", 5),
            ("AppleStandHour", "HKCategoryValueAppleStandHourStood", 0),
            ("MenstrualFlow", "HKCategoryValueMenstrualFlowHeavy", 4),
            ("MenstrualFlow", "HKCategoryValueVaginalBleedingHeavy", 4), ("MindfulSession", nil, 0),
            ("MindfulSession", "HKCategoryValueNotApplicable", 0), ("OfTheFuture", "HKCategoryValueNotApplicable", 0),
            ("OfTheFuture", "7", 7), ("OfTheFuture", nil, 0),
        ] as [(String, String?, Int)]) func readsCategories(type: String, value: String?, number: Int) throws
    {
        let export = ImportedExport(elements: record(type: "HKCategoryTypeIdentifier" + type, unit: nil, value: value))
        let reading = try #require(export.readings.first)
        #expect(export.refused == [] && export.skipped == [])
        #expect(reading.numeral.text == "\(number)")
        #expect(reading.unit == .one)
        #expect(reading.origin.type.kind == .category)
        #expect(reading.origin.type.id == type.prefix(1).lowercased() + type.dropFirst())
    }

    /// The cached unit of one type is never used for another, however many unknown types occur.
    @Test func manyUnknownTypesKeepTheirUnits() throws {
        let elements = (0..<300).map { index in
            record(type: "HKCategoryTypeIdentifierUnheard\(index)Of", unit: nil, value: "1")
                + record(type: "HKQuantityTypeIdentifierOxygenSaturation", unit: "%", value: "0.98")
                + record(type: "HKQuantityTypeIdentifierBodyFatPercentage", unit: "%", value: "0.2")
        }
        let samples = try ReadingPath.samples(
            of: ImportedExport(elements: elements.joined()).readings, zone: TimeZoneRules(fixed: .utc),
            received: Instant(seconds: 1_800_000_000))
        #expect(samples.count == 900)
        for (index, value) in samples.map(\.sample.value).enumerated() { #expect(abs(value - [1, 98, 20][index % 3]) < 1e-9) }
    }

    /// An unknown case is not replaced by a guessed number, and two of them are different.
    @Test func quarantinesUnknownCases() throws {
        let texts = ["HKCategoryValueSleepAnalysisAsleepOnTheSofa", "HKCategoryValueSleepAnalysisNapping", "asleep soundly"]
        let export = ImportedExport(
            elements: texts.map { record(type: "HKCategoryTypeIdentifierSleepAnalysis", unit: nil, value: $0) }.joined())
        let samples = try ReadingPath.samples(
            of: export.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
        #expect(samples.map(\.rule) == [.unknownValue, .unknownValue, .unknownValue])
        #expect(Set(samples.map(\.sample.identity)).count == 3)
        // The words are kept for a person, and for a version that knows them.
        #expect(samples.map { $0.sample.metadata?[Metadata.receivedCase] } == texts.map { .string($0) })
        // The gate looks at each number.
        let numbers = ImportedExport(
            elements: ["3", "6", "-1"].map { record(type: "HKCategoryTypeIdentifierSleepAnalysis", unit: nil, value: $0) }
                .joined())
        let gated = try ReadingPath.samples(
            of: numbers.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
        #expect(gated.map(\.rule) == [nil, .unknownValue, .unknownValue])
        let missing = ImportedExport(elements: record(type: "HKCategoryTypeIdentifierSleepAnalysis", unit: nil, value: nil))
        #expect(missing.refused == ["the record has no value"])
    }

    /// A quantity of a newer phone keeps its unit and is never taken for a value of this version.
    @Test func keepsQuantitiesOfUnknownTypes() throws {
        let export = ImportedExport(
            elements: record(type: "HKQuantityTypeIdentifierAuraStrength", unit: "count/min", value: "98.60")
                + record(type: "HKQuantityTypeIdentifierAuraStrength", unit: "glow", value: "98.60"))
        #expect(export.refused.isEmpty && export.skipped == ["HKQuantityTypeIdentifierAuraStrength"])
        let samples = try ReadingPath.samples(
            of: export.readings, zone: TimeZoneRules(fixed: .utc), received: Instant(seconds: 1_800_000_000))
        #expect(samples.map(\.rule) == [.unknownType])
        let sample = try #require(samples.first?.sample)
        #expect(sample.origin.type.id == "auraStrength" && sample.numeral.text == "98.60" && sample.unit.code == "/min")
        let many = ImportedExport(
            elements: String(
                repeating: record(type: "HKQuantityTypeIdentifierAuraStrength", unit: "count/min", value: "98.60"), count: 10_003)
        )
        #expect(many.readings.count == 10_000 && many.skipped.count == 3)
        // No other text leads to it, as in a workout's statistics.
        #expect(SampleType("auraStrength") == nil && SampleType("HKQuantityTypeIdentifierAuraStrength") == nil)
    }

    @Test func countsTypesThatAreNoQuantities() {
        let types = [
            "HKCategoryTypeIdentifierOf The Future", "HKDataTypeSleepDurationGoal", "HKCorrelationTypeIdentifierFood",
            "HKQuantityTypeIdentifierOfTheFuture", "heartRate", "Something",
        ]
        for type in types {
            // Whatever else is wrong with it does not matter then.
            let export = ImportedExport(elements: record(type: type, unit: nil, value: "HKCategoryValueX", start: "?"))
            #expect(export.skipped == [type])
            #expect(export.refused.isEmpty)
        }
    }

    @Test func readsTimesWithTheirOffset() {
        let cases: [(String, String, String)] = [
            ("2025-10-20 06:00:00 -0500", "2025-10-20T11:00:00.000000Z", "-05:00"),
            ("2024-02-29 23:59:59 +0545", "2024-02-29T18:14:59.000000Z", "+05:45"),
            ("1999-12-31 23:59:59 +0000", "1999-12-31T23:59:59.000000Z", "+00:00"),
        ]
        for (text, instant, offset) in cases {
            let reading = ImportedExport(elements: record(start: text, end: text)).readings.first
            guard case .instants(let start, let end, let zone) = reading?.time else {
                Issue.record("no instants for \(text)")
                continue
            }
            #expect(start.description == instant)
            #expect(end == start)
            #expect(zone?.description == offset)
        }
        // The day and the offset that are remembered are those of the text before, each by itself.
        var time = ExportTime()
        for text in cases.flatMap({ [$0.0, cases[0].0, $0.0] }) {
            let moment = try? Array(text.utf8).withUnsafeBytes { try time.read($0) }
            #expect(moment?.instant == (try? Timestamp(iso8601: text))?.instant)
        }
    }

    @Test func refusesTimesThatNeedGuessing() {
        let localised = ["2025-10-20 6:00:00\u{202F}AM -0500", "2025-10-20 06:00:00 AM -0500", "20/10/2025 06:00:00 -0500"]
        let malformed = [
            "2025-10-20", "2025-10-20 06:00:00", "2025-10-20 06:00:00 EST", "2025-10-20T06:00:00 -0500",
            "2025-10-20 06.00.00 -0500", "20.10.2025 06:00:00 -0500",
            "2025-10-20 0x:00:00 -0500", "2025-10-20 06:00:00 -0:00", "2025-10-20 06:00:00  0500",
        ]
        let impossible = [
            "2025-02-29 06:00:00 -0500", "2025-10-20 24:00:00 -0500", "2025-10-20 06:60:00 -0500", "2025-13-20 06:00:00 -0500",
        ]
        let cases = [(localised, "a local format"), (malformed, "is not written as"), (impossible, "does not exist")]
        for (texts, reason) in cases {
            for text in texts {
                let export = ImportedExport(elements: record(start: text) + record(end: text))
                #expect(export.readings.isEmpty, "\(text)")
                #expect(export.refused.count == 2)
                #expect(export.refused.allSatisfy { $0.contains(reason) && !$0.contains("2025") }, "\(text)")
            }
        }
        #expect(ImportedExport(elements: record(end: nil)).refused == ["the record's end is missing"])
    }

    @Test func refusesValuesThatNeedGuessing() {
        let cases: [(String?, String?, String)] = [
            ("12,3", "kg", "comma"), ("1,024", "count", "comma"), ("", "kg", "has no value"), (nil, "kg", "has no value"),
            ("sixty", "kg", "not a number"), ("NaN", "kg", "not a number"), ("60", nil, "has no unit"), ("60", "", "has no unit"),
            ("60", "furlong", "not a HealthKit unit"), ("60", String(repeating: "k", count: 500), "the unit is too long"),
        ]
        for (value, unit, reason) in cases {
            let export = ImportedExport(elements: record(unit: unit, value: value) + record())
            #expect(export.readings.count == 1)
            #expect(export.refused.count == 1)
            #expect(export.refused.first?.contains(reason) == true)
            #expect(export.refused.first?.contains("sixty") == false)
        }
        let retained = ImportedExport(elements: record(value: "98.60") + record(value: "-0.5") + record(value: "5.7e-05"))
        #expect(retained.readings.map(\.numeral.text) == ["98.60", "-0.5", "5.7e-05"])
    }

    @Test func readsHealthKitsUnits() {
        let units = [
            "count/min": "/min", "%": "1", "mL/min·kg": "mL/min/kg", "mmol&lt;180.1558800000541&gt;/L": "mmol/L",
            "degF": "[degF]", "Cal": "kcal", "fl_oz_us": "[foz_us]", "lb": "[lb_av]",
        ]
        for (text, code) in units {
            #expect(ImportedExport(elements: record(unit: text)).readings.first?.unit.code == code)
        }
    }

    @Test func cleansNames() {
        let names = [
            "Eva’s\u{A0}Apple\u{202F}Watch", " Eva’s Apple Watch\u{0B}", "Eva’s Apple Watch\u{85}", "Eva’s&#10;Apple&#9;Watch",
        ]
        let export = ImportedExport(elements: names.map { record(source: $0, version: " 10.1\u{A0}") }.joined())
        #expect(Set(export.readings.map(\.origin.source.id)) == ["apple-health/Eva’s Apple Watch"])
        #expect(Set(export.readings.map(\.origin.seriesKey)).count == 1)
        let shown = [names[0]] + Array(repeating: "Eva’s Apple Watch", count: 3)
        #expect(export.readings.map(\.origin.source.name) == shown)
        #expect(Set(export.readings.map(\.origin.source.version)) == ["10.1"])
        #expect(ImportedExport(elements: record(version: nil)).readings.first?.origin.source.version == nil)
    }

    /// Story 29: a device string that holds a memory address makes one phone 73 sources.
    @Test func onePhoneIsOneDevice() {
        let texts = (0..<73).map { number in
            "&lt;&lt;HKDevice: 0x28\(String(number * 64 + 4096, radix: 16))&gt;, name:iPhone, manufacturer:Apple Inc., "
                + "model:iPhone, hardware:iPhone14,2, software:17.\(number % 3)&gt;"
        }
        let readings = ImportedExport(elements: texts.map { record(device: $0) }.joined()).readings
        #expect(readings.count == 73)
        #expect(Set(readings.map { $0.origin.device?.key }) == ["Apple Inc.|iPhone|iPhone14,2"])
        #expect(Set(readings.map(\.origin.seriesKey)).count == 1)
        #expect(Set(readings.map { ObjectIdentifier($0.origin) }).count == 3)
        #expect(readings.first?.origin.device?.software == "17.0")
    }

    @Test func readsDevices() {
        func device(_ text: String) -> Device? { Device(healthKitDescription: Array(text.utf8)) }
        #expect(
            device("<<HKDevice: 0x1>, name:A, B: C, manufacturer:M, model:O:P, hardware:Watch6,2, firmware:1, software:2>")
                == Device(
                    key: "M|O:P|Watch6,2", name: "A, B: C", manufacturer: "M", model: "O:P", hardware: "Watch6,2", firmware: "1",
                    software: "2"))
        #expect(
            device("<<HKDevice: 0xAb>, name:H10, manufacturer:Polar, localIdentifier:7F-1, creation date:2023-01-01 00:00:00>")
                == Device(key: "Polar|||7F-1", name: "H10", manufacturer: "Polar"))
        #expect(device("<<HKDevice: 0x1>, name:Cuff, UDIDeviceIdentifier:(01)0>")?.key == "|||(01)0")
        #expect(device("<<HKDevice: 0x1>, name:Ring>") == Device(key: "Ring", name: "Ring"))
        #expect(device("<<HKDevice: 0x1>, name:A\u{A0}B>")?.name == "A B")
        #expect(device("<<HKDevice: 0x1>, creation date:2023-01-01 00:00:00 +0000>") == nil)
        #expect(device("<<HKDevice: 0x1>") == nil)
        #expect(device("") == nil)
        #expect(device("Some meter") == Device(key: "Some meter", name: "Some meter"))
        #expect(device("<<HKDevice: 0xZ>, name:A>")?.key == "<<HKDevice: 0xZ>, name:A>")
    }

    @Test func pressuresOfOneMeasurementShareAGroup() {
        func pressure(_ type: String, _ time: String, source: String = "Cuff") -> String {
            record(type: "HKQuantityTypeIdentifierBloodPressure" + type, unit: "mmHg", source: source, start: time, end: time)
        }
        let (first, second) = ("2025-10-20 06:00:00 -0500", "2025-10-20 06:01:00 -0500")
        let groups = ImportedExport(
            elements: [
                pressure("Systolic", first), record(), pressure("Diastolic", first), pressure("Systolic", second),
                pressure("Systolic", first, source: "Other"), pressure("Diastolic", "2025-10-20 13:00:00 +0200"),
            ].joined()
        ).readings.map(\.group)
        #expect(groups[0] != .none)
        #expect(groups[0] == groups[2])
        #expect(groups[0] == groups[5])
        #expect(groups[1] == .none)
        #expect(Set(groups).count == 4)
        // Never changes: FNV-1a over "apple-health/Cuff\n\n" and twice 1760958000000000.
        var hash = StableHash()
        for byte in Array("apple-health/Cuff\n\n".utf8) { hash.combine(byte) }
        for _ in 0..<2 { hash.combine(Int64(1_760_958_000_000_000)) }
        #expect(groups[0] == .shared(hash.value & 0x3FFF_FFFF_FFFF_FFFF))
        #expect(StableHash.hash("foobar") == 0x8594_4171_F739_67E8)
    }

    @Test func keepsMetadataOnce() {
        let entries = entry("HKWasUserEntered", "1") + entry("com.example.note", "a &lt; b")
        let readings = ImportedExport(
            elements: record(content: entries) + record(value: "61", content: entries)
                + record(content: entry("HKWasUserEntered", "0"))
                + record()
        ).readings
        #expect(readings[0].metadata?.json == #"{"com.example.note":"a < b","wasUserEntered":true}"#)
        #expect(readings[0].metadata === readings[1].metadata)
        #expect(readings[2].metadata?["wasUserEntered"] == .boolean(false))
        #expect(readings[3].metadata == nil)
    }

    @Test func takesTheSyncIdentifierForTheRecordsOwn() {
        let identifier = entry("HKMetadataKeySyncIdentifier", "a-1")
        let version = entry("HKMetadataKeySyncVersion", "3")
        let readings = ImportedExport(
            elements: [
                record(content: identifier + entry("HKWasUserEntered", "1") + version), record(content: version + identifier),
                record(content: identifier), record(content: identifier + entry("HKMetadataKeySyncVersion", "latest")),
            ].joined()
        ).readings
        #expect(readings[0].record == RecordIdentifier(id: "a-1", version: 3))
        #expect(readings[0].metadata?.json == #"{"wasUserEntered":true}"#)
        #expect(readings[1].record == RecordIdentifier(id: "a-1", version: 3))
        #expect(readings[1].metadata == nil)
        // The two only have a meaning together. One alone is kept as it is.
        #expect(readings[2].record == nil)
        #expect(readings[2].metadata?.entries.count == 1)
        #expect(readings[3].record == nil)
        #expect(readings[3].metadata?.entries.count == 2)
    }
}
