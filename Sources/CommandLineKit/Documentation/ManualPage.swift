/// The manual page of a program and all its commands, in roff with the macros of `man(7)`.
///
/// ```swift
/// let page = ManualPage(
///     program: program, version: "1.0",
///     exitStatus: [.init("0", "All went well."), .init("64", "The command line makes no sense.")])
/// print(page.rendered(), terminator: "")
/// ```
package struct ManualPage: Sendable {
    /// An entry of a list, such as a file and its purpose.
    package struct Entry: Sendable, Equatable {
        /// The file, the variable or the number.
        package var name: String
        package var text: String

        /// - Parameter text: the explanation.
        package init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    /// An additional section with text, a list, and literal lines.
    package struct Section: Sendable, Equatable {
        /// The title in capitals.
        package var title: String
        /// The text. An empty line separates paragraphs.
        package var text: String
        /// The list below the text.
        package var entries: [Entry]
        /// Literal lines below the list.
        package var listing: String

        package init(title: String, text: String, entries: [Entry] = [], listing: String = "") {
            self.title = title
            self.text = text
            self.entries = entries
            self.listing = listing
        }
    }

    package var program: CommandSpecification
    /// The section of the manual, 1 for programs.
    package var section: Int
    package var version: String
    /// The date at the foot of the page, such as `2024-05-01`. Without it the page does not depend on the day of the build.
    package var date: String?
    /// Additional sections before the exit statuses.
    package var sections: [Section]
    package var exitStatus: [Entry]
    package var files: [Entry]
    /// The environment variables that the program uses.
    package var environment: [Entry]
    /// Related pages, such as `sqlite3(1)`.
    package var seeAlso: [String]

    /// - Parameter section: the section of the manual, 1 for programs.
    package init(
        program: CommandSpecification,
        section: Int = 1,
        version: String = "",
        date: String? = nil,
        sections: [Section] = [],
        exitStatus: [Entry] = [],
        files: [Entry] = [],
        environment: [Entry] = [],
        seeAlso: [String] = []
    ) {
        self.program = program
        self.section = section
        self.version = version
        self.date = date
        self.sections = sections
        self.exitStatus = exitStatus
        self.files = files
        self.environment = environment
        self.seeAlso = seeAlso
    }

    package func rendered() -> String {
        var roff = Roff()
        let root = CommandChain(root: program)
        let release = version.isEmpty ? program.name : "\(program.name) \(version)"
        roff.macro("TH", [program.name.uppercased(), String(section), date ?? "", release])
        // Left-aligned and without hyphenation, so that names can be copied.
        roff.request("nh")
        roff.request("ad l")
        roff.heading("NAME")
        roff.text("\(program.name) - \(Self.phrase(program.summary))")
        roff.heading("SYNOPSIS")
        synopsis(of: root, options: root.options, to: &roff)
        if !program.discussion.isEmpty {
            roff.heading("DESCRIPTION")
            roff.paragraphs(program.discussion)
        }
        roff.heading("OPTIONS")
        for option in root.options { roff.item(option.label, option.describedHelp) }
        commands(below: root, to: &roff)
        let examples = root.family.flatMap(\.current.examples)
        if !examples.isEmpty {
            roff.heading("EXAMPLES")
            for example in examples { roff.example(example) }
        }
        for section in sections {
            roff.heading(section.title)
            roff.paragraphs(section.text)
            for entry in section.entries { roff.item(entry.name, entry.text) }
            if !section.listing.isEmpty { roff.listing(section.listing) }
        }
        list("EXIT STATUS", exitStatus, to: &roff)
        list("FILES", files, to: &roff)
        list("ENVIRONMENT", environment, to: &roff)
        if !seeAlso.isEmpty {
            roff.heading("SEE ALSO")
            roff.text(seeAlso.joined(separator: ", "))
        }
        return roff.source
    }

    private func commands(below root: CommandChain, to roff: inout Roff) {
        let commands = root.family.dropFirst().filter { !$0.current.isHidden }
        guard !commands.isEmpty else { return }
        roff.heading("COMMANDS")
        for chain in commands {
            let command = chain.current
            // A group without options and discussion is described by its commands.
            if !command.subcommands.isEmpty, command.options.isEmpty, command.discussion.isEmpty { continue }
            roff.subheading(chain.line)
            synopsis(of: chain, options: command.options, to: &roff)
            roff.paragraphs(command.summary)
            roff.paragraphs(command.discussion)
            for argument in command.arguments { roff.item(argument.name, argument.describedHelp) }
            for option in command.options { roff.item(option.label, option.describedHelp) }
        }
    }

    private func synopsis(of chain: CommandChain, options: [Option], to roff: inout Roff) {
        // The program's options appear once. Commands show only their own.
        let parts = chain.isRoot ? options.map(\.synopsis) + chain.current.arguments.map(\.synopsis) : chain.synopsis
        let command = chain.isRoot && !chain.current.subcommands.isEmpty ? ["COMMAND"] : []
        roff.synopsis(chain.line, parts + command)
    }

    private func list(_ title: String, _ entries: [Entry], to roff: inout Roff) {
        guard !entries.isEmpty else { return }
        roff.heading(title)
        for entry in entries { roff.item(entry.name, entry.text) }
    }

    /// Returns a sentence as a phrase without capital and full stop, as `mandb(8)` expects in the NAME section.
    private static func phrase(_ sentence: String) -> String {
        var phrase = sentence.prefix(1).lowercased() + sentence.dropFirst()
        if phrase.hasSuffix(".") { phrase.removeLast() }
        return phrase
    }
}
