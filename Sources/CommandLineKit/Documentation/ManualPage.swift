/// The manual page of a program and all its commands, in roff with the macros of `man(7)`.
///
/// ```swift
/// let page = ManualPage(
///     program: program, version: "1.0",
///     exitStatus: [.init("0", "All went well."), .init("64", "The command line makes no sense.")])
/// print(page.rendered(), terminator: "")
/// ```
public struct ManualPage: Sendable {
    /// A line of one of the lists at the end: a file and what is in it.
    public struct Entry: Sendable, Equatable {
        /// The file, the variable or the number.
        public var name: String
        /// What it means.
        public var text: String

        /// - Parameter text: what it means.
        public init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    /// A section of its own: text, a list, and lines that are shown as they are.
    public struct Section: Sendable, Equatable {
        /// In capitals.
        public var title: String
        /// An empty line separates paragraphs.
        public var text: String
        /// Below the text.
        public var entries: [Entry]
        /// Below the list, line by line.
        public var listing: String

        /// Makes a section.
        public init(title: String, text: String, entries: [Entry] = [], listing: String = "") {
            self.title = title
            self.text = text
            self.entries = entries
            self.listing = listing
        }
    }

    /// The whole program, with its commands.
    public var program: CommandSpecification
    /// Of the manual: 1 for programs.
    public var section: Int
    /// At the foot of the page.
    public var version: String
    /// At the foot of the page, in the form `2024-05-01`; without it the page is the same on every day it is made.
    public var date: String?
    /// In front of the exit statuses.
    public var sections: [Section]
    /// What each exit status means.
    public var exitStatus: [Entry]
    /// Where the program reads and writes.
    public var files: [Entry]
    /// The variables that it looks at.
    public var environment: [Entry]
    /// Other pages, such as `sqlite3(1)`.
    public var seeAlso: [String]

    /// - Parameter section: of the manual; 1 for programs.
    public init(
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

    /// The source of the page.
    public func rendered() -> String {
        var roff = Roff()
        let root = CommandChain(root: program)
        let release = version.isEmpty ? program.name : "\(program.name) \(version)"
        roff.macro("TH", [program.name.uppercased(), String(section), date ?? "", release])
        // Flush left and without hyphens: a name that is broken can't be copied.
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
        let commands = root.family.dropFirst()
        guard !commands.isEmpty else { return }
        roff.heading("COMMANDS")
        for chain in commands {
            let command = chain.current
            // A group is no more than its commands, unless it has something to say.
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
        // The program shows its options once, the commands only their own.
        let parts = chain.isRoot ? options.map(\.synopsis) + chain.current.arguments.map(\.synopsis) : chain.synopsis
        let command = chain.isRoot && !chain.current.subcommands.isEmpty ? ["COMMAND"] : []
        roff.synopsis(chain.line, parts + command)
    }

    private func list(_ title: String, _ entries: [Entry], to roff: inout Roff) {
        guard !entries.isEmpty else { return }
        roff.heading(title)
        for entry in entries { roff.item(entry.name, entry.text) }
    }

    /// The NAME section is read by `mandb(8)`: a phrase without a capital or a full stop.
    private static func phrase(_ sentence: String) -> String {
        var phrase = sentence.prefix(1).lowercased() + sentence.dropFirst()
        if phrase.hasSuffix(".") { phrase.removeLast() }
        return phrase
    }
}
