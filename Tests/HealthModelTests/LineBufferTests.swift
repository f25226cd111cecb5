import HealthModel
import Testing

@Suite struct LineBufferTests {
    /// The lines of a text that arrives in pieces, and what is left.
    private func split(_ text: String, by length: Int) -> (lines: [String], rest: String) {
        let bytes = Array(text.utf8)
        var (buffer, lines) = (LineBuffer(), [String]())
        for start in stride(from: 0, to: bytes.count, by: length) {
            buffer.append(bytes[start..<min(start + length, bytes.count)])
            while let line = buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        return (lines, String(decoding: buffer.rest, as: UTF8.self))
    }

    @Test(arguments: [
        ("", [], ""), ("a", [], "a"), ("a\n", ["a"], ""), ("\n\n", ["", ""], ""), ("a\r\nbc\n\nd", ["a\r", "bc", ""], "d"),
    ])
    func pieces(text: String, lines: [String], rest: String) {
        for length in 1...8 {
            #expect(split(text, by: length) == (lines, rest))
        }
    }

    @Test func longLines() {
        let long = String(repeating: "x", count: 3 << 20)
        let (lines, rest) = split("a\n\(long)\nb\nc", by: 100_000)
        #expect(lines == ["a", long, "b"])
        #expect(rest == "c")
    }
}
