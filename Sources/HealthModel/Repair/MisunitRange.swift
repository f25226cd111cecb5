/// An interval of a series whose numbers fit far better in another unit.
public struct MisunitRange: Hashable, Sendable {
    /// The number of the series, and its type.
    public var series: Int64
    public var type: SampleType
    /// The assumed unit, and the fitting one.
    public var taken: Unit
    public var fits: Unit
    /// The first and the last of the samples.
    public var from: Instant
    public var to: Instant
    public var count: Int
    /// The median value as stored, and as repaired, in the canonical unit.
    public var before: Double
    public var after: Double
    /// The median of the person's surrounding readings, if there are any.
    public var around: Double?
    /// The evidence for the other unit, as a natural logarithm of the likelihood ratio.
    public var evidence: Double
    /// If right readings lie between the wrong ones, the values that only the wrong ones have, in the canonical unit.
    public var values: MisunitValues?
    /// Whether the readings may be correct and another person's, because every value is plausible for a person.
    public var mayBeAnotherPerson = false
    /// 0 to 1.
    public var confidence: Double { 1 - exponential(-evidence / 5) }
}

/// The values of wrong readings among right ones.
public enum MisunitValues: Hashable, Sendable {
    case above(Double)
    case below(Double)

    /// Whether a value is one of them.
    public func contains(_ value: Double) -> Bool {
        switch self {
        case .above(let bound): value > bound
        case .below(let bound): value < bound
        }
    }

    /// The condition that they meet, with the values in the type's canonical unit: `value > 115.3 kg`.
    public func condition(of type: SampleType) -> String {
        let (sign, bound) =
            switch self {
            case .above(let bound): (">", bound)
            case .below(let bound): ("<", bound)
            }
        return "value \(sign) \(Numeral(shortest: bound).text) \(type.canonicalUnit.code)"
    }

    /// The values of both, or `nil` if one has high values and the other low ones.
    public func joined(with other: MisunitValues) -> MisunitValues? {
        switch (self, other) {
        case (.above(let one), .above(let another)): .above(min(one, another))
        case (.below(let one), .below(let another)): .below(max(one, another))
        default: nil
        }
    }
}

/// One value of a series, in the order of time.
public struct MisunitReading: Sendable {
    public var start: Instant
    /// Days, for amounts over a time.
    public var duration: Double
    public var numeral: Numeral
    public var unit: Unit
    /// Another device's reading of the same person. It contributes to the level and is not judged.
    public var isReference: Bool

    /// A reading by its parts.
    public init(start: Instant, duration: Double = 0, numeral: Numeral, unit: Unit, isReference: Bool = false) {
        self.start = start
        self.duration = duration
        self.numeral = numeral
        self.unit = unit
        self.isReference = isReference
    }
}
