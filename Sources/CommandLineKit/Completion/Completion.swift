/// The shell's completions for a value.
package enum Completion: Sendable, Equatable {
    case none
    case file
    case directory
    /// Only these values. Parsing rejects others.
    case values([String])
    /// These values. Parsing accepts others too.
    case suggestions([String])
    /// The lines that a command of this program prints, split at spaces: `vitalgate types --ids`. It gets the global options typed so
    /// far, so the candidates come from the same store.
    case command(String)

    /// The allowed values, or `nil` if any value is allowed.
    var allowed: [String]? {
        if case .values(let values) = self { values } else { nil }
    }
}
