import Testing

@testable import Profiles

/// Texts from spec.json5.org, and where they become invalid.
@Suite struct JSON5Tests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue.parse(json5: Array(text.utf8)) }

    @Test(
        arguments: [
            ("0", 0), ("-0.5", -0.5), ("+.5", 0.5), ("5.", 5), ("1e3", 1000), ("1.5E-2", 0.015), ("0x2a", 42), ("-0XFF", -255),
            ("9007199254740993", 9_007_199_254_740_992), ("0.1", 0.1), ("1e308", 1e308),
        ] as [(String, Double)])
    func numbers(text: String, value: Double) throws { #expect(try parse(text) == .number(value)) }

    @Test(arguments: [
        "01", ".", "-", "+", "1.2.3", "1e", "1e+", "0x", "0xG", "1e999", "Infinity", "-Infinity", "NaN", "1_000", "--1",
        "0x1ffffffffffffffff",
    ])
    func refusesInvalidNumbers(text: String) { #expect(throws: ProfileProblem.self) { try parse(text) } }

    @Test(arguments: [
        (#""a""#, "a"), ("'it\"s'", "it\"s"), (#"'\'\"\\\/'"#, #"'"\/"#), (#"'\b\f\n\r\t\v\0'"#, "\u{8}\u{C}\n\r\t\u{B}\0"),
        (#"'\x41\u00e9\uD83D\uDE00'"#, "Aé😀"), ("'a\\\nb\\\r\nc\\\u{2028}d'", "abcd"), ("'é\u{301}\u{2028}'", "é\u{301}\u{2028}"),
        ("''", ""),
    ])
    func texts(text: String, value: String) throws { #expect(try parse(text) == .string(value)) }

    @Test(arguments: [
        "'a", "'a\"", "'a\nb'", #"'\"#, #"'\d'"#, #"'\1'"#, #"'\00'"#, #"'\x4'"#, #"'\u12G4'"#, #"'\uD83D'"#, #"'\uD83Dx'"#,
        #"'\uD83D\u0041'"#,
        #"'\uDE00'"#, #"'\x+1'"#, #"'\u"#,
    ])
    func refusesInvalidStrings(text: String) { #expect(throws: ProfileProblem.self) { try parse(text) } }

    @Test func objectsAndLists() throws {
        let text = "\u{FEFF}// a\n{ a: 1, $b_2: [ , ".replacing(", ", with: ",")
        #expect(throws: ProfileProblem.self) { try parse(text) }
        #expect(
            try parse("\u{FEFF}/* a */{über:[true,null,],'x y':{},$_1:false,}//")
                == .object([
                    "über": .array([.boolean(true), .null]), "x y": .object([:]), "$_1": .boolean(false),
                ]))
        #expect(try parse("\u{A0}[\u{2029}1\t,\u{B}2\u{C}]") == .array([.number(1), .number(2)]))
        #expect(try parse("{a:1,a:2}") == .object(["a": .number(2)]))
    }

    @Test(arguments: [
        "", "{", "[1", "{a", "{a:", "{1a:1}", "{a-b:1}", "{a:1;}", "[1 2]", "{,}", "[,]", "1 2", "/*", "tru", "\u{1}1", "[}",
        "{a:1]",
    ])
    func refusesInvalidJSON5(text: String) { #expect(throws: ProfileProblem.self) { try parse(text) } }

    @Test func errorsNamePosition() {
        let fault = JSON5Fault.find(in: Array("{\n  a: 1,\n  b: 01,\n}".utf8))
        #expect(fault?.description == "line 3, column 6: this is not a number")
    }
}
