import Testing

@testable import vitalgate

/// Errors that repeat long input.
@Suite struct LongErrorTests {
    private struct LongError: Error, CustomStringConvertible {
        let description: String
    }

    /// A path, a zone or a name of 100,000 letters does not fill the terminal or the log.
    @Test func cutsLongMessages() {
        let (message, code) = Program.explain(LongError(description: String(repeating: "ä", count: 100_000)))
        #expect((message?.utf8.count ?? .max) <= 16_384 && message?.hasSuffix("ä…") == true && code == .software)
        #expect(Program.explain(LongError(description: "no such file")).message == "no such file")
    }
}
