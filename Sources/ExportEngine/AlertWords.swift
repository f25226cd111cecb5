import HealthModel

/// The phrases of messages about alerts in a language.
///
///     AlertWords.english.text(.aboveBegan, "Heart Rate", "100 /min")  // "Heart Rate is above 100 /min"
package struct AlertWords: Sendable {
    /// A phrase. `{0}` is the type, and `{1}` the limit.
    package enum Phrase: String, CaseIterable, Sendable {
        case aboveTitle, belowTitle, missingTitle
        case aboveBegan, belowBegan, missingBegan
        case aboveEnded, belowEnded, missingEnded
        case aboveWas, belowWas
        case aboveMaybe, belowMaybe
        case hour, hours
        case test, summary, failed, resumed
        /// `{0}` is the location of the backups, and `{1}` a number of days.
        case backupUnrestorable, backupFailing, backupOld, backupUnproven, backupWell

        package var english: String {
            switch self {
            case .aboveTitle: "{0} above {1}"
            case .belowTitle: "{0} below {1}"
            case .missingTitle: "{0} missing for {1}"
            case .aboveBegan: "{0} is above {1}"
            case .belowBegan: "{0} is below {1}"
            case .missingBegan: "{0}: no reading for {1}"
            case .aboveEnded: "{0} is no longer above {1}"
            case .belowEnded: "{0} is no longer below {1}"
            case .missingEnded: "{0}: there are readings again"
            case .aboveWas: "{0} was above {1}, reported late"
            case .belowWas: "{0} was below {1}, reported late"
            case .aboveMaybe: "{0} may be above {1}. The value is implausible: measure again"
            case .belowMaybe: "{0} may be below {1}. The value is implausible: measure again"
            case .hour: "1 hour"
            case .hours: "{0} hours"
            case .summary: "Messages that could not be delivered: {0}"
            case .failed: "Alerts cannot be evaluated. Run 'vitalgate doctor' on the hub."
            case .resumed: "Alerts are evaluated again."
            case .backupUnrestorable: "The last backup at '{0}' cannot be restored. Run 'vitalgate doctor' on the hub."
            case .backupFailing: "Backups at '{0}' fail. Run 'vitalgate doctor' on the hub."
            case .backupOld: "The last backup at '{0}' was made {1} days ago. Run 'vitalgate doctor' on the hub."
            case .backupUnproven: "The last proven backup at '{0}' is {1} days old. Run 'vitalgate doctor' on the hub."
            case .backupWell: "The backups at '{0}' are up to date and proven again."
            case .test: "This is a test of Vitalgate's alerts. Nothing has happened."
            }
        }
    }

    private let phrases: [Phrase: String]
    private let decimal: Character
    private let names: @Sendable (SampleType) -> String
    private let symbols: @Sendable (Unit) -> String

    package static let english = AlertWords(phrases: [:], decimal: ".", names: { $0.displayName }, symbols: { $0.code })

    /// Creates the words of a language. Missing phrases are in English.
    ///
    /// - Parameters:
    ///   - decimal: The separator before decimals.
    ///   - names: Returns the name of a type.
    ///   - symbols: Returns the symbol of a unit.
    package init(
        phrases: [Phrase: String], decimal: Character, names: @escaping @Sendable (SampleType) -> String,
        symbols: @escaping @Sendable (Unit) -> String
    ) {
        (self.phrases, self.decimal, self.names, self.symbols) = (phrases, decimal, names, symbols)
    }

    package func text(_ phrase: Phrase, _ values: String...) -> String {
        var (filled, rest) = ("", (phrases[phrase] ?? phrase.english)[...])
        while let start = rest.firstIndex(of: "{") {
            filled += rest[..<start]
            let place = rest[start...].prefix(3)
            let index = values.indices.first { place == "{\($0)}" }
            filled += index.map { values[$0] } ?? "{"
            rest = rest[start...].dropFirst(index == nil ? 1 : 3)
        }
        return filled + rest
    }

    package func name(of type: SampleType) -> String { names(type) }

    package func amount(_ value: Double, _ unit: Unit) -> String {
        let symbol = unit.code == "1" ? "" : symbols(unit)
        return symbol.isEmpty ? number(value) : "\(number(value)) \(symbol)"
    }

    package func hours(_ count: Double) -> String { count == 1 ? text(.hour) : text(.hours, number(count)) }

    private func number(_ value: Double) -> String {
        if value == value.rounded() && abs(value) < 1e15 { return "\(Int64(value))" }
        return String("\(value)".map { $0 == "." ? decimal : $0 })
    }
}
