/// The shell's completions for a value.
public enum Completion: Sendable, Equatable {
    /// None.
    case none
    /// Existing files.
    case file
    /// Existing folders.
    case directory
    /// Only these values. Parsing rejects others.
    case values([String])
    /// These values. Parsing accepts others too.
    case suggestions([String])
    /// The lines that a command prints. The command is split at spaces and run without a shell.
    ///
    /// If its first word is the program, the shell runs the program that is being completed, with the global options typed so far. So the
    /// completions come from the same store.
    case command(String)

    /// The allowed values, or `nil` if any value is allowed.
    var allowed: [String]? {
        if case .values(let values) = self { values } else { nil }
    }
}
