/// What a command is called, takes and does: the one source for parsing, help, completion and the manual page.
///
/// ```swift
/// let program = CommandSpecification(
///     name: "vitalgate", summary: "Collect health readings.",
///     options: [Option(names: ["--store"], value: "PATH", help: "The store.", completion: .file)],
///     subcommands: [
///         CommandSpecification(
///             name: "import", summary: "Read files.",
///             arguments: [Argument(name: "FILE", help: "A file.", arity: .oneOrMore, completion: .file)])
///     ])
/// let invocation = try program.parse(["import", "a.csv", "--store", "b.sqlite"])
/// ```
///
/// A command with subcommands is a group: it does nothing by itself. Its options hold for all commands below it, and may be
/// written before or after their names; those of the root are thereby the program's global options. `--help`, `-h`,
/// `--version` and the command `help` are there without being declared.
public struct CommandSpecification: Sendable, Equatable {
    /// The word on the command line; at the root, the program.
    public var name: String
    /// One sentence.
    public var summary: String
    /// What else one has to know; an empty line separates paragraphs.
    public var discussion: String
    /// What follows the name, in order. At most one of them may repeat.
    public var arguments: [Argument]
    /// In the order of the help.
    public var options: [Option]
    /// The commands below it; a command that has some is not run itself.
    public var subcommands: [CommandSpecification]
    /// Shown at the end of its help.
    public var examples: [Example]

    /// - Parameters:
    ///   - name: what is typed.
    ///   - summary: one sentence.
    public init(
        name: String,
        summary: String,
        discussion: String = "",
        arguments: [Argument] = [],
        options: [Option] = [],
        subcommands: [CommandSpecification] = [],
        examples: [Example] = []
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.arguments = arguments
        self.options = options
        self.subcommands = subcommands
        self.examples = examples
    }
}

/// A whole command line, and what it is good for.
public struct Example: Sendable, Equatable {
    /// As it is typed, with the program's name.
    public var command: String
    /// What it does, in one sentence.
    public var explanation: String

    /// - Parameters:
    ///   - command: as it is typed.
    ///   - explanation: what it does.
    public init(_ command: String, _ explanation: String) {
        self.command = command
        self.explanation = explanation
    }
}
