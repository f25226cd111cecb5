/// A command line that makes no sense: why, where, and how to go on. Its exit code is 64.
public struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with the line.
    public enum Reason: Sendable, Equatable {
        /// Nothing says what to do.
        case missingCommand
        /// There is no such command; perhaps the one suggested was meant.
        case unknownCommand(String, suggestion: String?)
        /// The command has no such option; perhaps the one suggested was meant.
        case unknownOption(String, suggestion: String?)
        /// This option has to be given.
        case missingOption(String)
        /// It can be given once only.
        case repeatedOption(String)
        /// The option wants a value; the placeholder is what its help shows.
        case missingValue(option: String, placeholder: String)
        /// A flag was given a value.
        case unexpectedValue(option: String, value: String)
        /// This argument has to be given.
        case missingArgument(String)
        /// There is no place for this one.
        case excessArgument(String)
        /// `name` is the option or the argument; `expected` completes "expected …".
        case invalidValue(name: String, value: String, expected: String)
    }

    /// What is wrong.
    public let reason: Reason
    /// As one types it: `vitalgate store check`.
    public let command: String

    /// - Parameter command: as one types it, such as `vitalgate store check`.
    public init(_ reason: Reason, command: String) {
        self.reason = reason
        self.command = command
    }

    /// Always 64.
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
