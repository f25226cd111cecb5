import CommandLineKit
import Testing

struct TerminalTextTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("Größe", 5), ("e\u{301}", 1), ("体温", 4), ("ﾃﾝ", 2), ("█▏", 2), ("🩺", 2), ("\u{200B}", 0),
    ])
    func widthIsThatOfTheTerminal(text: String, width: Int) {
        #expect(TerminalText.width(text) == width)
    }

    @Test(arguments: [
        ("plain", "plain"), ("a\tb\nc\r\nd\re", "a b c d e"), ("\u{1B}]0;x\u{7}", "\u{FFFD}]0;x\u{FFFD}"), ("\u{7F}", "\u{FFFD}"),
        ("\u{85}\u{9B}", "\u{FFFD}\u{FFFD}"), ("a\u{2028}b", "a b"), ("\u{202E}a\u{2066}", "\u{FFFD}a\u{FFFD}"),
        ("\0", "\u{FFFD}"), ("👩‍⚕️", "👩‍⚕️"),
    ])
    func controlsAreReplaced(text: String, expected: String) {
        #expect(TerminalText.sanitized(text) == expected)
    }

    @Test func sanitizingKeepsLinesOnRequest() {
        #expect(TerminalText.sanitized("a\nb\r\n\u{1B}c", keepingLines: true) == "a\nb \n\u{FFFD}c")
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""), ("体温計", 5, "体温…"),
        ("体温計", 4, "体…"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func cutsAtCharacters(text: String, width: Int, expected: String) {
        #expect(TerminalText.truncated(text, to: width) == expected)
    }
}
