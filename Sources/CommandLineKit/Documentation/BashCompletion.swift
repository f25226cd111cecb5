extension CommandSpecification {
    /// Returns a completion script for Bash 4.4 and later. It works with and without bash-completion.
    ///
    /// Install it under the program's name in `/usr/share/bash-completion/completions/`, or load it with `source`. It defines `_program`
    /// and helpers with that prefix. The output of commands is used as plain lines and never evaluated.
    ///
    /// - Parameter program: the name of the program on the command line, by default the declared one.
    public func bashCompletion(program: String? = nil) -> String {
        var root = self
        root.name = program ?? name
        return BashCompletion(root: CommandChain(root: root)).script
    }
}

/// Generates the tables as `case` statements. The code that uses them is the same in every program.
private struct BashCompletion {
    let root: CommandChain

    private var program: String { root.current.name }

    /// The name in identifiers of functions, which allow no dashes.
    private var function: String {
        "_" + String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }

    var script: String {
        let tables = [commands, options, values, arguments].joined(separator: "\n")
        let engine = BashCompletionEngine.script
            .replacing("@FUNCTION@", with: function)
            .replacing("@PROGRAM@", with: quoted(program))
        return "# Bash completion for \(program).\n\n" + tables + "\n" + engine
    }

    private func path(_ chain: CommandChain) -> String {
        chain.path.map { "/" + $0 }.joined()
    }

    /// The subcommands of a path.
    private var commands: String {
        table(
            "commands", on: "$1",
            root.family.compactMap { chain in
                guard !chain.current.subcommands.isEmpty else { return nil }
                let names = chain.current.subcommands.map(\.name) + (chain.isRoot ? ["help"] : [])
                return (quoted(path(chain)), "candidates=(\(list(names)))")
            })
    }

    /// The names of the options of a path.
    private var options: String {
        table(
            "options", on: "$1",
            root.family.map { chain in
                // Only one name of each option. The long one is more descriptive.
                let names = chain.options.map { $0.names.first { $0.hasPrefix("--") } ?? $0.name }
                return (quoted(path(chain)), "candidates=(\(list(names)))")
            })
    }

    /// The kind of value of each option of a path. The program's options apply to all paths.
    private var values: String {
        var rows = root.family.flatMap { chain in
            (chain.isRoot ? [] : chain.ownOptions).map { option in
                (option.names.map { quoted("\(path(chain)) \($0)") }.joined(separator: " | "), action(option))
            }
        }
        rows += root.current.options.map { option in
            let patterns = option.names.map { "*" + quoted(" \($0)") }.joined(separator: " | ")
            return (patterns, option.value == nil ? "kind=" : action(option) + "; global=1")
        }
        return table("option", on: "$1 $2", rows)
    }

    private func action(_ option: Option) -> String {
        option.value == nil ? "kind=" : action(option.completion)
    }

    /// The completion of each position in a path, counted from zero.
    private var arguments: String {
        table(
            "argument", on: "$1 $2",
            root.family.flatMap { chain in
                chain.current.arguments.enumerated().map { index, argument in
                    let place = argument.isRepeating ? quoted(path(chain) + " ") + "*" : quoted("\(path(chain)) \(index)")
                    return (place, action(argument.completion))
                }
            })
    }

    private func action(_ completion: Completion) -> String {
        switch completion {
        case .none: return "kind=none"
        case .file: return "kind=file"
        case .directory: return "kind=directory"
        case .values(let values), .suggestions(let values): return "kind=words; candidates=(\(list(values)))"
        case .command(let line):
            var words = line.split(separator: " ").map(String.init)
            guard words.first == root.current.name else { return "kind=command; candidates=(\(list(words)))" }
            words.removeFirst()
            return "kind=program; candidates=(\(list(words)))"
        }
    }

    private func table(_ name: String, on subject: String, _ rows: [(pattern: String, action: String)]) -> String {
        var lines = ["\(function)_\(name)() {", "    case \"\(subject)\" in"]
        lines += rows.map { "        \($0.pattern)) \($0.action) ;;" }
        lines += ["        *) ;;", "    esac", "}", ""]
        return lines.joined(separator: "\n")
    }

    private func list(_ words: [String]) -> String {
        words.map(quoted).joined(separator: " ")
    }

    /// Returns the text in quotation marks, so that the shell does not interpret it.
    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
