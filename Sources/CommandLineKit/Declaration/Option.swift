/// A flag, or a value that is known by its name.
public struct Option: Sendable, Equatable {
    /// With their dashes. The first is the one that help and messages use.
    public var names: [String]
    /// What stands for the value in the help, by custom in capitals; `nil` makes it a flag.
    public var value: String?
    /// One sentence for the help.
    public var help: String
    /// May be given more than once.
    public var repeating: Bool
    /// Has to be given.
    public var required: Bool
    /// What the shell proposes for its value.
    public var completion: Completion

    /// - Parameters:
    ///   - names: with their dashes.
    ///   - value: what stands for the value in the help; nil for a flag.
    public init(
        names: [String],
        value: String? = nil,
        help: String,
        repeating: Bool = false,
        required: Bool = false,
        completion: Completion = .none
    ) {
        self.names = names
        self.value = value
        self.help = help
        self.repeating = repeating
        self.required = required
        self.completion = completion
    }

    /// Known to every program.
    static let help = Option(names: ["--help", "-h"], help: "Show help, for the command if one is named.")
    static let version = Option(names: ["--version"], help: "Show the version.")

    /// The name that stands for all.
    var name: String { names.first ?? "" }

    /// All names and the value: `-n, --limit N`.
    var label: String {
        // The shortest name comes first, as in all manuals.
        let sorted = names.enumerated().sorted { ($0.element.utf8.count, $0.offset) < ($1.element.utf8.count, $1.offset) }
        return sorted.map(\.element).joined(separator: ", ") + (value.map { " \($0)" } ?? "")
    }

    /// Its form in a synopsis: `[--limit N]`, `[--profiles DIR]...`.
    var synopsis: String {
        let form = name + (value.map { " \($0)" } ?? "")
        return (required ? form : "[\(form)]") + (repeating ? "..." : "")
    }
}
