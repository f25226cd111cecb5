import HealthModel
import Pipeline
import Testing
import Wire

@testable import Profiles

/// Layouts of advertisements: packed numbers, masks, check codes, forms identified by their length, encryption.
@Suite struct AdvertLayoutTests {
    private static func profile(_ layout: String, more: String = #"information: "test""#) throws -> Profile {
        let text = """
            { id: "test", name: "Test", version: "1", channels: [ { channel: "advert:FFFF", layout: [\(layout)], \(more) } ] }
            """
        return try Profile(json5: Array(text.utf8), file: "test.json5")
    }

    private static func fields(_ layout: String, _ hex: String, secrets: FrameSecrets = FrameSecrets()) throws -> String {
        let match = try #require(profile(layout).match(channel: "advert:ffff"))
        let interpreter = BinaryInterpreter(
            match, registry: OriginRegistry(person: "me"), options: BinaryOptions(isStrict: true, secrets: secrets))
        switch interpreter.outcome(of: try #require(HexadecimalText.bytes(hex))) {
        case .success: return String(decoding: interpreter.fieldsJSON, as: UTF8.self)
        case .failure(let error): return "\(error.offset) \(error.reason)"
        }
    }

    @Test(arguments: [
        // The highest bit is the sign.
        (#"{ name: "a", type: "m8" }"#, "85", #"{"a":-5}"#),
        (#"{ name: "a", type: "m24", order: "big" }"#, "800001", #"{"a":-1}"#),
        (#"{ name: "a", type: "m16" }"#, "FFFF", #"{"a":-32767}"#), (#"{ name: "a", type: "m8" }"#, "80", #"{"a":0}"#),
        // Packed decimals: of a negative number the parts are those of its magnitude.
        (
            #"{ name: "p", type: "m24", order: "big", hidden: true }, { name: "t", of: "p", divide: 1000, scale: "0.1", unit: "Cel" }, { name: "h", of: "p", modulo: 1000, scale: "0.1", unit: "%" }"#,
            "811F09", #"{"t":{"value":-7.3,"unit":"Cel"},"h":{"value":48.1,"unit":"%"}}"#
        ),
        // The offset that is added after the scale.
        (#"{ name: "a", type: "u16", scale: "0.01", add: "500", unit: "hPa" }"#, "0000", #"{"a":{"value":500.00,"unit":"hPa"}}"#),
        (#"{ name: "a", type: "u8", scale: "0.5", add: "-40", unit: "Cel" }"#, "51", #"{"a":{"value":0.5,"unit":"Cel"}}"#),
        // Ratios are rounded to the requested digits, halves away from zero.
        (#"{ name: "a", type: "s16", scale: "1/3", digits: 1, unit: "1" }"#, "0500", #"{"a":{"value":1.7,"unit":"1"}}"#),
        (#"{ name: "a", type: "s16", scale: "1/4", digits: 1, unit: "1" }"#, "0100", #"{"a":{"value":0.25,"unit":"1"}}"#),
        (#"{ name: "a", type: "s16", scale: "3/20", digits: 1, unit: "1" }"#, "FFFF", #"{"a":{"value":-0.2,"unit":"1"}}"#),
        // Sums of parts, and their sign.
        (
            #"{ type: "u8", bits: { whole: { at: [0, 6] }, minus: 7 } }, { name: "w", join: ["whole"], hidden: true }, { name: "f", type: "u8", scale: "0.01", hidden: true }, { name: "a", total: ["w", "f"], minus: "minus", unit: "Cel" }"#,
            "8145", #"{"a":{"value":-1.69,"unit":"Cel"}}"#
        ),
        (#"{ name: "a", type: "f32", unit: "Cel" }"#, "3333CB41", #"{"a":{"value":25.4,"unit":"Cel"}}"#),
        (#"{ name: "a", type: "f32", unit: "Cel" }"#, "0000C07F", #"{"a":{"value":null,"special":"NaN","unit":"Cel"}}"#),
        // A mask over the rest, and one that the frame itself holds.
        (#"{ name: "a", type: "u8" }, { masked: "A0" }, { name: "b", type: "u16" }"#, "01A1A2", #"{"a":1,"b":513}"#),
        (#"{ name: "k", type: "u8", hidden: true }, { masked: { field: "k" } }, { name: "b", type: "u8" }"#, "A0A7", #"{"b":7}"#),
        (#"{ is: "AABB" }, { name: "a", type: "u8" }"#, "AABB05", #"{"a":5}"#),
        (#"{ is: "AABB" }, { name: "a", type: "u8" }"#, "AABC05", "1 notThisFormat"),
        (#"{ name: "a", type: "u16" }, { check: "xor8", start: "20" }"#, "010223", #"{"a":513}"#),
        (#"{ name: "a", type: "u16" }, { check: "xor8", start: "20" }"#, "010222", "2 checkCode"),
        (#"{ name: "a", type: "u16" }, { check: "xor8", from: 1 }"#, "010202", #"{"a":513}"#),
        (#"{ name: "a", type: "u16" }, { check: "sum8", mask: "0F" }"#, "0102F3", #"{"a":513}"#),
        // CRC-8 of "123456789" with the polynomial 07 is F4.
        (#"{ name: "a", type: "utf8", size: 9 }, { check: "crc8" }"#, "313233343536373839F4", #"{"a":"123456789"}"#),
        // CRC-8/MAXIM of the same is A1.
        (
            #"{ name: "a", type: "utf8", size: 9 }, { check: "crc8-maxim" }"#, "313233343536373839A1",
            #"{"a":"123456789"}"#
        ),
        (
            #"{ name: "f", left: { "1": "short", "2": "long" } }, { name: "a", type: "u8", when: "f=short" }, { name: "a", type: "u16", when: "f=long" }"#,
            "0201", #"{"a":258}"#
        ),
        (#"{ left: { "2": "only" } }, { name: "a", type: "u16" }"#, "020103", "0 notThisFormat"),
        (#"{ left: { "2": "only" } }, { name: "a", type: "u16" }"#, "02", "0 truncated"),
        (#"{ name: "a", type: "u8" }, { skip: "rest" }"#, "05FFFFFF", #"{"a":5}"#),
        (#"{ name: "a", type: "u8", as: "text", values: ["x", "y"], only: true }"#, "02", "0 notThisFormat"),
        (#"{ type: "u8", bits: { a: { at: [0, 5], values: ["x"], only: true }, b: { at: [6, 7] } } }"#, "01", "0 notThisFormat"),
        // Bits without names are referred to by number.
        (#"{ type: "u8", bits: { a: { at: [0, 7] } } }, { name: "b", type: "u8", when: "a=200" }"#, "C807", #"{"b":7}"#),
        (#"{ type: "u8", bits: { a: { at: [0, 7] } } }, { name: "b", type: "u8", when: "!a=200" }"#, "C8", "{}"),
    ])
    func piecesOfAdverts(layout: String, hex: String, printed: String) throws {
        #expect(try Self.fields(layout, hex) == printed)
    }

    /// Lists whose objects have a length: unknown ids are skipped, and a known id with another length is refused.
    @Test func objectsWithLengthField() throws {
        let layout = #"""
            { name: "o", id: "u16", length: "u8", objects: {
              "0x1004": { name: "t", type: "s16", scale: "0.1", unit: "Cel" },
              "0x100D": [{ name: "t", type: "s16", scale: "0.1", unit: "Cel" }, { name: "h", type: "u16", scale: "0.1", unit: "%" }] } }
            """#
        let t = #"{"id":4100,"name":"t","value":27.2,"unit":"Cel"}"#
        #expect(try Self.fields(layout, "0410021001") == "{\"o\":[\(t)]}")
        #expect(try Self.fields(layout, "FFFF03AABBCC0410021001") == "{\"o\":[\(t)]}")
        #expect(try Self.fields(layout, "04100110") == "0 size")
        #expect(try Self.fields(layout, "041003100100") == "0 size")
        #expect(try Self.fields(layout, "04100210") == "0 truncated")
        #expect(try Self.fields(layout, "") == "0 truncated")
        #expect(throws: ProfileErrors.self) {
            try Self.profile(#"{ name: "o", id: "u16", objects: { "1": { name: "a", type: "u8" } } }"#)
        }
        #expect(throws: ProfileErrors.self) {
            try Self.profile(#"{ name: "o", objects: { "1": [{ name: "a", type: "u8" }, { name: "b", type: "u8" }] } }"#)
        }
    }

    /// Limits against malicious profiles.
    @Test func limitsMaliciousProfiles() throws {
        let masks = (0..<10_000).map { _ in #"{ masked: "A0" }"# }.joined(separator: ", ")
        #expect(throws: ProfileErrors.self) { try Self.profile(masks + #", { name: "a", type: "u8" }"#) }
        let layers = (0..<8).map { _ in #"{ masked: "A0" }"# }.joined(separator: ", ")
        #expect(try Self.fields(layers + #", { name: "a", type: "u8" }"#, "05") == #"{"a":5}"#)
        let names = (0..<200).map { #""advert:\#($0)""# }.joined(separator: ", ")
        let channel = #"{ channel: [NAMES], layout: [{ name: "a", type: "u8" }], information: "test" }"#
        let text =
            "{ id: 'test', name: 'Test', version: '1', channels: [\(channel), \(channel.replacing("advert", with: "gatt"))] }"
            .replacing("NAMES", with: names)
        #expect(throws: ProfileErrors.self) { try Profile(json5: Array(text.utf8), file: "test.json5") }
        // The least number has no opposite.
        let least =
            #"{ type: "u8", bits: { minus: 0 } }, { name: "a", type: "s64" }, { name: "b", total: ["a"], minus: "minus", unit: "1" }"#
        #expect(try Self.fields(least, "010000000000000080") == "9 prohibited")
        let sum = #"{ name: "a", type: "s64" }, { name: "b", type: "s64" }, { name: "c", total: ["a", "b"], unit: "1" }"#
        #expect(try Self.fields(sum, "FFFFFFFFFFFFFF7FFFFFFFFFFFFFFF7F") == "16 prohibited")
        let far = #"{ name: "a", type: "s64", scale: "1e-18", add: "1e18", unit: "1" }"#
        #expect(try Self.fields(far, "FFFFFFFFFFFFFF7F") == "0 prohibited")
        #expect(
            try Self.fields(#"{ name: "a", type: "s64", scale: "999999999/7", digits: 9, unit: "1" }"#, "FFFFFFFFFFFFFF7F")
                == "0 prohibited")
        #expect(
            try Self.fields(
                #"{ name: "a", type: "s64", hidden: true }, { name: "b", of: "a", modulo: 1000 }"#, "0000000000000080")
                == #"{"b":808}"#)
    }

    /// The sender's address inside a frame must match, if the address is known.
    @Test func anAddressInside() throws {
        let layout = #"{ address: "reversed" }, { name: "a", type: "u8" }"#
        let secrets = FrameSecrets(address: [0xA4, 0xC1, 0x38, 0x02, 0x83, 0xF4])
        #expect(try Self.fields(layout, "F4830238C1A407", secrets: secrets) == #"{"a":7}"#)
        #expect(try Self.fields(layout, "F4830238C1A507", secrets: secrets) == "0 notThisFormat")
        #expect(try Self.fields(layout, "F4830238C1A507") == #"{"a":7}"#)
    }

    /// The firmware of pvvx: made with AES-128-CCM over known readings, by another library than ours.
    @Test func adverts181AThatAreSealed() throws {
        for (hex, fields) in Self.sealed {
            let interpreter = try BinaryInterpreter(
                shippedLibrary.match(channel: "advert:181A", profile: "atc-pvvx"), registry: OriginRegistry(person: "me"),
                options: BinaryOptions(isStrict: true, secrets: Self.secrets))
            let bytes = try #require(HexadecimalText.bytes(hex))
            guard case .success = interpreter.outcome(of: bytes) else {
                Issue.record("refused: \(hex)")
                continue
            }
            #expect(String(decoding: interpreter.fieldsJSON, as: UTF8.self) == fields)
            #expect(interpreter.frame.isSealed && interpreter.packetNumber != nil)
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1
                guard case .failure(let error) = interpreter.outcome(of: changed) else {
                    Issue.record("taken with octet \(index) changed")
                    continue
                }
                #expect(error.reason == .notAuthentic)
            }
        }
    }

    private static let secrets = FrameSecrets(
        bindKey: HexadecimalText.bytes("231d39c1d7cc1ab1aee224cd096db932"), address: [0xA4, 0xC1, 0x38, 0x02, 0x83, 0xF4])

    private static let sealed = [
        (
            "2AD82F081166910C3B6DCE",
            #"{"counter":42,"temperature":{"value":-3.21,"unit":"Cel"},"humidity":{"value":45.67,"unit":"%"},"battery":{"value":88,"unit":"%"},"flags":5}"#
        ),
        (
            "2BF4F968238242ED",
            #"{"counter":43,"temperature":{"value":21.5,"unit":"Cel"},"humidity":{"value":45.5,"unit":"%"},"battery":{"value":90,"unit":"%"}}"#
        ),
    ]

    @Test(arguments: [
        (#"{ name: "a", type: "u8", unit: "kg", scale: "1/3" }"#, "a scale is"),
        (#"{ name: "a", type: "u8", unit: "kg", scale: "1/0", digits: 2 }"#, "a scale is"),
        (#"{ name: "a", type: "u8", unit: "kg", add: "x" }"#, "the added number"),
        (#"{ name: "a", type: "f32", unit: "kg" }, { name: "b", of: "a", divide: 10 }"#, "whole number"),
        (#"{ name: "a", type: "u8" }, { name: "b", of: "a", divide: 1 }"#, "must be from 2"),
        (#"{ left: {} }"#, "at least one field"), (#"{ left: { "300": "x" } }, { name: "a", type: "u8" }"#, "at most 255"),
        (#"{ is: "A" }, { name: "a", type: "u8" }"#, "two hexadecimal digits"),
        (#"{ masked: "" }, { name: "a", type: "u8" }"#, "two hexadecimal digits"),
        (#"{ sealed: "rot13" }, { name: "a", type: "u8" }"#, "must be one of"),
        (#"{ name: "a", total: ["z"] }"#, "no field 'z'"),
    ])
    func reportsLayoutMistakes(layout: String, part: String) {
        let problems = ProfileTests.problems { try Self.profile(layout) }
        #expect(problems.contains { $0.contains(part) }, "\(problems)")
    }

    /// One layout for several numbers, and one vector is enough for them.
    @Test func severalChannelsOfOneLayout() throws {
        let text = """
            { id: "test", name: "Test", version: "1",
              channels: [ { channel: ["advert:FD3D", "advert:0D00"], layout: [{ name: "a", type: "u8" }], information: "test" } ],
              vectors: [ { source: "made", channel: "advert:0D00", hex: "05", fields: { a: 5 }, skipped: "test" } ] }
            """
        let profile = try Profile(json5: Array(text.utf8), file: "test.json5")
        #expect(profile.binaryChannels == ["advert:FD3D", "advert:0D00"])
        #expect(ProfileVectorRun(profile, open: open).failures().isEmpty)
        for wrong in [#"["serial:X"]"#, "[]", #"["advert:1", "advert:1"]"#] {
            let other = text.replacing(#"["advert:FD3D", "advert:0D00"]"#, with: wrong)
            #expect(throws: ProfileErrors.self) { try Profile(json5: Array(other.utf8), file: "test.json5") }
        }
    }
}
