import CommandLineKit
import Testing

struct ParsingTests {
    struct Accepted: Sendable, CustomTestStringConvertible {
        let line: [String]
        let path: [String]
        var options: [String: [String]] = [:]
        var arguments: [String] = []
        var action = Invocation.Action.run

        var testDescription: String { line.joined(separator: " ") }
    }

    static let accepted: [Accepted] = [
        Accepted(line: ["store", "check"], path: ["store", "check"]),
        Accepted(line: ["--store", "a", "store", "check"], path: ["store", "check"], options: ["--store": ["a"]]),
        Accepted(line: ["store", "--store", "a", "check"], path: ["store", "check"], options: ["--store": ["a"]]),
        Accepted(line: ["store", "check", "--store=a"], path: ["store", "check"], options: ["--store": ["a"]]),
        Accepted(line: ["store", "--read-only", "check"], path: ["store", "check"], options: ["--read-only": [""]]),
        Accepted(line: ["store", "check", "--read-only"], path: ["store", "check"], options: ["--read-only": [""]]),
        Accepted(
            line: ["--profiles", "a", "profile", "list", "--profiles=b=c", "--profiles="], path: ["profile", "list"],
            options: ["--profiles": ["a", "b=c", ""]]),
        Accepted(
            line: ["import", "-", "-n", "a.csv"], path: ["import"], options: ["--dry-run": [""]], arguments: ["-", "a.csv"]),
        Accepted(line: ["import", "--", "--dry-run", "-"], path: ["import"], arguments: ["--dry-run", "-"]),
        Accepted(line: ["import", "--", "--"], path: ["import"], arguments: ["--"]),
        Accepted(line: ["import", "--profile", "-", "x"], path: ["import"], options: ["--profile": ["-"]], arguments: ["x"]),
        Accepted(line: ["import", "help"], path: ["import"], arguments: ["help"]),
        Accepted(line: ["unit", "convert", "-40", "Cel", "K"], path: ["unit", "convert"], arguments: ["-40", "Cel", "K"]),
        Accepted(line: ["unit", "convert", "-.5e3", "Cel", "K"], path: ["unit", "convert"], arguments: ["-.5e3", "Cel", "K"]),
        Accepted(
            line: ["unit", "convert", "--dialect", "healthkit", "--", "98.6", "[degF]", "Cel"], path: ["unit", "convert"],
            options: ["--dialect": ["healthkit"]], arguments: ["98.6", "[degF]", "Cel"]),
        Accepted(
            line: ["query", "all", "--from", "-7d", "-l", "-5", "--to=--odd"], path: ["query"],
            options: ["--from": ["-7d"], "--limit": ["-5"], "--to": ["--odd"]], arguments: ["all"]),
        Accepted(line: ["query", "all", "-l5"], path: ["query"], options: ["--limit": ["5"]], arguments: ["all"]),
        Accepted(
            line: ["query", "all", "--from=\u{338}=x"], path: ["query"], options: ["--from": ["\u{338}=x"]], arguments: ["all"]),
        Accepted(line: ["query", "all", "-l=5"], path: ["query"], options: ["--limit": ["5"]], arguments: ["all"]),
        Accepted(line: ["profile", "show"], path: ["profile", "show"]),
        Accepted(line: ["profile", "show", ""], path: ["profile", "show"], arguments: [""]),
        Accepted(line: ["--version"], path: [], action: .version),
        Accepted(line: ["query", "--version"], path: ["query"], action: .version),
        Accepted(line: ["--help"], path: [], action: .help),
        Accepted(line: ["help"], path: [], action: .help),
        Accepted(line: ["help", "store", "check"], path: ["store", "check"], action: .help),
        Accepted(line: ["help", "store"], path: ["store"], action: .help),
        Accepted(line: ["--help", "store"], path: ["store"], action: .help),
        Accepted(line: ["-h", "--version"], path: [], action: .help),
        Accepted(line: ["--version", "-h"], path: [], action: .help),
        Accepted(line: ["query", "--nonsense", "--limit", "--help"], path: ["query"], action: .help),
        Accepted(line: ["unit", "convert", "1", "--help"], path: ["unit", "convert"], arguments: ["1"], action: .help),
        Accepted(line: ["unit", "--help", "convert", "1"], path: ["unit", "convert"], action: .help),
    ]

    @Test(arguments: accepted)
    func accepts(_ expected: Accepted) throws {
        let invocation = try Sample.program.parse(expected.line)
        #expect(invocation.path == expected.path)
        #expect(invocation.action == expected.action)
        #expect(invocation.options == expected.options)
        #expect(invocation.arguments == expected.arguments)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let line: [String]
        let reason: UsageError.Reason
        let message: String
        var command = "vitalgate"

        var testDescription: String { line.joined(separator: " ") }
    }

    static let refused: [Refused] = [
        Refused(line: [], reason: .missingCommand, message: "no command given"),
        Refused(line: ["store"], reason: .missingCommand, message: "no command given", command: "vitalgate store"),
        Refused(
            line: ["qurey", "--help"], reason: .unknownCommand("qurey", suggestion: "query"),
            message: "unknown command 'qurey'; did you mean 'query'?"),
        Refused(
            line: ["store", "chekc"], reason: .unknownCommand("chekc", suggestion: "check"),
            message: "unknown command 'chekc'; did you mean 'check'?", command: "vitalgate store"),
        Refused(
            line: ["help", "sotre"], reason: .unknownCommand("sotre", suggestion: "store"),
            message: "unknown command 'sotre'; did you mean 'store'?"),
        Refused(
            line: ["telepathy\u{1B}[2J"], reason: .unknownCommand("telepathy\u{1B}[2J", suggestion: nil),
            message: "unknown command 'telepathy\u{FFFD}[2J'"),
        Refused(
            line: ["query", "all", "--form", "x"], reason: .unknownOption("--form", suggestion: "--from"),
            message: "unknown option '--form'; did you mean '--from'?", command: "vitalgate query"),
        Refused(
            line: ["query", "all", "--chan=x"], reason: .unknownOption("--chan", suggestion: "--channel"),
            message: "unknown option '--chan'; did you mean '--channel'?", command: "vitalgate query"),
        Refused(
            line: ["store", "check", "-store"], reason: .unknownOption("-store", suggestion: "--store"),
            message: "unknown option '-store'; did you mean '--store'?", command: "vitalgate store check"),
        Refused(
            line: ["--from", "x", "query", "all"], reason: .unknownOption("--from", suggestion: nil),
            message: "unknown option '--from'"),
        Refused(
            line: ["query", "all", "--from"], reason: .missingValue(option: "--from", placeholder: "T"),
            message: "option '--from' needs a value: --from T", command: "vitalgate query"),
        Refused(
            line: ["query", "all", "--from", "--to", "x"], reason: .missingValue(option: "--from", placeholder: "T"),
            message: "option '--from' needs a value: --from T", command: "vitalgate query"),
        Refused(
            line: ["import", "a", "--dry-run=yes"], reason: .unexpectedValue(option: "--dry-run", value: "yes"),
            message: "option '--dry-run' takes no value, but got 'yes'", command: "vitalgate import"),
        Refused(
            line: ["--help=query"], reason: .unexpectedValue(option: "--help", value: "query"),
            message: "option '--help' takes no value, but got 'query'"),
        Refused(
            line: ["query", "all", "-l", "1", "--limit", "2"], reason: .repeatedOption("--limit"),
            message: "option '--limit' can be given only once", command: "vitalgate query"),
        Refused(
            line: ["query"], reason: .missingArgument("TYPE"), message: "missing argument: TYPE", command: "vitalgate query"),
        Refused(
            line: ["unit", "convert", "1", "Cel"], reason: .missingArgument("TO"), message: "missing argument: TO",
            command: "vitalgate unit convert"),
        Refused(
            line: ["store", "check", "now"], reason: .excessArgument("now"), message: "unexpected argument 'now'",
            command: "vitalgate store check"),
        Refused(
            line: ["query", "heartrate"],
            reason: .invalidValue(name: "TYPE", value: "heartrate", expected: "all, bodyMass, heartRate"),
            message: "invalid value 'heartrate' for TYPE: expected all, bodyMass, heartRate", command: "vitalgate query"),
        Refused(
            line: ["query", "all", "--format", "xml"],
            reason: .invalidValue(name: "--format", value: "xml", expected: "csv, ndjson, table"),
            message: "invalid value 'xml' for --format: expected csv, ndjson, table", command: "vitalgate query"),
    ]

    @Test(arguments: refused)
    func refuses(_ expected: Refused) {
        let error = UsageError(expected.reason, command: expected.command)
        #expect(throws: error) { try Sample.program.parse(expected.line) }
        #expect(error.message == expected.message)
        #expect(error.exitCode == .usage)
        #expect(error.description == "\(expected.command): \(expected.message)\nTry '\(expected.command) --help'.")
    }

    @Test func requiredOptionIsNeeded() throws {
        let every = Option(names: ["--every"], value: "SPAN", help: "The length of a bucket.", required: true)
        let program = CommandSpecification(name: "stats", summary: "Count.", options: [every])
        #expect(throws: UsageError(.missingOption("--every"), command: "stats")) { try program.parse([]) }
        #expect(try program.parse(["--every", "1d"]).string("--every") == "1d")
        #expect(program.help().contains("Usage: stats --every SPAN"))
    }

    @Test func declarationsOfTheSampleAreSound() {
        #expect(Sample.program.declarationProblems == [])
    }

    @Test func declarationProblemsAreFound() {
        let twice = Option(names: ["--a", "b"], help: "")
        let many = Argument(name: "X", help: "x", arity: .any)
        let program = CommandSpecification(name: "p", summary: "", arguments: [many, many], options: [twice, twice])
        #expect(
            program.declarationProblems == [
                "p: no summary", "p: two arguments repeat", "p: no help for --a", "p: 'b' is not an option name",
                "p: no help for --a", "p: 'b' is not an option name", "p: --a is declared twice", "p: b is declared twice",
                "p: X is declared twice",
            ])
    }
}
