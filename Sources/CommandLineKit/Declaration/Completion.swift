/// What the shell proposes in the place of a value.
public enum Completion: Sendable, Equatable {
    /// Nothing.
    case none
    /// The files that are there.
    case file
    /// The folders that are there.
    case directory
    /// These values and no others: parsing refuses the rest.
    case values([String])
    /// These values among others.
    case suggestions([String])
    /// The lines printed by a command, which is split at spaces and run without a shell.
    ///
    /// Where its first word is the program, the shell runs the program that is being completed, with the global options typed
    /// so far, so that the proposals come from the same store.
    case command(String)

    /// The only values allowed, where they are declared.
    var allowed: [String]? {
        if case .values(let values) = self { values } else { nil }
    }
}
