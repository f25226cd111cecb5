import Testing

@testable import Hub

@Suite struct ConfigurationBlockTests {
    private static let members = ["api: {", "    listen: \"0.0.0.0:8642\",", "},"]

    @Test(arguments: [
        "{}", "{\n}\n", "// mine {\n/* { */\n{ store: \"/s.db\", // here\n  hub: {} }\n", "{\r\n  store: \"{\"\r\n}\r\n",
        "\n\n{store: 1}",
    ])
    func removesAddedBlock(text: String) throws {
        let changed = try #require(ConfigurationBlock.adding(Self.members, to: text))
        #expect(ConfigurationBlock.isPresent(in: changed) && !ConfigurationBlock.isPresent(in: text))
        #expect(changed.contains("    api: {\n        listen: \"0.0.0.0:8642\",\n    },\n"))
        let back = try #require(ConfigurationBlock.removed(from: changed))
        #expect(back.filter { !$0.isWhitespace } == text.filter { !$0.isWhitespace })
        if text.hasPrefix("{\n") { #expect(back == text) }
        #expect(ConfigurationBlock.removed(from: text) == nil)
    }

    @Test func anEmptyFileBecomesAnObject() {
        #expect(ConfigurationBlock.adding(["a: 1,"], to: " \n")?.hasPrefix("{\n") == true)
        for text in ["[]", "store: 1", "/* {", "x {"] { #expect(ConfigurationBlock.adding(["a: 1,"], to: text) == nil) }
    }
}
