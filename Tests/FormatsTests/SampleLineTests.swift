import Formats
import FoundationEssentials
import HealthModel
import PipelineTesting
import Testing

@Suite struct SampleLineTests {
    private static func sample(device: Device?, metadata: Metadata?) throws -> Sample {
        let origin = Origin(
            person: "6d1f6e7c", type: .bodyTemperature,
            source: SourceRevision(id: "ble.health-thermometer", name: "Health \"T\"\n", version: "1"),
            device: device)
        let unit = try Unit(ucum: "[degF]")
        let time: Int64 = 1_795_156_260_000_000
        let numeral = try Numeral("98.60")
        return Sample(
            origin: origin,
            identity: SampleIdentity(series: origin.seriesKey, start: time, end: time, numeral: numeral, unit: unit, ordinal: 0),
            nominalStart: time, start: Instant(microseconds: time), end: Instant(microseconds: time + 1), value: 37,
            numeral: numeral, unit: unit,
            zone: ZoneOffset(seconds: 3600), timeOrigin: .device, received: Instant(microseconds: time + 2_114_000),
            metadata: metadata)
    }

    @Test func theWholeLine() throws {
        let device = Device(key: "k", manufacturer: "M", model: "T", serial: "7", hardware: "1", firmware: "2", software: "3")
        let metadata = Metadata([("bodyTemperatureSensorLocation", .string("armpit"))])
        var sample = try Self.sample(device: device, metadata: metadata)
        sample.group = 0xAB
        var bytes: [UInt8] = []
        SampleLine(me: "6d1f6e7c").append(sample, ingest: 412, seq: 90_231, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"uuid":"\(sample.identity)","kind":"quantity","type":"bodyTemperature","value":37.0,"unit":"Cel","start":"2026-11-20T06:31:00.000000Z",\
                "end":"2026-11-20T06:31:00.000001Z","zone":"+01:00","subject":"me","source":{"id":"ble.health-thermometer",\
                "name":"Health \\"T\\"\\n","version":"1"},"device":{"key":"k","name":null,"manufacturer":"M","model":"T","serial":"7",\
                "hardware":"1","firmware":"2","software":"3","udi":null},"original":{"value":"98.60","unit":"[degF]"},\
                "time":{"origin":"device","received":"2026-11-20T06:31:02.114000Z"},"group":"00000000000000ab",\
                "metadata":{"bodyTemperatureSensorLocation":"armpit"},"ingest":412,"seq":90231}

                """)
    }

    /// A category has its case's name, and no unit.
    @Test(arguments: [("sleepAnalysis", 3.0, "3,\"case\":\"asleepCore\""), ("sleepAnalysis", 9, "9,\"case\":null")])
    func aCategory(type: String, value: Double, shown: String) throws {
        var sample = try Self.sample(device: nil, metadata: nil)
        sample.origin = Origin(
            person: "6d1f6e7c", type: try #require(SampleType(category: type)),
            source: SourceRevision(id: "watch", name: "Watch"))
        (sample.value, sample.numeral, sample.unit) = (value, try Numeral("\(Int(value))"), .one)
        var bytes: [UInt8] = []
        SampleLine(me: "6d1f6e7c").append(sample, ingest: 4, seq: 9, to: &bytes)
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                {"uuid":"\(sample.identity)","kind":"category","type":"\(type)","value":\(shown),"start":"2026-11-20T06:31:00.000000Z",\
                "end":"2026-11-20T06:31:00.000001Z","zone":"+01:00","subject":"me","source":{"id":"watch","name":"Watch","version":null},\
                "device":null,"time":{"origin":"device","received":"2026-11-20T06:31:02.114000Z"},"group":null,"metadata":{},\
                "ingest":4,"seq":9}

                """)
    }

    @Test func missingFieldsAreNull() throws {
        var sample = try Self.sample(device: nil, metadata: nil)
        sample.zone = nil
        var bytes: [UInt8] = []
        let line = SampleLine(me: "someone else")
        line.append(sample, ingest: nil, seq: nil, value: 98.6, unit: try Unit(ucum: "[degF]"), to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"value\":98.6,\"unit\":\"[degF]\""))
        #expect(text.contains("\"zone\":null,\"subject\":\"6d1f6e7c\""))
        #expect(text.contains("\"device\":null"))
        #expect(text.hasSuffix("\"group\":null,\"metadata\":{}}\n"))
        #expect(!text.contains("ingest"))
    }

    /// State that is kept between lines never shows in another line: a writer of many prints the same as a new one for each.
    @Test func linesDoNotDependOnOneAnother() throws {
        var random = SeededGenerator(seed: 7)
        let shared = SampleLine(me: "6d1f6e7c")
        let devices = [nil, Device(key: "a"), Device(key: "b", name: "B")]
        let metadata = [nil, Metadata([("a", .boolean(true))]), Metadata([("b", .string("x\"y"))])]
        let bases = try devices.flatMap { device in try metadata.map { try Self.sample(device: device, metadata: $0) } }
        let units = try ["Cel", "[degF]", "K"].map { try Unit(ucum: $0) }
        for _ in 0..<2000 {
            guard var sample = bases.randomElement(using: &random) else { continue }
            func pick<Choice>(_ choices: [Choice]) -> Choice { choices[Int.random(in: 0..<choices.count, using: &random)] }
            let day = pick([0, 1, -1, 20_777, -719_528, 2_932_896] as [Int64]) * Calendar.day
            sample.start = Instant(microseconds: day + pick([0, 1, -1, 43_200_000_001]))
            sample.end = pick([sample.start, Instant(microseconds: sample.start.microseconds + pick([1, Calendar.day]))])
            sample.received = Instant(microseconds: pick([0, 1, 2_114_000]))
            sample.value = pick([0, -0.0, 1, -61, 37.5, 1e15, 1e14, 123_456_789_012_345, 1e300, 0.1, -1e-9, .nan])
            sample.numeral = try Numeral(pick(["98.60", "+5", "0", "-0.001", "007", "1e3", "12345678901234567890.5"]))
            sample.unit = pick(units)
            sample.timeOrigin = pick(TimeOrigin.allCases)
            sample.zone = pick([nil, 0, 3600, -12_600, 3208, -1] as [Int32?]).map { ZoneOffset(seconds: $0) }
            sample.group = pick([nil, 0xAB, .max])
            let numbers: (Int64?, Int64?) = pick([(nil, nil), (1, 2), (.max, .max), (412, nil)])
            var (one, other): ([UInt8], [UInt8]) = ([], [])
            shared.append(sample, ingest: numbers.0, seq: numbers.1, to: &one)
            SampleLine(me: "6d1f6e7c").append(sample, ingest: numbers.0, seq: numbers.1, to: &other)
            let text = String(decoding: one, as: UTF8.self)
            #expect(text == String(decoding: other, as: UTF8.self))
            for part in [
                "\"uuid\":\"\(sample.identity)\",\"kind\":\"quantity\",\"type\":\"bodyTemperature\",",
                "\"start\":\"\(sample.start)\",\"end\":\"\(sample.end)\"",
                "\"value\":\(sample.value.isNaN ? "null" : sample.value.description),\"unit\":\"Cel\",",
                "\"zone\":\(sample.zone.map { "\"\($0)\"" } ?? "null"),\"subject\"",
                "\"original\":{\"value\":\"\(sample.numeral.text)\",\"unit\":\"\(sample.unit.code)\"},",
                "\"time\":{\"origin\":\"\(sample.timeOrigin.name)\",\"received\":\"\(sample.received)\"},\"group\":",
                "\"metadata\":\(sample.metadata?.json ?? "{}")\(numbers.0.map { ",\"ingest\":\($0)" } ?? "")\(numbers.1.map { ",\"seq\":\($0)" } ?? "")}\n",
            ] { #expect(text.contains(part), "\(part) is not in \(text)") }
        }
    }

    /// Another JSON reader reads each line, and finds the texts that went in.
    @Test func linesAreJSON() throws {
        struct Line: Decodable {
            struct Source: Decodable { var name: String }
            struct Device: Decodable { var key: String, name: String? }
            var uuid: String, value: Double, source: Source, device: Device?
        }
        let line = SampleLine(me: "me")
        for (index, name) in ["\u{0}\u{1F}", "\"\\/", "\u{2028}é体\u{1F9E1}", "", "\t\r\n"].enumerated() {
            var sample = try Self.sample(device: Device(key: name, name: name), metadata: nil)
            sample.value = [0.1 + 0.2, -0.0, 1e300, 5e-300, 123_456_789_012_345_680][index]
            var bytes: [UInt8] = []
            line.append(sample, ingest: 1, seq: 1, to: &bytes)
            let read = try JSONDecoder().decode(Line.self, from: Data(bytes))
            #expect(read.device?.key == name)
            #expect(read.device?.name == name)
            #expect(read.value == sample.value)
            #expect(read.uuid == sample.identity.description)
        }
    }

    /// Characters that end a line elsewhere (NEL, LS, PS) or control a terminal (CSI, DEL) are escaped. The JSON in stores does not change.
    @Test func linesAreOneLineEverywhere() throws {
        let name = "a\u{2028}\u{2029}\u{85}\u{9B}2J\u{7F}\u{80}\u{9F}\u{A0}\u{202A}é"
        let escaped = #"a\u2028\u2029\u0085\u009b2J\u007f\u0080\u009f"# + "\u{A0}\u{202A}é"
        let metadata = Metadata([(name, .string(name))])
        let sample = try Self.sample(device: Device(key: name, name: name), metadata: metadata)
        var bytes: [UInt8] = []
        SampleLine(me: "me").append(sample, ingest: nil, seq: nil, to: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("\"key\":\"\(escaped)\",\"name\":\"\(escaped)\""), "\(text)")
        #expect(text.contains("\"metadata\":{\"\(escaped)\":\"\(escaped)\"}"), "\(text)")
        #expect(metadata.json == "{\"\(name)\":\"\(name)\"}")
        #expect(try Metadata(json: metadata.json) == metadata)
    }

    /// Origins of equal descriptions print alike, and one that came to lie where another lay does not print as the other.
    @Test func fragmentsAreNotMixedUp() throws {
        let line = SampleLine(me: "me")
        for number in 0..<5000 {
            var bytes: [UInt8] = []
            let sample = try Self.sample(device: Device(key: "device \(number)"), metadata: nil)
            line.append(sample, ingest: nil, seq: nil, to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self).contains("\"key\":\"device \(number)\""))
        }
    }
}
