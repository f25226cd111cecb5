extension CommandSpecification {
    /// Returns the help of a command below this program, wrapped to a width.
    ///
    /// If the path contains an unknown name, the result is the help of the commands before it.
    package func help(for path: [String] = [], width: Int = 80) -> String {
        var chain = CommandChain(root: self)
        for name in path where !chain.descend(to: name) { break }
        // Prevents columns of single words.
        return HelpText(chain: chain, width: max(40, width)).text
    }
}

private struct HelpText {
    let chain: CommandChain
    let width: Int

    /// Longer labels get a line of their own.
    private static let maximumLabelLength = 28

    var text: String {
        let command = chain.current
        var sections = [TextWrapping.lines(of: words(command.summary), width: width)]
        sections.append(synopsis)
        sections += TextWrapping.paragraphs(command.discussion).map { TextWrapping.lines(of: $0, width: width) }
        sections += commandGroups
        sections.append(list("Arguments:", command.arguments.map { ($0.name, $0.describedHelp) }))
        let own = chain.ownOptions.map { ($0.label, $0.describedHelp) }
        let global = chain.globalOptions.map { ($0.label, $0.describedHelp) }
        sections.append(list("Options:", chain.isRoot ? own + global : own))
        sections.append(list("Global options:", chain.isRoot ? [] : global))
        sections.append(examples)
        if !command.subcommands.isEmpty {
            let hint = "Run '\(chain.line) COMMAND --help' for help on a command."
            sections.append(TextWrapping.lines(of: words(hint), width: width))
        }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    /// The subcommands below the headings of their groups, in the order of declaration. All lists are aligned alike.
    private var commandGroups: [[String]] {
        var titles: [String] = []
        for command in chain.current.shownSubcommands {
            let title = command.group ?? "Commands"
            if titles.last != title { titles.append(title) }
        }
        let maximumWidth = chain.current.shownSubcommands.map { TerminalText.width($0.name) }.max() ?? 0
        return titles.map { title in
            let commands = chain.current.shownSubcommands.filter { ($0.group ?? "Commands") == title }
            return list(title + ":", commands.map { ($0.name, $0.summary) }, maximumWidth: maximumWidth)
        }
    }

    private var synopsis: [String] {
        let prefix = "Usage: \(chain.line) "
        // Aligned below the first part, unless that is too far to the right.
        let indent = TerminalText.width(prefix) <= width / 2 ? TerminalText.width(prefix) : 8
        return TextWrapping.lines(of: chain.synopsis, width: width, prefix: prefix, indent: indent)
    }

    private var examples: [String] {
        guard !chain.current.examples.isEmpty else { return [] }
        return ["Examples:"]
            + chain.current.examples.flatMap { example in
                // Commands are never wrapped, so that they can be copied.
                ["  " + example.command]
                    + TextWrapping.lines(of: words(example.explanation), width: width, prefix: "      ", indent: 6)
            }
    }

    /// - Parameter maximumWidth: the width of the longest label of lists that are aligned alike.
    private func list(_ title: String, _ entries: [(label: String, help: String)], maximumWidth aligned: Int = 0) -> [String] {
        guard !entries.isEmpty else { return [] }
        let widths = entries.map { TerminalText.width($0.label) }
        let maximumWidth = min(Self.maximumLabelLength, width / 3)
        let indent = 2 + max(min(aligned, maximumWidth), widths.filter { $0 <= maximumWidth }.max() ?? maximumWidth) + 2
        var lines = [title]
        for (entry, labelWidth) in zip(entries, widths) {
            var prefix = "  " + entry.label
            if 2 + labelWidth + 2 > indent {
                lines.append(prefix)
                prefix = String(repeating: " ", count: indent)
            } else {
                prefix += String(repeating: " ", count: indent - 2 - labelWidth)
            }
            lines += TextWrapping.lines(of: words(entry.help), width: width, prefix: prefix, indent: indent)
        }
        return lines
    }

    private func words(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}

extension CommandChain {
    /// The synopsis after the command's names, in parts that are not wrapped.
    var synopsis: [String] {
        if !current.subcommands.isEmpty { return ["COMMAND"] }
        let required = ownOptions.filter(\.required).map(\.synopsis)
        return current.arguments.map(\.synopsis) + required + ownOptions.filter { !$0.required }.map(\.synopsis)
    }
}

extension Option {
    /// The help, with the allowed values if the placeholder does not list them.
    var describedHelp: String {
        Self.describe(help, allowed: completion.allowed, placeholder: value ?? "")
    }

    static func describe(_ help: String, allowed: [String]?, placeholder: String) -> String {
        guard let allowed, placeholder != allowed.joined(separator: "|") else { return help }
        return "\(help) One of: \(allowed.joined(separator: ", "))."
    }
}

extension Argument {
    /// The help, with the allowed values if the name does not list them.
    var describedHelp: String {
        Option.describe(help, allowed: completion.allowed, placeholder: name)
    }
}
