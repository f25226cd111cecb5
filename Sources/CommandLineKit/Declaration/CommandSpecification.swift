/// The declaration of a command. Parsing, help, completion and the manual page are derived from it.
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
/// A command with subcommands is a group and cannot be run itself. Its options apply to all commands below it, and may be written before
/// or after their names. So the options of the root are the program's global options. `--help`, `-h`, `--version` and the command `help`
/// are built in.
package struct CommandSpecification: Sendable, Equatable {
    /// The word on the command line. For the root, the name of the program.
    package var name: String
    /// Former names. They are accepted, and help and completion do not show them.
    package var formerNames: [String]
    /// The heading in the help of the command above, or `nil` for none.
    package var group: String?
    /// One sentence.
    package var summary: String
    /// Further explanation. An empty line separates paragraphs.
    package var discussion: String
    /// The positional arguments in order. At most one of them may repeat.
    package var arguments: [Argument]
    package var options: [Option]
    /// The subcommands. A command with subcommands cannot be run itself.
    package var subcommands: [CommandSpecification]
    package var examples: [Example]
    /// Whether only other programs of Vitalgate run it. It is accepted, and help, completion and manual page do not show it.
    package var isHidden: Bool

    /// The subcommands that people use.
    package var shownSubcommands: [CommandSpecification] { subcommands.filter { !$0.isHidden } }

    /// - Parameters:
    ///   - name: the word on the command line.
    ///   - formerNames: names that are accepted and not shown.
    ///   - summary: one sentence.
    ///   - isHidden: whether it is accepted and not shown.
    package init(
        name: String,
        formerNames: [String] = [],
        summary: String,
        discussion: String = "",
        arguments: [Argument] = [],
        options: [Option] = [],
        subcommands: [CommandSpecification] = [],
        examples: [Example] = [],
        isHidden: Bool = false
    ) {
        self.name = name
        self.formerNames = formerNames
        self.summary = summary
        self.discussion = discussion
        self.arguments = arguments
        self.options = options
        self.subcommands = subcommands
        self.examples = examples
        self.isHidden = isHidden
    }
}

package struct Example: Sendable, Equatable {
    /// The complete command line with the program's name.
    package var command: String
    /// One sentence that explains it.
    package var explanation: String

    /// - Parameters:
    ///   - command: the complete command line.
    ///   - explanation: one sentence that explains it.
    package init(_ command: String, _ explanation: String) {
        self.command = command
        self.explanation = explanation
    }
}
