/// The text that may take the place of the last word of a command line that is being typed.
package enum CompletionAnswer: Sendable, Equatable {
    /// A candidate, with one sentence about it, which may be empty.
    package struct Candidate: Sendable, Equatable {
        package var text: String
        package var help: String

        package init(_ text: String, help: String = "") { (self.text, self.help) = (text, help) }
    }

    case words([Candidate])
    case files
    case folders
    /// A line that the program prints with these arguments, after a prefix.
    case output(arguments: [String], prefix: String)

    /// The first line of the answer to a shell. Candidates follow, one on each line, each with its sentence after a tab.
    package var heading: String {
        switch self {
        case .words, .output: "words"
        case .files: "files"
        case .folders: "folders"
        }
    }
}

extension CommandSpecification {
    /// What may take the place of the last word of a command line.
    ///
    /// - Parameter words: The words after the program's name, up to the cursor. The last one may be incomplete or empty.
    package func completion(of words: [String]) -> CompletionAnswer {
        var line = TypedLine(root: self)
        var rest = words.dropLast()[...]
        while let word = rest.popFirst() { line.take(word, &rest) }
        return line.answer(to: words.last ?? "")
    }
}

/// The words before the cursor.
private struct TypedLine {
    private var chain: CommandChain
    private var hasEndedOptions = false
    private var isHelp = false
    /// The number of arguments.
    private var arguments = 0
    private var pending: Option?
    /// The global options with their values, for a command that prints candidates.
    private var globals: [String] = []

    init(root: CommandSpecification) { chain = CommandChain(root: root) }

    mutating func take(_ word: String, _ rest: inout ArraySlice<String>) {
        if !hasEndedOptions, word == "--" {
            hasEndedOptions = true
        } else if !hasEndedOptions, chain.isOption(word) {
            takeOption(word, &rest)
        } else if chain.isRoot, word == "help", !chain.current.subcommands.isEmpty {
            isHelp = true
        } else if !chain.descend(to: word) {
            arguments += 1
        }
    }

    private mutating func takeOption(_ word: String, _ rest: inout ArraySlice<String>) {
        guard let option = option(word), option.value != nil else { return }
        var given = [word]
        if !word.contains("=") {
            guard let value = rest.popFirst() else {
                pending = option
                return
            }
            given.append(value)
        }
        // A word may contain quotes and variables, which only the shell understands.
        if chain.commands[0].options.contains(option), given.allSatisfy(Self.isPlain) { globals += given }
    }

    func answer(to typed: String) -> CompletionAnswer {
        if let pending { return answer(pending.completion) }
        if !hasEndedOptions, typed.hasPrefix("--"), let equals = typed.firstIndex(of: "=") {
            let prefix = String(typed[...equals])
            return option(typed).map { answer($0.completion, prefix: prefix) } ?? .words([])
        }
        if !hasEndedOptions, chain.isOption(typed) || typed == "-" {
            // Only one name of each option. The long one is more descriptive.
            return .words(
                chain.options.map { option in
                    .init(option.names.first { $0.hasPrefix("--") } ?? option.name, help: option.help)
                })
        }
        let commands = chain.current.shownSubcommands
        if !commands.isEmpty {
            let help = chain.isRoot ? [CompletionAnswer.Candidate("help", help: Option.help.help)] : []
            return .words(commands.map { .init($0.name, help: $0.summary) } + help)
        }
        let declared = chain.current.arguments
        guard !isHelp, let argument = arguments < declared.count ? declared[arguments] : declared.last(where: \.isRepeating)
        else { return .words([]) }
        return answer(argument.completion)
    }

    private func answer(_ completion: Completion, prefix: String = "") -> CompletionAnswer {
        switch completion {
        case .none: .words([])
        case .file: .files
        case .directory: .folders
        case .values(let values), .suggestions(let values): .words(values.map { .init(prefix + $0) })
        case .command(let line):
            .output(arguments: line.split(separator: " ").dropFirst().map(String.init) + globals, prefix: prefix)
        }
    }

    /// The option of a word such as `--format` or `--format=csv`.
    private func option(_ word: String) -> Option? { chain.option(String(word.prefix { $0 != "=" })) }

    private static func isPlain(_ word: String) -> Bool {
        word.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                || "_./:,+@%=-".unicodeScalars.contains($0)
        }
    }
}
