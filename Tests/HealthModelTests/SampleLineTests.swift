import FoundationEssentials
import Testing

@testable import HealthModel

@Suite struct SampleLineTests {
    private static func sample(device: Device?, metadata: Metadata?) throws -> QuantitySample {
        let origin = Origin(
            subject: "6d1f6e7c", type: .bodyTemperature,
            source: SourceRevision(id: "ble.health-thermometer", name: "Health \"T\"\n", version: "1"),
            device: device)
        let unit = try Unit(ucum: "[degF]")
        let time: Int64 = 1_795_156_260_000_000
        let numeral = try Numeral("98.60")
        return QuantitySample(
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
                {"uuid":"\(sample.identity)","type":"bodyTemperature","value":37.0,"unit":"Cel","start":"2026-11-20T06:31:00.000000Z",\
                "end":"2026-11-20T06:31:00.000001Z","zone":"+01:00","subject":"me","source":{"id":"ble.health-thermometer",\
                "name":"Health \\"T\\"\\n","version":"1"},"device":{"key":"k","name":null,"manufacturer":"M","model":"T","serial":"7",\
                "hardware":"1","firmware":"2","software":"3","udi":null},"original":{"value":"98.60","unit":"[degF]"},\
                "time":{"origin":"device","received":"2026-11-20T06:31:02.114000Z"},"group":"00000000000000ab",\
                "metadata":{"bodyTemperatureSensorLocation":"armpit"},"ingest":412,"seq":90231}

                """)
    }

    @Test func whatIsMissingIsNull() throws {
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
