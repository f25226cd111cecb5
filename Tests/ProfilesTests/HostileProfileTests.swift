import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import Profiles

/// Profiles that somebody else wrote, by mistake or on purpose: one is refused where it is read, or refuses a frame. None ends the program.
@Suite struct HostileProfileTests {
    private static func problems(_ bytes: [UInt8], named name: String = "x.json5") throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: name)
        return problems(at: folder.file(name))
    }

    private static func problems(at path: String) -> [String] {
        do throws(ProfileErrors) {
            _ = try ProfileLibrary.check(file: path)
            return []
        } catch {
            return error.problems.map(\.message)
        }
    }

    /// Foundation's decoder ends the program where a key is no UTF-8.
    @Test(
        arguments: [
            ([0x7B, 0xFC, 0x62, 0x65, 0x72, 0x3A, 0x20, 0x31, 0x7D], "line 1, column 2"),
            (Array("{\n  id: \"a\",\n  // caf".utf8) + [0xE9, 0x0A, 0x7D], "line 3, column 9"),
            ([0xFF, 0xFE], "line 1, column 1"),
            (Array("{ x: 1 }".utf8) + [0xC3], "line 1, column 9"),
        ] as [([UInt8], String)]) func whatIsNoUTF8(bytes: [UInt8], place: String) throws
    {
        #expect(try Self.problems(bytes) == ["not JSON5: \(place): the text must be UTF-8"])
    }

    @Test func whatIsNoFile() throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.file("pipe.json5"), 0o600) == 0)
        #expect(Self.problems(at: folder.file("pipe.json5")) == ["is not a file"])
        try #require(symlink("/dev/zero", folder.file("zero.json5")) == 0)
        #expect(Self.problems(at: folder.file("zero.json5")) == ["is not a file"])
        try folder.write([UInt8](repeating: 0x20, count: Profile.maximumLength + 1), to: "long.json5")
        #expect(Self.problems(at: folder.file("long.json5")) == ["the file is longer than \(Profile.maximumLength) bytes"])
    }

    private static func profile(_ layout: String, _ more: String = "") -> String {
        """
        { id: "x", name: "X", version: "1", channels: [{ channel: "gatt:2A37", layout: [\(layout)],
          readings: [{ field: "v", type: "heartRate", unit: "/min" }] \(more) }], vectors: [] }
        """
    }

    /// Decodes frames of the lowest, the highest and other values: none may trap.
    private static func decode(_ text: String, widths: Int) throws {
        let profile = try Profile(json5: Array(text.utf8), file: "x.json5")
        let match = try #require(profile.match(channel: "gatt:2A37"))
        let start = Timestamp(wall: WallTime(microseconds: 1_700_000_000_000_000), offset: ZoneOffset(seconds: 3600))
        let interpreter = BinaryInterpreter(
            match, registry: OriginRegistry(subject: "s"), options: BinaryOptions(sessionStart: start))
        let decoder = FrameDecoder(plan: match.channel.plan, isStrict: false)
        var generator = FixedGenerator(state: 7)
        for round in 0..<300 {
            var bytes = (0..<widths).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if round < 4 { bytes = [UInt8](repeating: [0x00, 0xFF, 0x7F, 0x80][round], count: widths) }
            if round == 4 { bytes = [UInt8](repeating: 0xFF, count: widths - 1) + [0x7F] }
            if round == 5 { bytes = [UInt8](repeating: 0x00, count: widths - 1) + [0x80] }
            bytes.withUnsafeBytes { bytes in
                var frame = DecodedFrame()
                if (try? decoder.decode(bytes, into: &frame)) != nil { _ = decoder.fieldsJSON(frame) }
                var readings: [Reading] = []
                let raw = RawFrame(payload: .bytes(bytes), place: Place(.record, 1), received: Instant(seconds: 1_900_000_000))
                _ = try? interpreter.interpret(raw, into: &readings)
            }
        }
    }

    @Test func minutesThatNoClockHas() throws {
        try Self.decode(
            Self.profile(#"{ name: "v", type: "u8" }, { name: "m", type: "s64" }"#, #", time: { session: "m" }"#), widths: 9)
        try Self.decode(
            Self.profile(
                #"{ name: "v", type: "u8" }, { name: "d", type: "datetime" }, { name: "m", type: "s64" }, { name: "t", time: "d", plus: "m" }"#
            ),
            widths: 16)
    }

    @Test func instantsOfNoCalendar() throws {
        try Self.decode(Self.profile(#"{ name: "v", type: "u8" }, { name: "i", type: "s64", as: "instant" }"#), widths: 9)
    }

    @Test func bitsThatFillMoreThanANumber() throws {
        let wide = (0..<8).map { "b\($0): { at: [\($0 * 8), \($0 * 8 + 7)] }" }.joined(separator: ", ")
        let names = (0..<8).map { "\"b\($0)\"" }.joined(separator: ", ")
        let text = Self.profile(#"{ type: "u48", bits: { \#(wide) } }, { name: "v", join: [\#(names)] }"#)
        // Refused, here or because there are not so many bits.
        #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "x.json5") }
        let flags = #"{ type: "u32", bits: { a: { at: [0, 31] } } }, { type: "u32", bits: { b: { at: [0, 31] } } }"#
        let joined = Self.profile(flags + #", { name: "v", join: ["a", "b"] }"#)
        #expect(throws: ProfileErrors.self) { try Profile(json5: Array(joined.utf8), file: "x.json5") }
    }

    @Test func boundsTheWrongWayRound() throws {
        let text = Self.profile(#"{ name: "v", type: "u8", range: [200, 3] }"#)
        #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "x.json5") }
    }

    @Test(arguments: ["+18:30", "-18:59", "+19:00"]) func zonesThatNoPlaceHas(zone: String) {
        #expect(ZoneOffset(zone) == nil)
        #expect(ZoneOffset("+18:00")?.seconds == 64_800)
    }

    @Test func aSessionStartInNoZone() {
        func start(_ zone: Int8, _ summer: UInt8) -> Timestamp? {
            [0xEA, 0x07, 11, 20, 6, 31, 0, UInt8(bitPattern: zone), summer].withUnsafeBytes { SessionStart.timestamp($0) }
        }
        #expect(start(4, 4)?.offset?.seconds == 7200)
        #expect(start(-128, 0)?.offset == nil && start(-128, 0) != nil)
        #expect(start(100, 100) == nil)
    }
}
