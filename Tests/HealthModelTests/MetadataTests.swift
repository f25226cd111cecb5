import Testing

@testable import HealthModel

@Suite struct MetadataTests {
    @Test(arguments: [
        ("HKTimeZone", "Europe/Berlin", "timeZone", "\"Europe/Berlin\""),
        ("HKWasUserEntered", "1", "wasUserEntered", "true"),
        ("HKMetadataKeyHeartRateMotionContext", "1", "heartRateMotionContext", "\"sedentary\""),
        ("HKMetadataKeyHeartRateMotionContext", "7", "heartRateMotionContext", "7"),
        ("HKMetadataKeyHeartRateMotionContext", "1.0", "heartRateMotionContext", "\"sedentary\""),
        ("HKMetadataKeyHeartRateMotionContext", "1.5", "heartRateMotionContext", "1.5"),
        ("HKBodyTemperatureSensorLocation", "1", "bodyTemperatureSensorLocation", "\"armpit\""),
        ("HKBloodGlucoseMealTime", "2", "bloodGlucoseMealTime", "\"postprandial\""),
        ("HKBloodGlucoseMealTime", "0", "bloodGlucoseMealTime", "0"),
        ("HKWeatherTemperature", "54 degF", "weatherTemperature", "{\"value\":54,\"unit\":\"[degF]\"}"),
        ("HKWeatherHumidity", "10000 %", "weatherHumidity", "{\"value\":10000,\"unit\":\"1\"}"),
        ("HKMetadataKeyBarometricPressure", "1013.250 hPa", "barometricPressure", "{\"value\":1013.250,\"unit\":\"hPa\"}"),
        ("HKMetadataKeySyncIdentifier", "a\"b\\c", "syncIdentifier", "\"a\\\"b\\\\c\""),
        ("HKMetadataKeySyncVersion", "3", "syncVersion", "3"),
        ("HKExternalUUID", "", "externalUUID", "\"\""),
        // Unknown and unparsable values are kept.
        ("Meal", "Breakfast", "Meal", "\"Breakfast\""),
        ("HKMetadataKeyTimeZone", "UTC", "HKMetadataKeyTimeZone", "\"UTC\""),
        ("HKWeatherTemperature", "54", "HKWeatherTemperature", "\"54\""),
        ("HKWeatherTemperature", "54 parsec", "HKWeatherTemperature", "\"54 parsec\""),
        ("HKMetadataKeySyncVersion", "three", "HKMetadataKeySyncVersion", "\"three\""),
        ("HKWasUserEntered", "maybe", "HKWasUserEntered", "\"maybe\""),
    ])
    func exportEntries(rawKey: String, text: String, name: String, json: String) throws {
        let (key, value) = Metadata.entry(healthKitKey: rawKey, text: text)
        #expect(key == name)
        #expect(value.json == json)
        let metadata = Metadata([(key, value)])
        #expect(try Metadata(json: metadata.json) == metadata)
        #expect(try Metadata(json: metadata.json)[name] == value)
    }

    @Test func keysAreTwoWays() {
        #expect(MetadataKey.all.count == 51)
        #expect(Set(MetadataKey.all.map(\.name)).count == 51)
        #expect(Set(MetadataKey.all.map(\.rawKey)).count == 51)
        for key in MetadataKey.all {
            #expect(MetadataKey(rawKey: key.rawKey) == key)
            #expect(MetadataKey(named: key.name) == key)
        }
        #expect(MetadataKey(rawKey: "HKMetadataKeyTimeZone") == nil)
        #expect(MetadataKey(named: "TimeZone") == nil)
        #expect(MetadataKey(named: "vo2MaxTestType")?.rawKey == "HKVO2MaxTestType")
    }

    @Test func oneJSONForOneMeaning() throws {
        let one = Metadata([("b", .number(try Numeral("1.50"))), ("a", .boolean(true)), ("é", .string("\n\u{1}\u{7F}ü"))])
        let other = Metadata([("é", .string("\n\u{1}\u{7F}ü")), ("a", .boolean(true)), ("b", .number(try Numeral("1.50")))])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one.json == "{\"a\":true,\"b\":1.50,\"é\":\"\\n\\u0001\u{7F}ü\"}")
        #expect(one.entries.map(\.key) == ["a", "b", "é"])
        #expect(one["a"] == .boolean(true))
        #expect(one["c"] == nil)
        #expect(Metadata.empty.json == "{}")
        #expect(Metadata.empty.isEmpty)
        #expect(try Metadata(json: "{}") == .empty)
        #expect(Metadata([("a", .boolean(true)), ("a", .boolean(false))]).json == "{\"a\":false}")
    }

    /// JSON knows fewer spellings of a number than people do.
    @Test func numbersAreJSON() throws {
        for (text, json) in [("+5", "5"), (".5", "0.5"), ("007", "7"), ("1e3", "1e3"), ("-0.50", "-0.50"), ("-0", "-0")] {
            #expect(MetadataValue.number(try Numeral(text)).json == json)
        }
    }

    @Test(arguments: [
        "", "{", "}", "[]", "{\"a\":1", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}{", "{\"a\" :1}", " {}", "{}\n", "{a:1}",
        "{\"a\":null}", "{\"a\":tru}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":1.}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u0041\"}", "{\"a\":\"\\u00\"}", "{\"a\":\"\\u000", "{\"a\":[1]}", "{\"a\":{\"b\":1}}", "{\"a\":1,\"a\":2}",
        "{\"a\":{\"value\":1,\"unit\":\"mmHg\"}}", "{\"a\":{\"value\":1}}", "{\"a\":1e}", "{\"a\":\"\\",
    ])
    func otherJSONIsRefused(json: String) {
        #expect(throws: MetadataError.self) { try Metadata(json: json) }
    }

    @Test func cutAnywhere() throws {
        let metadata = Metadata([
            ("location", .string("ear\"\\\u{2}drum")), ("air", .quantity(try Numeral("54.0"), try Unit(ucum: "[degF]"))),
            ("entered", .boolean(false)), ("version", .number(try Numeral("12"))),
        ])
        let bytes = Array(metadata.json.utf8)
        for end in bytes.indices {
            #expect(throws: MetadataError.self) { try Metadata(json: String(decoding: bytes[..<end], as: UTF8.self)) }
        }
    }

    /// Any text from a file is read back, however long, because the store's rows were written by us.
    @Test func roundTrips() throws {
        let long = Metadata((0..<3).map { ("key \($0)", .string(String(repeating: "\u{1}x", count: 15_000))) })
        #expect(long.json.utf8.count > 65_536)
        #expect(try Metadata(json: long.json) == long)
        for sign in ["", "+", "-"] {
            for digits in [
                "0", "007", ".5", "5.", "05.50", "5" + String(repeating: "0", count: 120),
                "." + String(repeating: "7", count: 126),
            ] {
                for power in ["", "e-200", "E+3", "e150"] {
                    guard let numeral = try? Numeral(sign + digits + power) else { continue }
                    let metadata = Metadata([("a", .number(numeral)), ("b", .quantity(numeral, try Unit(ucum: "Cel")))])
                    let read = try Metadata(json: metadata.json)
                    guard case .number(let other)? = read["a"] else {
                        Issue.record("\(numeral.text) is no number")
                        continue
                    }
                    #expect(other.doubleValue == numeral.doubleValue)
                }
            }
        }
    }
}
