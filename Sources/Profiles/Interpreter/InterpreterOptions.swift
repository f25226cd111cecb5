import HealthModel

/// The character that separates a number's integer part from its fraction.
package enum DecimalSign: String, Hashable, Sendable, CaseIterable {
    /// `1.5`
    case point = "."
    /// `1,5`
    case comma = ","
}

/// The user's answers to questions that a file leaves open.
package struct InterpreterOptions: Sendable {
    /// The order of `03-04-2026`, if no date in the file decides it (`--date-order`).
    package var dateOrder: DateOrder?
    /// The units of columns whose unit the profile only assumes (`--unit COLUMN=CODE`).
    package var units: [String: Unit] = [:]
    /// The meaning of `1,024`, if no value in the file decides it (`--decimal`).
    package var decimal: DecimalSign?

    /// Creates the options. Pass nil for anything that the file itself decides.
    package init(dateOrder: DateOrder? = nil, units: [String: Unit] = [:], decimal: DecimalSign? = nil) {
        self.dateOrder = dateOrder
        self.units = units
        self.decimal = decimal
    }

    /// Refuses all options, for a format that leaves nothing open.
    ///
    /// - Throws: ``ProfileErrors`` for each option that is given.
    package func refuseAll(of profile: String) throws(ProfileErrors) {
        try refuse("--date-order", if: dateOrder != nil, "\(profile) writes dates in one order only")
        try refuse("--decimal", if: decimal != nil, "\(profile) writes numbers in one way only")
        try refuse("--unit", if: !units.isEmpty, "\(profile) contains all units")
    }

    /// Refuses an option that a file cannot use. Either the option or the choice of the profile is a mistake.
    func refuse(_ option: String, if isGiven: Bool, _ reason: String) throws(ProfileErrors) {
        if isGiven { throw ProfileErrors([ProfileProblem("", "\(option) has no effect: the profile \(reason)")]) }
    }
}
