/// A command line that makes no sense: why, where, and how to go on. Its exit code is 64.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Reason: Sendable, Equatable {
        case missingCommand
        case unknownCommand(String, suggestion: String?)
        case unknownOption(String, suggestion: String?)
        case missingOption(String)
        case repeatedOption(String)
        case missingValue(option: String, placeholder: String)
        case unexpectedValue(option: String, value: String)
        case missingArgument(String)
        case excessArgument(String)
        /// `name` is the option or the argument; `expected` completes "expected …".
        case invalidValue(name: String, value: String, expected: String)
    }

    public let reason: Reason
    /// As one types it: `vitalgate store check`.
    public let command: String

    public init(_ reason: Reason, command: String) {
        self.reason = reason
        self.command = command
    }

    public var exitCode: ExitCode { .usage }

    /// What is wrong, in one line that is safe for a terminal whatever was typed.
    public var message: String {
        TerminalText.sanitized(rawMessage)
    }

    /// The command, what is wrong, and where the help is: two lines for stderr.
    public var description: String {
        "\(command): \(message)\nTry '\(command) --help'."
    }

    private var rawMessage: String {
        switch reason {
        case .missingCommand: "a command is missing"
        case .unknownCommand(let name, let suggestion): "unknown command '\(name)'" + Self.question(suggestion)
        case .unknownOption(let name, let suggestion): "unknown option '\(name)'" + Self.question(suggestion)
        case .missingOption(let name): "option '\(name)' is needed"
        case .repeatedOption(let name): "option '\(name)' is given more than once"
        case .missingValue(let option, let placeholder): "option '\(option)' needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option, let value): "option '\(option)' takes no value, got '\(value)'"
        case .missingArgument(let name): "argument \(name) is missing"
        case .excessArgument(let value): "unexpected argument '\(value)'"
        case .invalidValue(let name, let value, let expected): "'\(value)' is no value for \(name): expected \(expected)"
        }
    }

    private static func question(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean '\($0)'?" } ?? ""
    }
}
