import Testing

@testable import HealthModel

@Suite struct JSONReaderTests {
    private typealias Reader = JSONReader<JSONFault>

    /// The range of the value that a text begins with, or its fault.
    private func read(
        _ text: some Sequence<UInt8>, checks: Reader.Checks = .grammar, depth: Int = 8
    ) -> Result<Range<Int>, JSONFault> {
        Array(text).withUnsafeBytes { bytes in
            var reader = Reader(bytes, checks: checks, maximumDepth: depth)
            do throws(JSONFault) {
                return .success(try reader.value())
            } catch {
                return .failure(error)
            }
        }
    }

    @Test(arguments: [
        ("null", 0..<4), (" true,", 1..<5), ("-0.50e+07]", 0..<9), ("0", 0..<1), (#""a\u00e9\"" "#, 0..<11), ("[ ]", 0..<3),
        (#"{"a":[1,{"b":null}],"a":""}x"#, 0..<27), ("12345678901234567890123456789.000", 0..<33), (#""\ud800""#, 0..<8),
    ])
    func values(text: String, range: Range<Int>) {
        #expect(read(text.utf8) == .success(range))
    }

    /// A fault's place is the first byte that is wrong, and the beginning of the word, number, or escape.
    @Test(arguments: [
        ("", JSONFault.Kind.end, 0, 0), ("tru", .value, 3, 0), ("trUe", .value, 2, 0), ("nan", .value, 1, 0), ("-", .value, 1, 0),
        ("01", .value, 1, 0), ("+1", .value, 0, 0), (".5", .value, 0, 0), ("1.", .fraction, 2, 2), ("1e+", .exponent, 3, 3),
        ("[1", .end, 2, 2), ("[1,", .end, 3, 3),
        ("[1,]", .value, 3, 3), ("[1 2]", .elementSeparator, 3, 3), ("{", .end, 1, 1),
        ("{a:1}", .name, 1, 1), (#"{"a""#, .colon, 4, 4), (#"{"a":1 "b":2}"#, .memberSeparator, 7, 7),
        (#"{"a":1,}"#, .name, 7, 7),
        (#""a"#, .unclosedText, 2, 2), (#""a\"#, .unclosedText, 3, 2), (#""\x""#, .escape, 2, 1), (#""\u00g0""#, .escape, 5, 1),
        (#""\u00"#, .escape, 5, 1), ("\"a\u{1}\"", .controlCharacter, 2, 2),
    ])
    func faults(text: String, kind: JSONFault.Kind, index: Int, start: Int) {
        let isEnd = index == text.utf8.count
        #expect(read(text.utf8) == .failure(JSONFault(kind, at: index, from: start, isEnd: isEnd)))
    }

    /// A text that is cut anywhere needs more bytes.
    @Test func cutAnywhere() {
        let text = Array(#"{"name" : ["\u00e9\n", -1.5e+3, true, false, null, {}, []], "other": "x"}"#.utf8)
        #expect(read(text) == .success(text.indices))
        for end in text.indices {
            guard case .failure(let fault) = read(text[..<end]) else {
                Issue.record("a part of \(end) bytes is a value")
                continue
            }
            #expect(fault.isEnd && fault.index == end)
        }
    }

    @Test func depth() {
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth) }
        #expect(read(nested(8).utf8) == .success(0..<17))
        #expect(read(nested(9).utf8) == .failure(JSONFault(.depth, at: 9, from: 9, isEnd: false)))
    }

    /// Where only the structure counts, escapes and numbers may be wrong, and brackets, words, and strings may not.
    @Test func structure() {
        for text in [#"{"a":"\x\u12"}"#, "[01,+5,1.2.3,e]", #"["\""]"#] {
            #expect(read(text.utf8, checks: .structure) == .success(0..<text.utf8.count))
        }
        for text in ["[1}", "[tru]", "[x]", #"["a]"#, #"["\"#, "{1:2}", "[1 2]"] {
            #expect(throws: JSONFault.self) { try read(text.utf8, checks: .structure).get() }
        }
    }

    @Test func halvesOfCharacters() {
        for text in [#""\ud800""#, #""\ude00""#, #""\ud83d\u0041""#, #""\ud83dx""#, #""a\ud83d\"#] {
            #expect(throws: JSONFault.self) { try read(text.utf8, checks: .characters).get() }
        }
        let half = JSONFault(.halfCharacter, at: 8, from: 2, isEnd: false)
        #expect(read(#""a\ud800""#.utf8, checks: .characters) == .failure(half))
        #expect(read(#""\ud83d\ude00""#.utf8, checks: .characters) == .success(0..<14))
    }

    @Test(arguments: [
        ("plain é", "plain é", false), (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t", false), (#"\u00e9\u20AC"#, "é€", false),
        (#"\ud83d\ude00!"#, "😀!", false), (#"\ud83d!"#, "\u{FFFD}!", true), (#"\ud83d\u0041"#, "\u{FFFD}", true),
        (#"\ude00"#, "\u{FFFD}", true), ("", "", false),
    ])
    func unescaping(written: String, text: String, hasHalf: Bool) {
        var bytes = Array(written.utf8)
        let (count, half) = bytes.withUnsafeMutableBufferPointer { bytes in
            // In place.
            bytes.baseAddress.map { JSONString.unescape(UnsafeRawBufferPointer(bytes), into: $0) } ?? (0, false)
        }
        #expect(String(decoding: bytes[..<count], as: UTF8.self) == text)
        #expect(half == hasHalf)
    }

    /// Numbers and strings keep their bytes.
    @Test func membersInOrder() throws {
        let text = Array(#"{"b": 1.50, "a\n": "x", "b": [0.10 ,-2E5]}"#.utf8)
        var found: [String] = []
        try text.withUnsafeBytes { bytes in
            var reader = Reader(bytes, maximumDepth: 8)
            try reader.forEachMember { name, value in
                found.append(name.text(in: bytes) + "=" + String(decoding: bytes[value], as: UTF8.self))
            }
            #expect(reader.isAtEnd)
            reader = Reader(bytes, from: 29, maximumDepth: 8)
            try reader.forEachElement { found.append(String(decoding: bytes[$0], as: UTF8.self)) }
        }
        #expect(found == ["b=1.50", "a\n=\"x\"", "b=[0.10 ,-2E5]", "0.10", "-2E5"])
    }

    @Test(
        arguments: [
            ([0x41, 0xC3, 0xA9], nil), ([0xC3], 0), ([0x41, 0xC0, 0x80], 1), ([0xED, 0xA0, 0x80], 0),
            ([0xF4, 0x90, 0x80, 0x80], 0),
            ([0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0xFF], 9), ([0xF0, 0x9F, 0x98, 0x80], nil), ([], nil),
        ] as [([UInt8], Int?)])
    func validUTF8(bytes: [UInt8], fault: Int?) {
        #expect(bytes.withUnsafeBytes(UTF8Text.firstFault) == fault)
        #expect(bytes.withUnsafeBytes(UTF8Text.isValid) == (String(validating: bytes, as: UTF8.self) != nil))
    }
}
