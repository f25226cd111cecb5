/// A flag, or an option with a value.
package struct Option: Sendable, Equatable {
    /// The names with their dashes. Help and messages use the first one.
    package var names: [String]
    /// Former names. They are accepted, and help and completion do not show them.
    package var formerNames: [String]
    /// The placeholder of the value in the help, in capitals by convention. `nil` makes it a flag.
    package var value: String?
    /// One sentence for the help.
    package var help: String
    /// Whether it may be given more than once.
    package var repeating: Bool
    /// Whether it must be given.
    package var required: Bool
    /// The shell's completions for its value.
    package var completion: Completion

    /// - Parameters:
    ///   - names: the names with their dashes.
    ///   - formerNames: names that are accepted and not shown.
    ///   - value: the placeholder of the value in the help, or `nil` for a flag.
    package init(
        names: [String],
        formerNames: [String] = [],
        value: String? = nil,
        help: String,
        repeating: Bool = false,
        required: Bool = false,
        completion: Completion = .none
    ) {
        self.names = names
        self.formerNames = formerNames
        self.value = value
        self.help = help
        self.repeating = repeating
        self.required = required
        self.completion = completion
    }

    static let help = Option(names: ["--help", "-h"], help: "Show help for the program or a command.")
    static let version = Option(names: ["--version"], help: "Show the version.")

    /// Whether the option has this name, now or formerly.
    func isCalled(_ name: String) -> Bool { names.contains(name) || formerNames.contains(name) }

    /// The first name, which identifies the option.
    var name: String { names.first ?? "" }

    /// All names and the placeholder: `-n, --limit N`.
    var label: String {
        // The shortest name comes first, as in manuals.
        let sorted = names.enumerated().sorted { ($0.element.utf8.count, $0.offset) < ($1.element.utf8.count, $1.offset) }
        return sorted.map(\.element).joined(separator: ", ") + (value.map { " \($0)" } ?? "")
    }

    /// The form in a synopsis: `[--limit N]`, `[--profiles DIR]...`.
    var synopsis: String {
        let form = name + (value.map { " \($0)" } ?? "")
        return (required ? form : "[\(form)]") + (repeating ? "..." : "")
    }
}
