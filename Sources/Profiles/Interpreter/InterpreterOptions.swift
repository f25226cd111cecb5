import HealthModel

/// The sign between a number's whole and fraction.
public enum DecimalSign: String, Hashable, Sendable, CaseIterable {
    /// `1.5`
    case point = "."
    /// `1,5`
    case comma = ","
}

/// What a person says about a file that the file does not say itself.
public struct InterpreterOptions: Sendable {
    /// `--date-order`: how `03-04-2026` is meant where no date of the file tells.
    public var dateOrder: DateOrder?
    /// `--unit COLUMN=CODE`: units of columns whose unit the profile only assumes.
    public var units: [String: Unit] = [:]
    /// `--decimal`: what `1,024` means where no value of the file tells.
    public var decimal: DecimalSign?

    /// Nil for what the file says itself.
    public init(dateOrder: DateOrder? = nil, units: [String: Unit] = [:], decimal: DecimalSign? = nil) {
        self.dateOrder = dateOrder
        self.units = units
        self.decimal = decimal
    }

    /// For a format that says all of it.
    ///
    /// - Throws: ``ProfileErrors`` for what is given all the same.
    public func refuseAll(of profile: String) throws(ProfileErrors) {
        try refuse("--date-order", if: dateOrder != nil, "\(profile) writes dates in one order only")
        try refuse("--decimal", if: decimal != nil, "\(profile) writes numbers in one way only")
        try refuse("--unit", if: !units.isEmpty, "\(profile) says all units")
    }

    /// An option that a file has no use for is a mistake of who gave it, or of the profile that was found.
    func refuse(_ option: String, if isGiven: Bool, _ reason: String) throws(ProfileErrors) {
        if isGiven { throw ProfileErrors([ProfileProblem("", "\(option) has no use here: the profile \(reason)")]) }
    }
}
