import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import Testing
import Wire

@testable import Profiles

/// Malicious or mistaken profiles, and frames that reach their limits.
@Suite struct HostileProfileTests {
    private static func profile(_ layout: String, _ more: String = #"information: "test""#) throws -> Profile {
        let text = """
            { id: "test", name: "Test", version: "1", channels: [ { channel: "gatt:FFFF", layout: [\(layout)], \(more) } ] }
            """
        return try Profile(json5: Array(text.utf8), file: "test.json5")
    }

    private static func outcome(
        _ layout: String, _ more: String = #"information: "test""#, _ hex: String, session: Timestamp? = nil
    ) throws -> (fields: String, error: FrameError?, refusal: Refusal?) {
        let match = try #require(profile(layout, more).match(channel: "gatt:ffff"))
        let interpreter = BinaryInterpreter(
            match, registry: OriginRegistry(person: "me"), options: BinaryOptions(sessionStart: session))
        let bytes = try #require(HexadecimalText.bytes(hex))
        do {
            try bytes.withUnsafeBytes { try interpreter.decode($0) }
        } catch let error as FrameError {
            return ("", error, nil)
        }
        let fields = String(decoding: interpreter.fieldsJSON, as: UTF8.self)
        var readings: [Reading] = []
        do throws(Refusal) {
            _ = try interpreter.appendReadings(at: Place(.byte, 0), to: &readings)
        } catch {
            return (fields, nil, error)
        }
        return (fields, nil, nil)
    }

    /// `{über: 1}` in Latin-1: a key that is not UTF-8.
    @Test(arguments: ["7bfc6265723a20317d", "7b226122 3a2022ff227d", "ff", "5bc3285d", "7beda0803a317d", "7b61c0af3a317d"])
    func refusesInvalidUTF8(hex: String) throws {
        let bytes = try #require(HexadecimalText.bytes(hex.filter { $0 != " " }))
        let error = #expect(throws: ProfileErrors.self) { try Profile(json5: bytes, file: "test.json5") }
        #expect(error?.problems.first?.message.contains("UTF-8") == true)
    }

    @Test func aDeepTextIsRefused() {
        for (open, close) in [("[", "]"), ("{a:", "}")] {
            let text = String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000)
            #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "test.json5") }
        }
    }

    /// 40 kB of these took seconds, a megabyte minutes. This was found by hand after `scripts/fuzz profiles`, whose inputs are shorter.
    @Test func listsInListsAreRefusedAtOnce() {
        let lists = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let text = "[" + Array(repeating: lists, count: 20).joined(separator: ",") + "]"
        let error = #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "test.json5") }
        #expect(error?.problems.first?.message.contains("nested too deeply") == true)
    }

    /// Foundation's decoder traps on an exponent without digits, as JSON5: in a profile, and in the head of a file that is imported.
    @Test(arguments: ["1e+", "-1.5E-", "1e"]) func anExponentWithoutDigitsIsNoNumber(number: String) throws {
        let text = Array("{ id: \(number) }".utf8)
        let error = #expect(throws: ProfileErrors.self) { try Profile(json5: text, file: "test.json5") }
        #expect(error?.problems.first?.message.contains("not a number") == true)
        #expect(JSONHead.firstObject(of: "[{\"a\": \(number)}]") == nil)
    }

    @Test func thousandsOfChannelsAreRefused() {
        let channels = (0..<257).map { "{channel:'gatt:\($0)'}" }.joined(separator: ",")
        let text = "{id:'test',name:'Test',version:'1',channels:[\(channels)]}"
        let error = #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "test.json5") }
        #expect(error?.problems.contains { $0.message == "a profile has at most 256 channels" } == true)
    }

    /// A pipe without a writer, a folder, and an endless file are not profiles, and the program does not wait for them.
    @Test func readsOnlyRegularFilesWithinLimit() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe.json5"
        try #require(mkfifo(pipe, 0o600) == 0)
        try #require(mkdir(folder.path + "/folder.json5", 0o700) == 0)
        try #require(symlink("/dev/zero", folder.path + "/zero.json5") == 0)
        try Data(repeating: UInt8(ascii: " "), count: 2 << 20).write(to: URL(filePath: folder.path + "/large.json5"))
        for (name, words) in [
            ("pipe", "not a regular file"), ("folder", "not a regular file"), ("zero", "not a regular file"),
            ("large", "longer than"),
        ] {
            let error = #expect(throws: ProfileErrors.self) {
                try ProfileLibrary.check(file: folder.path + "/\(name).json5")
            }
            #expect(error?.problems.first?.message.contains(words) == true, "\(name)")
        }
    }

    @Test func minutesThatNoCalendarHas() throws {
        let session = try Timestamp(iso8601: "2026-11-20T06:31:00+01:00")
        let more = #"time: { session: "m" }, readings: [{ field: "v", type: "heartRate", unit: "/min" }]"#
        #expect(throws: ProfileErrors.self) { try Self.profile(#"{ name: "m", type: "s64" }, { name: "v", type: "u8" }"#, more) }
        let layout = #"{ name: "m", type: "s32" }, { name: "v", type: "u8" }"#
        for hex in ["ffffff7f48", "0000008048"] {
            let (_, error, _) = try Self.outcome(layout, more, hex, session: session)
            #expect(error == nil, "it is decoded, whatever becomes of the reading")
        }
        let sum = #"{ name: "t", type: "datetime" }, { name: "m", type: "s64" }, { name: "s", time: "t", plus: "m" }"#
        #expect(throws: ProfileErrors.self) { try Self.profile(sum) }
        let narrow = #"{ name: "t", type: "datetime" }, { name: "m", type: "s32" }, { name: "s", time: "t", plus: "m" }"#
        let (fields, error, _) = try Self.outcome(narrow, "information: \"test\"", "EA070B14061F00" + "FFFFFF7F")
        #expect(error == nil && fields.contains("\"s\":\"6109"))
    }

    @Test func aTimeIsADateAndTime() {
        let more = #"time: { field: "t" }, readings: [{ field: "v", type: "heartRate", unit: "/min" }]"#
        #expect(throws: ProfileErrors.self) { try Self.profile(#"{ name: "t", type: "s64" }, { name: "v", type: "u8" }"#, more) }
        #expect(throws: ProfileErrors.self) {
            try Self.profile(#"{ name: "t", type: "u8" }, { name: "m", type: "u8" }, { name: "s", time: "t", plus: "m" }"#)
        }
    }

    @Test(arguments: ["FFFFFFFFFFFFFF7F", "0000000000000080"]) func impossibleInstantIsNull(hex: String) throws {
        #expect(try Self.outcome(#"{ name: "i", type: "s64", as: "instant" }"#, hex).fields == #"{"i":null}"#)
    }

    @Test func joinedBitsFitIntoANumber() throws {
        let words = #"{ type: "u48", bits: { a: { at: [0, 47] } } }, { type: "u16", bits: { b: { at: [0, 15] } } }"#
        #expect(throws: ProfileErrors.self) { try Self.profile(words + #", { name: "j", join: ["a", "b"] }"#) }
        #expect(throws: ProfileErrors.self) { try Self.profile(words + #", { name: "j", join: ["a", "a"] }"#) }
        let narrow = #"{ type: "u48", bits: { a: { at: [0, 47] } } }, { type: "u8", bits: { b: { at: [0, 7] } } }"#
        let (fields, _, _) = try Self.outcome(narrow + #", { name: "j", join: ["a", "b"] }"#, "FFFFFFFFFFFFFF")
        #expect(fields == #"{"j":72057594037927935}"#)
    }

    /// A field that is read again afterwards cannot repeat to the end.
    @Test func peekedFieldsDoNotRepeat() {
        #expect(throws: ProfileErrors.self) { try Self.profile(#"{ name: "a", type: "u8", peek: true, repeat: true }"#) }
    }

    @Test(arguments: ["u8", "digits"]) func aRangeBeginsBeforeItEnds(type: String) {
        #expect(throws: ProfileErrors.self) { try Self.profile(#"{ name: "a", type: "\#(type)", range: [5, 1] }"#) }
    }

    /// An impedance requires a weight in the same frame.
    @Test func aReadingWithAnother() throws {
        func values(_ hex: String) throws -> [String] {
            let layout = """
                { name: "weight", type: "u16", unit: "kg", scale: "0.01", special: { "0xFFFF": "none" } },
                { name: "impedance", type: "u16", unit: "Ohm" }
                """
            let readings = """
                readings: [{ field: "weight", type: "bodyMass", zero: "none" }, { field: "impedance", type: "bodyImpedance", with: "weight" }]
                """
            let text = """
                { id: "test", name: "Test", version: "1", channels: [ { channel: "gatt:FFFF", layout: [\(layout)], \(readings) } ] }
                """
            let profile = try Profile(json5: Array(text.utf8), file: "test.json5")
            let match = try #require(profile.match(channel: "gatt:FFFF"))
            let bytes = try #require(HexadecimalText.bytes(hex))
            return DeviceVectorTests.values(match, bytes, FrameSecrets()).keys.sorted()
        }
        #expect(try values("401FF401") == ["bodyImpedance", "bodyMass"])
        #expect(try values("0000F401").isEmpty && values("FFFFF401").isEmpty)
    }

    /// A word for values outside of a range requires a range.
    @Test func beyondWantsARange() {
        #expect(throws: ProfileErrors.self) { try Self.profile(#"{ name: "a", type: "u8", beyond: "invalid" }"#) }
    }

    @Test func aScaleOfAScaleEndsSomewhere() throws {
        var layout = #"{ name: "f0", type: "u8" }"#
        for index in 1...2000 { layout += #", { name: "f\#(index)", of: "f\#(index - 1)", scale: "0.000000000000000001" }"# }
        #expect(try Self.outcome(layout, "01").error != nil)
    }

    @Test func limitsSpecialValues() {
        let words = (0..<40_000).map { "\"\($0)\":\"w\($0)\"" }.joined(separator: ",")
        #expect(throws: ProfileErrors.self) { try Self.profile("{ name: \"a\", type: \"u16\", special: {\(words)} }") }
    }

    @Test(arguments: [
        #"session: { start: "zone", zone: "zone", summerTime: "zone" }"#,
        #"session: { start: "start", zone: "start", summerTime: "zone" }"#,
        #"session: { start: "start", zone: "zone" }"#, #"session: { start: "start", zone: "zone", summerTime: "none" }"#,
    ]) func validatesSessionFields(session: String) {
        let layout = #"{ name: "start", type: "datetime" }, { name: "zone", type: "s8" }"#
        #expect(throws: ProfileErrors.self) { try Self.profile(layout, session + #", information: "test""#) }
    }

    /// 127 quarters of an hour and 254 of summer time: no place is so far ahead.
    @Test func refusesImpossibleZone() throws {
        let layout = #"""
            { name: "start", type: "datetime" }, { name: "zone", type: "s8", special: { "-128": "unknown" } },
            { name: "summer", type: "u8", special: { "255": "unknown" } }
            """#
        let rules = #"session: { start: "start", zone: "zone", summerTime: "summer" }, information: "test""#
        let match = try #require(Self.profile(layout, rules).match(channel: "gatt:ffff"))
        let interpreter = BinaryInterpreter(match, registry: OriginRegistry(person: "me"))
        func start(_ zone: UInt8, _ summer: UInt8) throws -> Timestamp? {
            try ([0xEA, 0x07, 11, 20, 6, 31, 0, zone, summer] as [UInt8]).withUnsafeBytes { try interpreter.decode($0) }
            return try #require(interpreter.decodedSessionStart()).timestamp
        }
        #expect(try start(4, 4)?.offset == ZoneOffset(seconds: 7200))
        #expect(try start(0x80, 0)?.wall != nil && start(0x80, 0)?.offset == nil)
        #expect(try start(72, 0)?.offset == ZoneOffset(seconds: 64_800))
        #expect(try start(73, 0) == nil && start(127, 254) == nil && start(0xB7, 0) == nil)
    }
}

extension HostileProfileTests {
    private static func outcome(_ layout: String, _ hex: String) throws -> (fields: String, error: FrameError?, refusal: Refusal?)
    {
        try outcome(layout, #"information: "test""#, hex)
    }
}
