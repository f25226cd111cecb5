/// A parsed command line: the command with its options and arguments.
package struct Invocation: Sendable {
    package enum Action: Sendable, Equatable {
        case run
        /// Show the help of the command at ``Invocation/path``. The rest of the line was not checked.
        case help
        case version
    }

    package let action: Action
    /// The names of the command below the program: `["store", "check"]`.
    package let path: [String]
    /// The values of each given option, by its first name. A flag has an empty string for each occurrence.
    package let options: [String: [String]]
    package let arguments: [String]

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

    package func flag(_ name: String) -> Bool {
        !strings(name).isEmpty
    }

    /// Returns the last value of an option, or `nil` if it was not given.
    package func string(_ name: String) -> String? {
        strings(name).last
    }

    /// Returns all values of an option in order. Any of its names may be used.
    package func strings(_ name: String) -> [String] {
        guard let option = declaredOptions.first(where: { $0.isCalled(name) }) else {
            assertionFailure("\(line) declares no option \(name)")
            return []
        }
        return options[option.name] ?? []
    }

    /// Returns the value of an option as a whole number, or `nil` if it was not given.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = string(name) else { return nil }
        return try integer(text, name: name, in: range)
    }

    /// Returns the first value of an argument by its declared name, or `nil` if it was not given.
    package func argument(_ name: String) -> String? {
        arguments(name).first
    }

    package func arguments(_ name: String) -> [String] {
        assert(argumentsByName[name] != nil, "\(line) declares no argument \(name)")
        return argumentsByName[name] ?? []
    }

    /// Returns the value of an argument as a whole number, or `nil` if it was not given.
    package func integer(argument name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = argument(name) else { return nil }
        return try integer(text, name: name, in: range)
    }

    /// Returns the error for an invalid value that only the command can detect. `expected` completes "expected …".
    package func invalid(_ name: String, value: String, expected: String) -> UsageError {
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
