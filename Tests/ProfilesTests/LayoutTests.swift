import HealthModel
import Pipeline
import Testing
import Wire

@testable import Profiles

@Suite struct LayoutTests {
    private static func profile(_ layout: String, more: String = #"information: "test""#) throws -> Profile {
        let text = """
            { id: "test", name: "Test", version: "1", channels: [ { channel: "gatt:FFFF", layout: [\(layout)], \(more) } ] }
            """
        return try Profile(json5: Array(text.utf8), file: "test.json5")
    }

    private static func fields(_ layout: String, _ hex: String, strict: Bool = true) throws -> String {
        let match = try #require(profile(layout).match(channel: "gatt:ffff"))
        let interpreter = BinaryInterpreter(
            match, registry: OriginRegistry(person: "me"), options: BinaryOptions(isStrict: strict))
        switch interpreter.outcome(of: try #require(HexadecimalText.bytes(hex))) {
        case .success: return String(decoding: interpreter.fieldsJSON, as: UTF8.self)
        case .failure(let error): return "\(error.offset) \(error.reason)"
        }
    }

    @Test(arguments: [
        (#"{ name: "a", type: "u24" }"#, "010203", #"{"a":197121}"#),
        (#"{ name: "a", type: "s24", order: "big" }"#, "FFFFFE", #"{"a":-2}"#),
        (#"{ name: "a", type: "u48" }"#, "FFFFFFFFFFFF", #"{"a":281474976710655}"#),
        (#"{ name: "a", type: "s64" }"#, "FFFFFFFFFFFFFFFF", #"{"a":-1}"#),
        (#"{ name: "a", type: "u16", unit: "kg", scale: "0.005" }"#, "B036", #"{"a":{"value":70.000,"unit":"kg"}}"#),
        (#"{ name: "a", type: "s16", unit: "s", scale: "1/1024" }"#, "00FE", #"{"a":{"value":-0.5,"unit":"s"}}"#),
        (
            #"{ name: "a", type: "u16", unit: "kg", special: { "0xFFFF": "unsuccessful" } }"#, "FFFF",
            #"{"a":{"value":null,"special":"unsuccessful","unit":"kg"}}"#
        ),
        (
            #"{ name: "a", type: "u8", unit: "%", range: [0, 200], scale: "0.5", beyond: "invalid" }, { name: "b", type: "u8" }"#,
            "C901", #"{"a":{"value":null,"special":"invalid","unit":"%"},"b":1}"#
        ),
        (
            #"{ name: "p", type: "m16", range: [-300, 900], beyond: "failed", hidden: true }, { name: "a", of: "p", divide: 10, unit: "K" }"#,
            "2D81", #"{"a":{"value":null,"special":"failed","unit":"K"}}"#
        ),
        (
            #"{ name: "a", type: "u8", unit: "%", range: [0, 200], scale: "0.5", beyond: "invalid" }"#, "C8",
            #"{"a":{"value":100.0,"unit":"%"}}"#
        ),
        (#"{ name: "a", type: "utf8" }"#, "41424300", #"{"a":"ABC"}"#),
        (#"{ name: "a", type: "utf8", size: 2 }, { name: "b", type: "u8" }"#, "224101", #"{"a":"\"A","b":1}"#),
        (#"{ name: "a", type: "octets", length: "u8" }"#, "02ABCD", #"{"a":"abcd"}"#),
        (#"{ name: "a", type: "u8", repeat: true, unit: "s" }"#, "010203", #"{"a":{"values":[1,2,3],"unit":"s"}}"#),
        (
            #"{ type: "u8", bits: { low: { at: [0, 3] }, high: { at: [4, 7], values: ["x", "y"], as: "text" } }, show: ["low", "high"] }"#,
            "1A", #"{"low":10,"high":"y"}"#
        ),
        (#"{ name: "a", type: "u16", order: "big", bits: [null, "b", "c"] }"#, "0006", #"{"a":{"raw":6,"set":["b","c"]}}"#),
    ])
    func fieldsOfEveryKind(layout: String, hex: String, printed: String) throws {
        #expect(try Self.fields(layout, hex) == printed)
        let length = hex.utf8.count / 2
        guard !layout.contains("repeat"), !layout.contains(#"type: "utf8" }"#) else { return }
        for count in 0..<length {
            #expect(try Self.fields(layout, String(hex.prefix(2 * count))).hasSuffix("truncated"), "cut to \(count)")
        }
        #expect(try Self.fields(layout, hex + "00") == "\(length) overlong")
    }

    @Test func conditionsAskForFlagsAndValues() throws {
        let layout = """
            { type: "u8", bits: ["one", "two"] }, { name: "kind", type: "u8", as: "text", values: ["plain", "long"] },
            { name: "a", type: "u8", when: ["one", "!two"] }, { name: "b", type: "u8", when: "kind=long" },
            { name: "c", type: "u8", when: ["two", "!kind=long"] }
            """
        #expect(try Self.fields(layout, "0000") == #"{"kind":"plain"}"#)
        #expect(try Self.fields(layout, "010005") == #"{"kind":"plain","a":5}"#)
        #expect(try Self.fields(layout, "01010506") == #"{"kind":"long","a":5,"b":6}"#)
        #expect(try Self.fields(layout, "020007") == #"{"kind":"plain","c":7}"#)
        #expect(try Self.fields(layout, "030106") == #"{"kind":"long","b":6}"#)
        #expect(try Self.fields(layout, "0400") == "0 reserved")
        #expect(try Self.fields(layout, "0002") == "1 reserved")
        #expect(try Self.fields(layout, "040009", strict: false) == #"{"kind":"plain"}"#)
        #expect(try Self.fields(layout, "000209", strict: false) == "2 overlong")
        #expect(try Self.fields(layout, "0002", strict: false) == #"{"kind":null}"#)
    }

    @Test func reportsMistakesWithKey() {
        let layout = """
            { type: "u8", bits: { a: 0, b: 9 }, show: ["c"] }, { name: "x", type: "u7" }, { name: "y", type: "u8", when: "z" },
            { name: "v", type: "u16", scale: "x" }, { nothing: 1 }, { name: "u", type: "u8", unit: "kg", wibble: 1 },
            { name: "w", of: "q" }, { type: "u8" }, { name: "e", type: "u8", either: [{ when: "a", unit: "kg" }] }
            """
        let more = """
            readings: [{ field: "q", type: "heartRate" }, { field: "u", type: "heartRate" }, { field: "u", type: "wibble" },
              { field: "v", type: "heartRate" }], time: { field: "t" }, metadata: { k: { field: "u", map: { a: "b" } } },
            skip: [{ when: "a" }]
            """
        let found = ProfileTests.problems { try Self.profile(layout, more: more) }
        for (path, part) in [
            ("channels[0].layout[0].bits", "'b' is outside"), ("channels[0].layout[0].show", "no bit 'c'"),
            ("channels[0].layout[1].type", "a type is"), ("channels[0].layout[2].when", "'z'"),
            ("channels[0].layout[3].scale", "a scale is"), ("channels[0].layout[4]", "a field needs one of"),
            ("channels[0].layout[5].wibble", "unknown key"), ("channels[0].layout[6].of", "no field 'q'"),
            ("channels[0].layout[7]", "name is missing"), ("channels[0].layout[8].either", "last alternative"),
            ("channels[0].readings[0].field", "no field 'q'"), ("channels[0].readings[1]", "heartRate"),
            ("channels[0].readings[2].type", "a quantity type"), ("channels[0].readings[3]", "no UCUM unit"),
            ("channels[0].time.field", "no field 't'"), ("channels[0].metadata.k.field", "a map needs an enumeration"),
            ("channels[0].skip[0]", "when or as"),
        ] {
            #expect(found.contains { $0.hasPrefix(path) && $0.contains(part) }, "\(path): \(found)")
        }
        let tooMany = (0..<3).map { #"{ name: "n\#($0)", type: "u24", bits: ["b\#($0)"] }"# }.joined(separator: ", ")
        #expect(ProfileTests.problems { try Self.profile(tooMany) }.contains { $0.contains("64 bits together") })
        #expect(ProfileTests.problems { try Self.profile("") }.contains { $0.contains("at least one field") })
        let silent = ProfileTests.problems { try Self.profile(#"{ name: "a", type: "u8" }"#, more: "") }
        #expect(silent.contains { $0.contains("readings is missing") })
    }

    @Test func aProfileOfFramesWithoutVectorsFails() throws {
        let profile = try Self.profile(#"{ name: "a", type: "u8" }"#)
        let failures = ProfileVectorRun(profile, open: open).failures()
        #expect(failures.contains { $0.contains("has no vectors") })
    }

    @Test func matchesChannelsInAnyCaseAndRefusesTies() throws {
        #expect(try shippedLibrary.match(channel: "GATT:2a37").channelName == "gatt:2A37")
        #expect(throws: ProfileMatchError.noChannel("gatt:0000", of: nil)) { try shippedLibrary.match(channel: "gatt:0000") }
        #expect(throws: ProfileMatchError.noChannel("gatt:2A37", of: "sig-battery")) {
            try shippedLibrary.match(channel: "gatt:2A37", profile: "sig-battery")
        }
        let one = try Self.profile(#"{ name: "a", type: "u8" }"#)
        var other = one
        other.id = "other"
        #expect(throws: ProfileMatchError.severalMatch(ids: ["other", "test"])) {
            try ProfileLibrary([one, other]).match(channel: "gatt:FFFF")
        }
    }
}
