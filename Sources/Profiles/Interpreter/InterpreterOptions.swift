import HealthModel

/// The sign between a number's whole and fraction.
public enum DecimalSign: String, Hashable, Sendable, CaseIterable {
    case point = "."
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

    public init(dateOrder: DateOrder? = nil, units: [String: Unit] = [:], decimal: DecimalSign? = nil) {
        self.dateOrder = dateOrder
        self.units = units
        self.decimal = decimal
    }
}
