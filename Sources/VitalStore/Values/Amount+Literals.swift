import HealthModel

extension Amount {
    /// A number in a unit: `Amount(628, metre)`. The shortest decimal text of the number counts as its digits.
    ///
    /// - Throws: `NumeralError` where it is no number, or infinite.
    public init(_ value: Double, _ unit: Unit) throws(NumeralError) { self.init(try Numeral(finite: value), unit) }

    /// A number in the unit of a UCUM code: `Amount(628, "m")`.
    ///
    /// - Throws: `UnitError` where the text is no code, `NumeralError` where the number is none, or infinite.
    public init(_ value: Double, _ ucum: String) throws { try self.init(value, try Unit(ucum: ucum)) }
}

extension Numeral {
    /// The shortest decimal numeral of a number.
    init(finite value: Double) throws(NumeralError) {
        // What is none has no digits: the reader of texts says so.
        self = value.isFinite ? Numeral(shortest: value) : try Numeral("\(value)")
    }
}
