/// A number with its digits, in the received unit.
public struct Amount: Hashable, Sendable {
    /// The number as received.
    public var numeral: Numeral
    /// The unit of ``numeral``, or `nil` if unknown.
    public var unit: Unit?

    /// An amount as received.
    public init(_ numeral: Numeral, _ unit: Unit?) {
        self.numeral = numeral
        self.unit = unit
    }

    /// The value in another unit.
    ///
    /// - Parameter type: The measured type, which may define the molar mass of the substance.
    /// - Returns: `nil` if the unit is unknown or of another dimension.
    public func value(in unit: Unit, of type: SampleType? = nil) -> Double? {
        guard let own = self.unit, let conversion = try? own.conversion(to: unit, molarMass: own.molarMass ?? type?.molarMass)
        else {
            return nil
        }
        return conversion.convert(numeral)
    }
}

/// Encoded as `{"unit":"km","value":"5.20"}`. The value is a text, to keep its digits.
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

/// Encoded as its JSON object, in a text (``Metadata/json``).
extension Metadata: Codable {
    public convenience init(from decoder: any Decoder) throws {
        try self.init(json: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(json)
    }
}
