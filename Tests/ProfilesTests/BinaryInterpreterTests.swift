import HealthModel
import Pipeline
import Testing
import Wire

@testable import Profiles

/// A generator that gives the same bytes in every run (SplitMix64).
struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

@Suite struct BinaryInterpreterTests {
    private static let received = Instant(seconds: 1_900_000_000)

    private static func interpret(
        _ interpreter: BinaryInterpreter, _ hex: String
    ) throws -> (readings: [Reading], outcome: FrameOutcome) {
        let bytes = try #require(HexadecimalText.bytes(hex))
        var readings: [Reading] = []
        let result = bytes.withUnsafeBytes { bytes -> Result<FrameOutcome, Refusal> in
            do throws(Refusal) {
                let frame = RawFrame(payload: .bytes(bytes), place: Place(.record, 7), received: received)
                return .success(try interpreter.interpret(frame, into: &readings))
            } catch {
                return .failure(error)
            }
        }
        return (readings, try result.get())
    }

    @Test func decodesHeartRateAndIntervals() throws {
        let interpreter = try shippedInterpreter("gatt:2A37", strict: false)
        let (readings, outcome) = try Self.interpret(interpreter, "1648000400044B03")
        #expect(outcome == .readings)
        #expect(readings.map(\.origin.type.id) == ["heartRate", "heartbeatInterval", "heartbeatInterval", "heartbeatInterval"])
        #expect(readings.map(\.numeral.text) == ["72", "1", "1", "0.8232421875"])
        // Two equal intervals of one frame are two readings.
        #expect(readings.map(\.ordinal) == [0, 0, 1, 2])
        #expect(readings.allSatisfy { $0.group == .frame && $0.time == .receipt && $0.place == Place(.record, 7) })
        #expect(readings[0].origin.source == SourceRevision(id: "ble.heart-rate", name: "Heart Rate", version: "1"))
        let normaliser = Normaliser(zone: TimeZoneRules(fixed: .utc), received: Self.received)
        var output = Normaliser.Output()
        normaliser.normalise(readings, into: &output)
        #expect(output.samples.map(\.sample.value) == [72, 1000, 1000, 823.2421875])
        #expect(Set(output.samples.map(\.sample.identity)).count == 4)
    }

    @Test func refusalNamesOffsetWithoutValue() throws {
        let interpreter = try shippedInterpreter("gatt:2A35", strict: false)
        do {
            _ = try Self.interpret(interpreter, "02780050005D00E9070101003C00")
            Issue.record("taken")
        } catch let refusal as Refusal {
            #expect(refusal.reason == "timestamp is not a date and time (at byte 7)")
            #expect(refusal.place == Place(.record, 7))
        }
    }

    @Test func metadataFollowsTheFlagsOfEachFrame() throws {
        let interpreter = try shippedInterpreter("gatt:2A1C", strict: false)
        func metadata(_ hex: String) throws -> [String?] {
            try Self.interpret(interpreter, hex).readings.map { $0.metadata?.json }
        }
        #expect(try metadata("046D0100FF03") == [#"{"bodyTemperatureSensorLocation":"ear"}"#])
        #expect(try metadata("046D0100FF03") == [#"{"bodyTemperatureSensorLocation":"ear"}"#])
        #expect(try metadata("046D0100FF06") == [#"{"bodyTemperatureSensorLocation":"mouth"}"#])
        #expect(try metadata("006D0100FF") == [nil])
        #expect(try metadata("806D0100FF") == [#"{"reservedBits":true}"#])
        // A location of the future: the temperature counts, the location is not known.
        #expect(try metadata("046D0100FF0C") == [#"{"reservedBits":true}"#])
        #expect(try metadata("006D0100FF") == [nil])
        #expect(try metadata("026F0100FF0000041114293B") == [#"{"deviceTime":"0000-04-17T20:41:59"}"#])
    }

    @Test func sessionMinutesNeedStart() throws {
        let match = try shippedLibrary.match(channel: "gatt:2AA7")
        let interpreter = BinaryInterpreter(match, registry: OriginRegistry(person: "me"))
        #expect(throws: Refusal.self) { try Self.interpret(interpreter, "060078000600") }
        interpreter.sessionStart = try Timestamp(iso8601: "2026-11-20T08:00:00+01:00")
        let (readings, _) = try Self.interpret(interpreter, "060078000600 0600790007 00")
        let start = try #require(Timestamp(iso8601: "2026-11-20T08:06:00+01:00").instant)
        let second = Instant(microseconds: start.microseconds + 60_000_000)
        #expect(
            readings.map(\.time) == [
                .instants(start: start, end: start, offset: ZoneOffset(seconds: 3600)),
                .instants(start: second, end: second, offset: ZoneOffset(seconds: 3600)),
            ])
    }

    @Test func aFieldCanBeAskedForByName() throws {
        let interpreter = try shippedInterpreter("gatt:2A18", strict: true)
        _ = try Self.interpret(interpreter, "1B0100E30701020B0500FBFF6CB0120501")
        let decoder = interpreter.decoder
        #expect(decoder.numeral("sequence_number", in: interpreter.frame)?.text == "1")
        #expect(decoder.numeral("glucose", in: interpreter.frame)?.text == "0.00108")
        #expect(decoder.dateTime("effective_time", in: interpreter.frame)?.description == "2019-01-02T11:00:00")
        #expect(decoder.numeral("nothing", in: interpreter.frame) == nil)
    }

    @Test func numbersKeepDigitsAndExtremes() throws {
        let interpreter = try shippedInterpreter("gatt:2A1C", strict: true)
        for (hex, text) in [
            ("00480E00FE", "36.56"), ("00740E00FE", "37.00"), ("0001000002", "100"), ("00FDFF7F7F", "8388605e127"),
            ("0000000005", "0"), ("0005000080", "0." + String(repeating: "0", count: 127) + "5"),
        ] {
            #expect(try Self.interpret(interpreter, hex).readings.first?.numeral.text == text)
        }
    }

    /// Random bytes, and valid frames with random changes, are accepted or refused and never crash. An accepted frame prints as JSON.
    @Test func survivesRandomBytes() throws {
        var generator = FixedGenerator(state: 20_261_120)
        let seeds = Dictionary(grouping: SharedVector.all, by: \.channel)
        let channels = shippedLibrary.binaryChannels.flatMap { channel in
            shippedLibrary.matches(channel: channel).map { (channel, $0.profile.id) }
        }
        for (channel, profile) in channels {
            for strict in [true, false] {
                let secrets = FrameSecrets(bindKey: [UInt8](repeating: 7, count: 16), address: [1, 2, 3, 4, 5, 6])
                let interpreter = try shippedInterpreter(channel, profile: profile, strict: strict, secrets: secrets)
                for round in 0..<300 {
                    var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }
                    if round % 2 == 0, let seed = seeds[channel]?.randomElement(using: &generator), !seed.bytes.isEmpty {
                        bytes = seed.bytes
                        let index = Int.random(in: 0..<bytes.count, using: &generator)
                        bytes[index] = UInt8.random(in: 0...255, using: &generator)
                    }
                    switch interpreter.outcome(of: bytes) {
                    case .success(let fields):
                        #expect(fields != .null, "\(channel) \(HexadecimalText.text(bytes))")
                        var readings: [Reading] = []
                        _ = try? interpreter.appendReadings(at: Place(.byte, 0), to: &readings)
                    case .failure(let error): #expect(error.offset <= bytes.count)
                    }
                }
            }
        }
    }
}
