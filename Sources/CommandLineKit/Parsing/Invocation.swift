/// A command line that was understood: which command, with which options and arguments.
public struct Invocation: Sendable {
    /// What the user asks for.
    public enum Action: Sendable, Equatable {
        /// To run the command.
        case run
        /// The help of the command at ``Invocation/path``; nothing else on the line was checked.
        case help
        /// To know the version.
        case version
    }

    /// What the user asks for.
    public let action: Action
    /// The command below the program: `["store", "check"]`.
    public let path: [String]
    /// The values of each option given, by its first name; a flag has an empty one for every time it was given.
    public let options: [String: [String]]
    /// What was given without an option's name, in order.
    public let arguments: [String]

    private let line: String
    private let declaredOptions: [Option]
    private let argumentsByName: [String: [String]]

    init(chain: CommandChain, action: Action, options: [String: [String]], arguments: [String]) {
        self.action = action
        self.path = chain.path
        self.options = options
        self.arguments = arguments
        line = chain.line
        declaredOptions = chain.options
        let declared = chain.current.arguments
        argumentsByName = Dictionary(
            zip(declared.map(\.name), ArgumentBinding.bind(arguments, to: declared)), uniquingKeysWith: { first, _ in first })
    }

    /// Whether a flag was given.
    public func flag(_ name: String) -> Bool {
        !strings(name).isEmpty
    }

    /// The value of an option; `nil` if it was not given.
    public func string(_ name: String) -> String? {
        strings(name).last
    }

    /// All values of an option, in order. It may be asked for by any of its names.
    public func strings(_ name: String) -> [String] {
        guard let option = declaredOptions.first(where: { $0.names.contains(name) }) else {
            assertionFailure("\(line) declares no option \(name)")
            return []
        }
        return options[option.name] ?? []
    }

    /// The value of an option as a whole number; `nil` if it was not given.
    public func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = string(name) else { return nil }
        return try integer(text, name: name, in: range)
    }

    /// The value of an argument by its declared name; `nil` if it was left out.
    public func argument(_ name: String) -> String? {
        arguments(name).first
    }

    /// All values of an argument that repeats.
    public func arguments(_ name: String) -> [String] {
        assert(argumentsByName[name] != nil, "\(line) declares no argument \(name)")
        return argumentsByName[name] ?? []
    }

    /// The value of an argument as a whole number; `nil` if it was left out.
    public func integer(argument name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = argument(name) else { return nil }
        return try integer(text, name: name, in: range)
    }

    /// The error for a value that only the command can judge; `expected` completes "expected …".
    public func invalid(_ name: String, value: String, expected: String) -> UsageError {
        UsageError(.invalidValue(name: name, value: value, expected: expected), command: line)
    }

    private func integer(_ text: String, name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            let expected =
                range.upperBound == .max
                ? "a whole number from \(range.lowerBound)" : "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw invalid(name, value: text, expected: expected)
        }
        return number
    }
}
