/// A command and its ancestors, starting with the program.
struct CommandChain: Sendable {
    private(set) var commands: [CommandSpecification]

    init(root: CommandSpecification) {
        commands = [root]
    }

    var current: CommandSpecification { commands[commands.count - 1] }
    var isRoot: Bool { commands.count == 1 }

    /// The names of the commands without the program: `["store", "check"]`.
    var path: [String] { commands.dropFirst().map(\.name) }

    /// The command as typed: `vitalgate store check`.
    var line: String { commands.map(\.name).joined(separator: " ") }

    var ownOptions: [Option] { current.options + (isRoot ? [] : commands.dropFirst().dropLast().flatMap(\.options)) }

    /// The options of the program, and the built-in ones.
    var globalOptions: [Option] {
        // A program can declare its own help option.
        let declared = Set(commands.flatMap(\.options).flatMap(\.names))
        return (isRoot ? [] : commands[0].options)
            + [Option.help, Option.version].filter { declared.isDisjoint(with: $0.names) }
    }

    var options: [Option] { ownOptions + globalOptions }

    /// The option that is called by a name, now or formerly.
    func option(_ name: String) -> Option? { options.first { $0.isCalled(name) } }

    func isOption(_ word: String) -> Bool {
        word.hasPrefix("-") && word != "-" && (!Self.looksNegative(word) || option(word) != nil)
    }

    /// Whether a word is a dash and a digit, or a dash, a dot and a digit: `-40`, `-.5`, also `-1d`, which the command interprets.
    static func looksNegative(_ word: String) -> Bool {
        var rest = word.utf8.dropFirst()
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst() }
        guard word.hasPrefix("-"), let first = rest.first else { return false }
        return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
    }

    /// Descends to a subcommand. Returns `false` if it does not exist.
    mutating func descend(to name: String) -> Bool {
        guard let next = current.subcommands.first(where: { $0.name == name || $0.formerNames.contains(name) }) else {
            return false
        }
        commands.append(next)
        return true
    }

    func descending(to command: CommandSpecification) -> CommandChain {
        var chain = self
        chain.commands.append(command)
        return chain
    }

    /// This command and all commands below it, in the order of declaration.
    var family: [CommandChain] {
        [self] + current.subcommands.flatMap { descending(to: $0).family }
    }
}

extension CommandSpecification {
    /// Errors in the declaration, for a test of the program: duplicate names, names without dashes, ambiguous arguments, missing
    /// sentences.
    package var declarationProblems: [String] {
        CommandChain(root: self).family.flatMap { chain in
            Self.problems(of: chain).map { "\(chain.line): \($0)" }
        }
    }

    private static func problems(of chain: CommandChain) -> [String] {
        let command = chain.current
        var problems: [String] = []
        if command.summary.isEmpty { problems.append("no summary") }
        if !command.subcommands.isEmpty && !command.arguments.isEmpty {
            problems.append("a group takes commands, not arguments")
        }
        if command.arguments.filter(\.isRepeating).count > 1 { problems.append("two arguments repeat") }
        for argument in command.arguments where argument.help.isEmpty { problems.append("no help for \(argument.name)") }
        for option in command.options {
            if option.help.isEmpty { problems.append("no help for \(option.name)") }
            if option.names.isEmpty { problems.append("an option without a name") }
            for name in option.names where !(name.hasPrefix("-") && name.utf8.count > 1) || name.contains("=") {
                problems.append("'\(name)' is not an option name")
            }
        }
        var names: [String] = chain.options.flatMap { $0.names + $0.formerNames }
        names += command.arguments.map(\.name)
        for subcommand in command.subcommands { names += ([subcommand.name] + subcommand.formerNames).map { "/\($0)" } }
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted { problems.append("\(name) is declared twice") }
        return problems
    }
}
