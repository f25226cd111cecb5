import HealthModel

extension Amount {
    /// Creates an amount from a number and a unit: `Amount(628, metre)`. Its digits are the shortest decimal text of the number.
    ///
    /// - Throws: `NumeralError` if the number is NaN or infinite.
    public init(_ value: Double, _ unit: Unit) throws(NumeralError) { self.init(try Numeral(finite: value), unit) }

    /// Creates an amount from a number and a UCUM code: `Amount(628, "m")`.
    ///
    /// - Throws: `UnitError` if the code is invalid, `NumeralError` if the number is NaN or infinite.
    public init(_ value: Double, _ ucum: String) throws { try self.init(value, try Unit(ucum: ucum)) }
}

extension Numeral {
    /// Creates the shortest decimal numeral of a number.
    init(finite value: Double) throws(NumeralError) {
        // NaN and infinity have no digits, so the parser throws its error for them.
        self = value.isFinite ? Numeral(shortest: value) : try Numeral("\(value)")
    }
}
