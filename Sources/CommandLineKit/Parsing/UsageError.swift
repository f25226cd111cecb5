/// An error in the command line. Its exit code is 64.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// No command was given.
        case missingCommand
        /// The command does not exist. The suggestion may be what the user meant.
        case unknownCommand(String, suggestion: String?)
        /// The command has no such option. The suggestion may be what the user meant.
        case unknownOption(String, suggestion: String?)
        /// A required option is missing.
        case missingOption(String)
        /// The option may be given only once.
        case repeatedOption(String)
        /// The option needs a value. The placeholder is the one in its help.
        case missingValue(option: String, placeholder: String)
        /// A flag was given a value.
        case unexpectedValue(option: String, value: String)
        /// A required argument is missing.
        case missingArgument(String)
        case excessArgument(String)
        /// The value is invalid. `name` is the option or the argument, and `expected` completes "expected …".
        case invalidValue(name: String, value: String, expected: String)
    }

    package let reason: Reason
    /// The command as typed: `vitalgate store check`.
    package let command: String

    /// - Parameter command: as typed, such as `vitalgate store check`.
    package init(_ reason: Reason, command: String) {
        self.reason = reason
        self.command = command
    }

    /// Always 64.
    package var exitCode: ExitCode { .usage }

    /// The error in one line. It is sanitized for terminals, and words of the user are cut.
    package var message: String {
        TerminalText.sanitized(rawMessage)
    }

    /// The command, the error, and how to get help: two lines for stderr.
    package var description: String {
        "\(command): \(message)\nTry '\(command) --help'."
    }

    private var rawMessage: String {
        switch reason.cut {
        case .missingCommand: "no command given"
        case .unknownCommand(let name, let suggestion): "unknown command '\(name)'" + Self.question(suggestion)
        case .unknownOption(let name, let suggestion): "unknown option '\(name)'" + Self.question(suggestion)
        case .missingOption(let name): "missing required option '\(name)'"
        case .repeatedOption(let name): "option '\(name)' can be given only once"
        case .missingValue(let option, let placeholder): "option '\(option)' needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option, let value): "option '\(option)' takes no value, but got '\(value)'"
        case .missingArgument(let name): "missing argument: \(name)"
        case .excessArgument(let value): "unexpected argument '\(value)'"
        case .invalidValue(let name, let value, let expected): "invalid value '\(value)' for \(name): expected \(expected)"
        }
    }

    private static func question(_ suggestion: String?) -> String {
        suggestion.map { "; did you mean '\($0)'?" } ?? ""
    }
}

extension UsageError.Reason {
    /// The maximum width of a word of the user in a message.
    private static let maximum = 200

    /// The reason without the rest of long words.
    fileprivate var cut: Self {
        func cut(_ word: String) -> String { TerminalText.truncated(TerminalText.sanitized(word), to: Self.maximum) }
        return switch self {
        case .unknownCommand(let name, let suggestion): .unknownCommand(cut(name), suggestion: suggestion)
        case .unknownOption(let name, let suggestion): .unknownOption(cut(name), suggestion: suggestion)
        case .unexpectedValue(let option, let value): .unexpectedValue(option: option, value: cut(value))
        case .excessArgument(let value): .excessArgument(cut(value))
        case .invalidValue(let name, let value, let expected): .invalidValue(name: name, value: cut(value), expected: expected)
        case .missingCommand, .missingOption, .repeatedOption, .missingValue, .missingArgument: self
        }
    }
}
