extension CommandSpecification {
    /// Parses a command line without the program's name.
    ///
    /// A value follows its option as `--opt value` or `--opt=value`. `--` ends the options. `-`, and words that look like negative
    /// numbers, are values. `--help` works even if the rest of the line is invalid.
    package func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var parser = CommandParser(root: self, tokens: arguments)
        return try parser.parse()
    }
}

/// A single pass from left to right. Errors are reported at the end, because `--help` may follow them.
private struct CommandParser {
    private var chain: CommandChain
    private var tokens: ArraySlice<String>
    private var action = Invocation.Action.run
    private var options: [String: [String]] = [:]
    private var arguments: [String] = []
    private var firstError: UsageError?

    init(root: CommandSpecification, tokens: [String]) {
        chain = CommandChain(root: root)
        self.tokens = tokens[...]
    }

    mutating func parse() throws(UsageError) -> Invocation {
        var optionsEnded = false
        while let token = tokens.popFirst() {
            if optionsEnded {
                try takePositional(token)
            } else if token == "--" {
                optionsEnded = true
            } else if chain.isOption(token) {
                takeOption(token)
            } else {
                try takePositional(token)
            }
        }
        if action == .run { try complete() }
        return Invocation(chain: chain, action: action, options: options, arguments: arguments)
    }

    private mutating func complete() throws(UsageError) {
        if let firstError { throw firstError }
        guard chain.current.subcommands.isEmpty else { throw UsageError(.missingCommand, command: chain.line) }
        for option in chain.options where option.required && options[option.name] == nil {
            throw UsageError(.missingOption(option.name), command: chain.line)
        }
        let declared = chain.current.arguments
        let required = declared.filter(\.isRequired)
        if arguments.count < required.count {
            throw UsageError(.missingArgument(required[arguments.count].name), command: chain.line)
        }
        if !declared.contains(where: \.isRepeating), arguments.count > declared.count {
            throw UsageError(.excessArgument(arguments[declared.count]), command: chain.line)
        }
        for (argument, values) in zip(declared, ArgumentBinding.bind(arguments, to: declared)) {
            for value in values { check(value, against: argument.completion, name: argument.name) }
        }
        if let firstError { throw firstError }
    }

    // MARK: Positional

    private mutating func takePositional(_ token: String) throws(UsageError) {
        guard !chain.current.subcommands.isEmpty || action == .help else {
            arguments.append(token)
            return
        }
        if chain.descend(to: token) { return }
        if chain.isRoot, token == "help" {
            action = .help
        } else if chain.current.subcommands.isEmpty {
            // In `query heartRate --help heartRate`, arguments do not matter for the help.
            return
        } else {
            let names = chain.current.shownSubcommands.map(\.name)
            let suggestion = Suggestion.nearest(to: token, among: names)
            throw firstError ?? UsageError(.unknownCommand(token, suggestion: suggestion), command: chain.line)
        }
    }

    // MARK: Options

    private mutating func takeOption(_ token: String) {
        var name = token
        var attached: String?
        // By bytes, because with a combining accent the sign would be another character.
        if let equals = token.utf8.firstIndex(of: UInt8(ascii: "=")) {
            name = String(token[..<equals])
            attached = String(token[token.utf8.index(after: equals)...])
        } else if !token.hasPrefix("--"), chain.option(token) == nil, let short = chain.option(String(token.prefix(2))),
            short.value != nil
        {
            // `-n5`, as in POSIX.
            name = String(token.prefix(2))
            attached = String(token.dropFirst(2))
        }
        guard let option = chain.option(name) else {
            let suggestion = Suggestion.nearest(to: name, among: chain.options.flatMap(\.names))
            return fail(.unknownOption(name, suggestion: suggestion))
        }
        if let placeholder = option.value {
            guard let value = attached ?? nextValue(of: option) else {
                return fail(.missingValue(option: name, placeholder: placeholder))
            }
            check(value, against: option.completion, name: name)
            store(value, of: option)
        } else if let attached {
            fail(.unexpectedValue(option: name, value: attached))
        } else if option.names.contains("--help") {
            action = .help
        } else if option.names.contains("--version") {
            if action == .run { action = .version }
        } else {
            store("", of: option)
        }
    }

    /// Returns the next word, unless it is an option: in `--from --to T` a value is missing. A word that the option declares as a value
    /// is one, as in `--sort -start`.
    private mutating func nextValue(of option: Option) -> String? {
        guard let next = tokens.first,
            next == "-" || !next.hasPrefix("-") || CommandChain.looksNegative(next) || takes(next, as: option)
        else { return nil }
        return tokens.popFirst()
    }

    /// Whether a word with a dash is a value. It is if it is declared, or if other suggestions have a dash and it is not an option.
    private func takes(_ token: String, as option: Option) -> Bool {
        switch option.completion {
        case .values(let values): values.contains(token)
        case .suggestions(let values):
            values.contains { $0.hasPrefix("-") } && !token.hasPrefix("--")
                && !chain.options.contains { $0.isCalled(token) }
        default: false
        }
    }

    private mutating func store(_ value: String, of option: Option) {
        if !option.repeating, options[option.name] != nil {
            return fail(.repeatedOption(option.name))
        }
        options[option.name, default: []].append(value)
    }

    private mutating func check(_ value: String, against completion: Completion, name: String) {
        guard let allowed = completion.allowed, !allowed.contains(value) else { return }
        fail(.invalidValue(name: name, value: value, expected: allowed.joined(separator: ", ")))
    }

    private mutating func fail(_ reason: UsageError.Reason) {
        firstError = firstError ?? UsageError(reason, command: chain.line)
    }
}
