import CommandLineKit
import Testing

struct InvocationTests {
    @Test func gettersAnswerToAnyName() throws {
        let invocation = try Sample.program.parse(["import", "a", "b", "-n", "--store", "s", "--profiles=x", "--profiles", "y"])
        #expect(invocation.flag("--dry-run"))
        #expect(invocation.flag("-n"))
        #expect(invocation.string("--store") == "s")
        #expect(invocation.string("--profile") == nil)
        #expect(invocation.strings("--profiles") == ["x", "y"])
        #expect(invocation.arguments("FILE") == ["a", "b"])
        #expect(invocation.argument("FILE") == "a")
    }

    @Test func integersAreInTheirRange() throws {
        let invocation = try Sample.program.parse(["query", "all", "--limit", "12"])
        #expect(try invocation.integer("--limit", in: 0...100) == 12)
        let expected = "a whole number from 0 to 10"
        #expect(throws: UsageError(.invalidValue(name: "--limit", value: "12", expected: expected), command: "vitalgate query")) {
            try invocation.integer("--limit", in: 0...10)
        }
        #expect(try Sample.program.parse(["query", "all"]).integer("-l", in: 0...10) == nil)
    }

    @Test(arguments: ["", "x", "1.0", "1e3", "-1", " 1", "99999999999999999999"])
    func integersAreWholeNumbers(_ text: String) throws {
        let program = CommandSpecification(name: "show", summary: "Show.", arguments: [Argument(name: "N", help: "Which.")])
        let invocation = try program.parse(["--", text])
        let error = UsageError(.invalidValue(name: "N", value: text, expected: "a whole number from 0"), command: "show")
        #expect(throws: error) { try invocation.integer(argument: "N", in: 0...Int.max) }
    }

    struct Binding: Sendable {
        let arities: [Argument.Arity]
        let values: [String]
        let bound: [[String]]
    }

    static let bindings: [Binding] = [
        Binding(arities: [.one, .optional], values: ["a"], bound: [["a"], []]),
        Binding(arities: [.one, .optional], values: ["a", "b"], bound: [["a"], ["b"]]),
        Binding(arities: [.optional, .one], values: ["a"], bound: [[], ["a"]]),
        Binding(arities: [.oneOrMore, .one], values: ["a", "b", "c"], bound: [["a", "b"], ["c"]]),
        Binding(arities: [.any, .one], values: ["a"], bound: [[], ["a"]]),
        Binding(arities: [.one, .any], values: ["a", "b", "c"], bound: [["a"], ["b", "c"]]),
        Binding(arities: [.any], values: [], bound: [[]]),
    ]

    @Test(arguments: bindings)
    func valuesFindTheirArguments(_ binding: Binding) throws {
        let arguments = binding.arities.enumerated().map { Argument(name: "A\($0)", help: "a", arity: $1) }
        let program = CommandSpecification(name: "p", summary: "P.", arguments: arguments)
        let invocation = try program.parse(binding.values)
        #expect(arguments.map { invocation.arguments($0.name) } == binding.bound)
    }

    /// A word of the user may have megabytes, such as a file that was given instead of its name.
    @Test func cutsLongWords() {
        let long = String(repeating: "a", count: 100_000)
        for reason: UsageError.Reason in [
            .unknownCommand(long, suggestion: nil), .unknownOption(long, suggestion: "--limit"), .excessArgument(long),
            .unexpectedValue(option: "--all", value: long), .invalidValue(name: "N", value: long, expected: "a number"),
        ] {
            let message = UsageError(reason, command: "vitalgate query").message
            #expect(message.utf8.count < 300 && message.contains("aaa…'"), "\(message.prefix(300))")
        }
    }
}
