import Testing

@testable import HealthModel

/// The identity of a reading never changes, so these UUIDs must never change.
///
/// They were computed by another program: Python's `hashlib` for the series' key, and an implementation of SipHash-2-4 with 128 bits of
/// output from its paper, checked against the first two of its authors' test vectors.
@Suite struct SampleIdentityTests {
    private static let series: [String: SeriesKey] = [
        "a": SeriesKey(
            person: "6d1f6e7c-2f0a-4a0e-9a52-0f8f6f3f2b11", type: .heartRate, source: "ble.heart-rate",
            device: "polar-h10-1A2B3C4D"),
        "b": SeriesKey(person: "me", type: .bodyTemperature, source: "file.csv", device: ""),
        "c": SeriesKey(person: "unassigned", type: .bodyMass, source: "ble.weight-scale", device: "Größe π 體重"),
    ]

    /// 2026-11-20T06:31:00Z.
    private static let time: Int64 = 1_795_156_260_000_000

    private static func identity(
        _ series: String = "a", _ start: Int64 = time, _ end: Int64 = time, _ numeral: String = "72", _ unit: String = "/min",
        _ ordinal: UInt32 = 0
    ) throws -> SampleIdentity {
        SampleIdentity(
            series: try #require(Self.series[series]), start: start, end: end, numeral: try Numeral(numeral),
            unit: try Unit(ucum: unit),
            ordinal: ordinal)
    }

    /// Series, nominal start and end, numeral as received, unit, ordinal, UUID. The numerals' canonical texts were given to Python.
    static let vectors: [(String, Int64, Int64, String, String, UInt32, String)] = [
        ("a", 1_795_156_260_000_000, 1_795_156_260_000_000, "72", "/min", 0, "01a1f7a6-b4a0-8f29-adfe-bb0975c93095"),
        ("a", 1_795_156_260_000_000, 1_795_156_260_000_000, "72", "/min", 1, "01a1f7a6-b4a0-8058-b90a-f1165cea98dc"),
        ("a", 1_795_156_260_000_000, 1_795_156_261_000_000, "72", "/min", 0, "01a1f7a6-b4a0-88c6-a542-606521db347b"),
        ("a", 1_795_156_260_000_000, 1_795_156_260_000_000, "72.50", "/min", 0, "01a1f7a6-b4a0-831b-bf49-ab4f2814c0f0"),
        ("a", 1_795_156_260_000_001, 1_795_156_260_000_001, "72", "/min", 0, "01a1f7a6-b4a0-8122-864a-9cb84918b8cd"),
        ("a", 1_795_156_260_000_999, 1_795_156_260_000_999, "72", "/min", 0, "01a1f7a6-b4a0-8064-84c1-3fac482897a4"),
        ("a", 1_795_156_260_000_000, 1_795_156_260_000_000, "72", "/min", 0x8000_0000, "01a1f7a6-b4a0-8b12-a0c4-561cd77d6f6e"),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "98.60", "[degF]", 0, "01a1f7a6-b4a0-80fc-b3a5-734bf81d8023"),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "37.0", "Cel", 0, "01a1f7a6-b4a0-8f41-8567-d0e69f9a7150"),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "-.50", "Cel", 0, "01a1f7a6-b4a0-8568-8709-d7fcf0e7bd75"),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "-0.000", "Cel", 0, "01a1f7a6-b4a0-87d1-b2c9-f941b36b42ba"),
        ("b", 31_536_000_000_000, 31_536_000_000_000, "36.6", "Cel", 0, "000757b1-2c00-843e-9ca5-5b9f4228a433"),
        (
            "b", 1_795_156_260_000_000, 1_795_156_260_000_000, "+1234567890123456789.2500", "Cel", 0,
            "01a1f7a6-b4a0-8049-b334-4db44b71a224"
        ),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "1e22", "Cel", 0, "01a1f7a6-b4a0-8b42-b160-082b4cc2d10c"),
        ("b", 1_795_156_260_000_000, 1_795_156_260_000_000, "1e-300", "Cel", 0, "01a1f7a6-b4a0-8fe2-96fb-5b4631a63425"),
        ("b", -1, -1, "36.6", "Cel", 0, "ffffffff-ffff-8f1b-89a6-473acac23771"),
        ("c", 1_795_156_260_000_000, 1_795_156_260_000_000, "80.25", "kg", 0, "01a1f7a6-b4a0-8f2f-beb6-244aff3aa5cd"),
        ("c", 1_795_156_260_000_000, 1_795_156_260_000_000, "176.9", "[lb_av]", 0, "01a1f7a6-b4a0-8364-b715-fe30b4376673"),
    ]

    @Test(arguments: vectors.indices)
    func fixedVectors(index: Int) throws {
        let (series, start, end, numeral, unit, ordinal, uuid) = Self.vectors[index]
        #expect(try Self.identity(series, start, end, numeral, unit, ordinal).description == uuid)
    }

    /// Entries of metadata, UUID: how it was measured is part of the message, and nothing else of the metadata is.
    @Test(
        arguments: [
            (["comment": "x"], "01a1f7a6-b4a0-81af-bf23-82af05a5a3f2"),
            (["glucoseMethod": "sensorHistoric"], "01a1f7a6-b4a0-8e68-9103-7493649226f9"),
            (["glucoseMethod": "sensorScan", "comment": "x"], "01a1f7a6-b4a0-803b-aa8e-6af810a7c48a"),
            (["glucoseMethod": "strip"], "01a1f7a6-b4a0-85c3-af15-c928b8a372da"),
        ] as [([String: String], String)])
    func fixedMethodVectors(entries: [String: String], uuid: String) throws {
        let series = SeriesKey(
            person: "me", type: .bloodGlucose, source: "file.freestyle-libreview", device: "Abbott/FreeStyle Libre/A1")
        let metadata = Metadata(entries.map { ($0.key, .string($0.value)) })
        let identity = SampleIdentity(
            series: series, start: Self.time, end: Self.time, numeral: try Numeral("5.6"), unit: try Unit(ucum: "mmol/L"),
            ordinal: 0, method: metadata.method)
        #expect(identity.description == uuid)
    }

    /// Under HealthKit's own string or by name, and in one order.
    @Test func spellingsOfMethods() throws {
        let named = Metadata([
            ("vo2MaxTestType", .string("predictionStepTest")), ("physicalEffortEstimationType", .string("deviceSensed")),
        ])
        let raw = Metadata([
            ("HKVO2MaxTestType", .string("predictionStepTest")), ("HKPhysicalEffortEstimationType", .string("deviceSensed")),
        ])
        #expect(named.method == raw.method)
        let text = "\nphysicalEffortEstimationType=\"deviceSensed\"\nvo2MaxTestType=\"predictionStepTest\""
        #expect(String(decoding: named.method, as: UTF8.self) == text)
        for key in MetadataKey.methods { #expect(!Metadata([(key, .string("x"))]).method.isEmpty, "\(key)") }
    }

    /// Series, nominal start, record id and version.
    @Test(
        arguments: [
            ("a", 1_795_156_260_000_000, "E1F3-77", 1, "01a1f7a6-b4a0-8cb8-b012-8d6fb1948b05"),
            ("a", 1_795_156_260_000_000, "E1F3-77", 2, "01a1f7a6-b4a0-870f-9a2c-29e245f8a72c"),
            ("b", 1_795_156_260_000_005, "ключ", -1, "01a1f7a6-b4a0-8aae-86d2-8d8a8d36ffac"),
            ("c", 1_795_156_260_000_000, "", Int64.max, "01a1f7a6-b4a0-8f06-8e81-af56e823ea50"),
        ] as [(String, Int64, String, Int64, String)])
    func fixedRecordVectors(series: String, start: Int64, id: String, version: Int64, uuid: String) throws {
        let identity = SampleIdentity(
            series: try #require(Self.series[series]), start: start, record: RecordIdentifier(id: id, version: version))
        #expect(identity.description == uuid)
    }

    /// One value however it is written.
    @Test(arguments: [
        ["98.6", "98.60", "98.600", "+98.6", "098.6", "986e-1", "9.86E1", "0.0986e+3", "98.60000000000000000000000"],
        ["0", "0.0", "-0", "+0", "-0.00", "0e5", "000", ".0"], ["-5", "-5.0", "-05", "-5.", "-50e-1", "-.5e1"],
        ["1000", "1e3", "1E+3", "1000.0", "10e2"], ["0.5", ".5", "0.50", "5e-1", "+.5"],
        [
            "1234567890123456789", "1234567890123456789.0", "01234567890123456789", "1.234567890123456789e18",
            "12345678901234567890e-1",
        ],
        ["12345678901234567890000", "1234567890123456789e4", "12345678901234567890000.00"],
    ])
    func samenessOfNumerals(texts: [String]) throws {
        let first = try Self.identity("b", Self.time, Self.time, texts[0], "Cel")
        for text in texts { #expect(try Self.identity("b", Self.time, Self.time, text, "Cel") == first, "\(text)") }
    }

    @Test func eachPropertyChangesIdentity() throws {
        let identities = try [
            Self.identity(), Self.identity("a", Self.time, Self.time, "-72"), Self.identity("a", Self.time, Self.time, "7.2"),
            Self.identity("a", Self.time, Self.time, "720"), Self.identity("a", Self.time, Self.time, "72", "/h"),
            Self.identity("a", Self.time, Self.time, "72", "/min", 1), Self.identity("a", Self.time, Self.time + 1),
            Self.identity("a", Self.time + 1, Self.time + 1), Self.identity("b"), Self.identity("c"),
            Self.identity("a", Self.time, Self.time, "72.00000000000000000001"),
        ]
        #expect(Set(identities).count == identities.count)
        // Newlines separate the fields of the key, so that no two splits of one text are one series.
        let keys = [("x", "y"), ("x\n", "y"), ("xy", ""), ("", "xy")].map {
            SeriesKey(person: "me", type: .heartRate, source: $0.0, device: $0.1)
        }
        #expect(Set(keys).count == keys.count)
    }

    /// Codes that UCUM holds for one unit are one.
    @Test func spellingsOfUnits() throws {
        #expect(
            try Self.identity("c", Self.time, Self.time, "80", "mL/min")
                == Self.identity("c", Self.time, Self.time, "80", "ml/min"))
        #expect(
            try Self.identity("c", Self.time, Self.time, "80", "\u{B5}g")
                == Self.identity("c", Self.time, Self.time, "80", "\u{3BC}g"))
        let plain = try Unit(ucum: "mmol/L")
        let key = try #require(Self.series["a"])
        func identity(_ unit: Unit) -> SampleIdentity {
            SampleIdentity(series: key, start: 0, end: 0, numeral: Numeral(coefficient: 5), unit: unit, ordinal: 0)
        }
        // A molar mass is knowledge about the substance and not received data.
        #expect(identity(plain) == identity(plain.with(molarMass: 180.156)))
    }

    @Test func versionAndVariant() throws {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<500 {
            let identity = try Self.identity("a", Int64.random(in: 0..<4_000_000_000_000_000, using: &random), 0, "72", "/min")
            let text = Array(identity.description.utf8)
            #expect(text.count == 36)
            #expect(text[14] == UInt8(ascii: "8"))
            #expect("89ab".utf8.contains(text[19]))
            #expect(SampleIdentity(identity.description) == identity)
            #expect(SampleIdentity(identity.description.uppercased()) == identity)
        }
    }

    /// Sorted as numbers, as texts and by time: all the same.
    @Test func order() throws {
        var random = SeededGenerator(seed: 9)
        var identities: [SampleIdentity] = []
        for index in 0..<300 {
            let start = Self.time + Int64.random(in: 0..<50_000, using: &random)
            identities.append(try Self.identity("a", start, start, "\(index)"))
        }
        let sorted = identities.sorted()
        #expect(sorted.map(\.description) == identities.map(\.description).sorted())
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.milliseconds <= $1.milliseconds })
    }

    @Test(arguments: [
        "", "01a1f7a6-b4a0-8f29-adfe-bb0975c9309", "01a1f7a6-b4a0-8f29-adfe-bb0975c930955",
        "01a1f7a6-b4a0-4f29-adfe-bb0975c93095",
        "01a1f7a6-b4a0-7f29-adfe-bb0975c93095", "01a1f7a6-b4a0-8f29-2dfe-bb0975c93095", "01a1f7a6-b4a0-8f29-cdfe-bb0975c93095",
        "01a1f7a6b4a08f29adfebb0975c93095", "{01a1f7a6-b4a0-8f29-adfe-bb0975c93095}", "01a1f7a6-b4a0-8f29-adfe-bb0975c9309g",
        "01a1f7a6-b4a0-8f29-adfe_bb0975c93095", "01a1f7a6-b4a0-8f29-adfe-bb0975c9309５",
    ])
    func otherTextsAreRefused(text: String) { #expect(SampleIdentity(text) == nil) }

    @Test func originsAreInterned() {
        let registry = OriginRegistry(person: "me", aliases: ["old": "new"])
        let source = SourceRevision(id: "s", name: "S")
        let one = registry.origin(type: .heartRate, source: source, device: Device(key: "old", name: "Strap"))
        let other = registry.origin(type: .heartRate, source: source, device: Device(key: "new", name: "Strap"))
        #expect(one === other)
        #expect(one.device?.key == "new")
        // A new version of the source is another origin of the same series (story 30: a renamed device must keep its readings).
        let updated = registry.origin(
            type: .heartRate, source: SourceRevision(id: "s", name: "S", version: "2"), device: Device(key: "new"))
        #expect(updated !== one)
        #expect(updated.seriesKey == one.seriesKey)
        #expect(
            registry.origin(type: .heartRate, source: source, device: Device(key: "new"), person: "you").seriesKey
                != one.seriesKey)
    }
}
