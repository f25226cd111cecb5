/// A number with its digits, in the unit that it was told in.
public struct Amount: Hashable, Sendable {
    /// As told.
    public var numeral: Numeral
    /// The unit of ``numeral``; `nil` where none was told.
    public var unit: Unit?

    /// An amount as told.
    public init(_ numeral: Numeral, _ unit: Unit?) {
        self.numeral = numeral
        self.unit = unit
    }

    /// In another unit.
    ///
    /// - Parameter type: what is measured, where that tells of which substance a mole is.
    /// - Returns: `nil` where no unit was told, or it measures something else.
    public func value(in unit: Unit, of type: SampleType? = nil) -> Double? {
        guard let own = self.unit, let conversion = try? own.conversion(to: unit, molarMass: own.molarMass ?? type?.molarMass)
        else {
            return nil
        }
        return conversion.convert(numeral)
    }
}

/// `{"unit":"km","value":"5.20"}`: a text, since its digits are told.
extension Amount: Codable {
    private enum Key: String, CodingKey { case value, unit, molarMass }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        numeral = try Numeral(container.decode(String.self, forKey: .value))
        unit = try container.decodeIfPresent(String.self, forKey: .unit).map { try Unit(ucum: $0) }
        if let molarMass = try container.decodeIfPresent(Double.self, forKey: .molarMass) {
            unit = unit?.with(molarMass: molarMass)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(numeral.text, forKey: .value)
        try container.encodeIfPresent(unit?.code, forKey: .unit)
        try container.encodeIfPresent(unit?.molarMass, forKey: .molarMass)
    }
}

/// Its one JSON object, as a text (``Metadata/json``).
extension Metadata: Codable {
    public convenience init(from decoder: any Decoder) throws {
        try self.init(json: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }
}
