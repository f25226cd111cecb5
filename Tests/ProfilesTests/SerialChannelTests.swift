import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import Profiles

@Suite struct SerialChannelTests {
    /// The vectors of several frames in one stream: noise in front, a frame cut short.
    @Test func framesAreFoundInTheStreamVectors() throws {
        var streams = 0
        for file in SharedVector.files where file.hasPrefix("serial_") {
            let bytes = Array(try Data(contentsOf: URL(filePath: SharedVector.directory + "/" + file)))
            guard case .array(let vectors) = try JSONValue.parse(json5: bytes) else { continue }
            for case .object(let vector) in vectors {
                guard case .array(let expected)? = vector["expect"], case .string(let hex)? = vector["hex"],
                    case .string(let channel)? = vector["characteristic"], let sent = HexadecimalText.bytes(hex)
                else { continue }
                streams += 1
                let interpreter = try shippedInterpreter(channel, strict: true)
                var framer = StreamFramer(try #require(shippedLibrary.match(channel: channel).framing))
                var found: [JSONValue] = []
                let handle = { (event: StreamFramer.Event) in
                    guard case .frame(let frame, _) = event, (try? interpreter.decode(frame)) != nil else { return }
                    func value(_ name: String) -> JSONValue {
                        interpreter.decoder.numeral(name, in: interpreter.frame).map { .number($0.doubleValue) } ?? .null
                    }
                    found.append(.object(["spo2": value("spo2"), "pulse_rate": value("pulse_rate")]))
                }
                sent.withUnsafeBytes { framer.feed($0, handle) }
                framer.finish(isCut: false, handle)
                #expect(found == expected, "\(hex)")
            }
        }
        #expect(streams == 2)
    }

    /// A line whose beginning was lost must never be another line.
    @Test func noTypeEndsWithAnother() {
        let ids = SampleType.all.map(\.id)
        let endings = ids.filter { id in ids.contains { $0 != id && $0.hasSuffix(id) } }
        #expect(endings.isEmpty)
    }

    @Test(arguments: [
        ("heartRate=72 /min", 1), ("heartRate=72 /min;oxygenSaturation=97 %", 2), ("  heartRate = 72  /min ", 1),
        ("heartRate,72,/min", 1), (#"{ "unit" : "/min", "value" : 72.0 , "type":"heartRate" }"#, 1), ("# 72", 0), ("", 0),
    ])
    func takesLinesOfMeasurements(line: String, count: Int) throws {
        let interpreter = try shippedInterpreter("serial:lines", strict: true)
        var readings: [Reading] = []
        let outcome = try Array((line + "\r\n").utf8).withUnsafeBytes {
            try interpreter.interpret(
                RawFrame(payload: .bytes($0), place: Place(.byte, 0), received: Instant(seconds: 0)), into: &readings)
        }
        #expect(readings.count == count && outcome == (count == 0 ? .skipped(SkipKind("comment")) : .readings))
        #expect(Set(readings.map(\.group)).count == min(count, 1))
    }

    @Test(arguments: [
        "heartRate", "heartRate=", "heartRate= /min", "heartRate=72", "heartRate=7 2 /min", "heartRate=1e3 /min",
        "heartRate=0x48 /min", "heartrate=72 /min", "72 /min", "heartRate,72", "heartRate,72,/min,yesterday",
        "heartRate,72,/min,,",
        #"{"type":"heartRate","value":"x","unit":"/min"}"#, #"{"type":"heartRate","value":72}"#, "{}", "{", #"{"type"}"#,
        #"{"type":"heartRate","value":72,"unit":"/min"} x"#, #"{"type":"heartRate","value":72,"value":73,"unit":"/min"}"#,
        #"{"type":"heartRate","value":{"a":1},"unit":"/min"}"#, "heartRate=72 /min*5", "heartRate=72 /min*ZZ", "\u{0}\u{1}\u{2}",
        "heartRate=99999999999999999999 /min", "heartRate=-- /min", "heartRate=1.2.3 /min",
    ])
    func refusesInvalidLines(line: String) throws {
        let interpreter = try shippedInterpreter("serial:lines", strict: false)
        guard case .failure(let error) = interpreter.outcome(of: Array((line + "\n").utf8)) else {
            Issue.record("taken: \(line)")
            return
        }
        #expect((0...line.utf8.count + 1).contains(error.offset))
    }

    /// Two equal measurements in one line stay two.
    @Test func equalMeasurementsOfOneLineStayTwo() throws {
        let interpreter = try shippedInterpreter("serial:lines", strict: true)
        var readings: [Reading] = []
        _ = try Array("heartRate=72 /min;heartRate=72 /min\n".utf8).withUnsafeBytes {
            try interpreter.interpret(
                RawFrame(payload: .bytes($0), place: Place(.byte, 0), received: Instant(seconds: 0)), into: &readings)
        }
        #expect(readings.map(\.ordinal) == [0, 1])
    }

    /// Random bytes instead of a line are refused or read and never crash, and the place is in the line.
    @Test func damagedLinesAreRefused() throws {
        var generator = SeededGenerator(seed: 11)
        for channel in shippedLibrary.binaryChannels where channel.hasPrefix("serial:") {
            let interpreter = try shippedInterpreter(channel, strict: true)
            for vector in SharedVector.all where vector.channel == channel {
                for _ in 0..<20 {
                    var bytes = vector.bytes
                    guard !bytes.isEmpty else { continue }
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
                    if case .failure(let error) = interpreter.outcome(of: bytes) {
                        #expect((0...bytes.count).contains(error.offset), "\(vector.testDescription)")
                    }
                }
            }
        }
    }
}
