import Foundation
import HealthModel
import Testing

@Suite struct JSONTextTests {
    @Test(arguments: [
        ("", #""""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t\u{8}\u{C}\0", #""\n\r\t\u0008\u000c\u0000""#),
        ("\u{1B}[2J\u{7F}\u{9B}", #""\u001b[2J\u007f\u009b""#), ("\u{2028}\u{2029}", #""\u2028\u2029""#),
        ("Größe 体温 🩺", #""Größe 体温 🩺""#), ("a\r\nb", #""a\r\nb""#), ("e\u{301}", "\"e\u{301}\""),
    ])
    func jsonStringsAreEscaped(text: String, expected: String) throws {
        var buffer: [UInt8] = []
        JSONText.append(string: text, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
        let read = try JSONSerialization.jsonObject(with: Data(buffer), options: .fragmentsAllowed) as? String
        #expect(read.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
    }

    @Test(
        arguments: [
            (37, "37.0"), (-0.0, "-0.0"), (0.1, "0.1"), (36.65, "36.65"), (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"),
            (1e-7, "1e-07"),
            (.nan, "null"), (.infinity, "null"), (-.infinity, "null"), (1.7976931348623157e308, "1.7976931348623157e+308"),
        ] as [(Double, String)])
    func jsonNumbersAreShortest(number: Double, expected: String) throws {
        var buffer: [UInt8] = []
        JSONText.append(number: number, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == expected)
        guard number.isFinite else { return }
        let read = try JSONSerialization.jsonObject(with: Data(buffer), options: .fragmentsAllowed) as? Double
        #expect(read == number)
    }

    @Test func jsonWholeNumbersAndTruth() {
        var buffer: [UInt8] = []
        JSONText.append(integer: UInt64.max, to: &buffer)
        JSONText.append(boolean: true, to: &buffer)
        JSONText.append(boolean: false, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == "18446744073709551615truefalse")
    }
}
