/// One unit that is not made of others in a code: `m`, `[degF]`, `10*`, an integer factor.
final class UnitAtom: Sendable {
    /// The UCUM symbol without prefix.
    let symbol: String
    let isMetric: Bool
    let factor: ScaleFactor
    let dimension: Dimension
    /// Its zero in kelvins, for temperatures.
    let offset: UnitOffset?
    /// Whether it has its own zero, or is a logarithm or a tangent, and therefore cannot be multiplied.
    let isSpecial: Bool

    init(
        symbol: String, isMetric: Bool, factor: ScaleFactor, dimension: Dimension, offset: UnitOffset? = nil,
        isSpecial: Bool = false
    ) {
        self.symbol = symbol
        self.isMetric = isMetric
        self.factor = factor
        self.dimension = dimension
        self.offset = offset
        self.isSpecial = isSpecial
    }
}

/// Where a temperature scale has its zero, in kelvins, as a fraction.
struct UnitOffset: Hashable, Sendable {
    let numerator: Int64
    let denominator: Int64

    static let zero = UnitOffset(numerator: 0, denominator: 1)
}

/// A metric prefix: UCUM's symbol and the power of ten.
struct UnitPrefix: Hashable, Sendable {
    let symbol: String
    let power: Int

    /// HealthKit's symbol, or `nil` above tera and below femto.
    var healthKit: String? {
        if symbol == "u" { return "mc" }
        return abs(power) <= 12 || symbol == "f" ? symbol : nil
    }

    /// Longest symbol first, so that `dam` is a decametre.
    static let all: [UnitPrefix] = [
        UnitPrefix(symbol: "da", power: 1),
        UnitPrefix(symbol: "Y", power: 24), UnitPrefix(symbol: "Z", power: 21), UnitPrefix(symbol: "E", power: 18),
        UnitPrefix(symbol: "P", power: 15), UnitPrefix(symbol: "T", power: 12), UnitPrefix(symbol: "G", power: 9),
        UnitPrefix(symbol: "M", power: 6), UnitPrefix(symbol: "k", power: 3), UnitPrefix(symbol: "h", power: 2),
        UnitPrefix(symbol: "d", power: -1), UnitPrefix(symbol: "c", power: -2), UnitPrefix(symbol: "m", power: -3),
        UnitPrefix(symbol: "u", power: -6), UnitPrefix(symbol: "n", power: -9), UnitPrefix(symbol: "p", power: -12),
        UnitPrefix(symbol: "f", power: -15), UnitPrefix(symbol: "a", power: -18), UnitPrefix(symbol: "z", power: -21),
        UnitPrefix(symbol: "y", power: -24),
    ]
}

/// A factor of a unit: an atom with its prefix, raised to a power.
struct UnitTerm: Sendable {
    let prefix: UnitPrefix?
    let atom: UnitAtom
    var exponent: Int

    var symbol: String { (prefix?.symbol ?? "") + atom.symbol }

    /// The factor to base units, or `nil` if it overflows.
    var factor: ScaleFactor? {
        guard let prefix else { return atom.factor.raised(to: exponent) }
        return atom.factor.times(ScaleFactor(power: prefix.power))?.raised(to: exponent)
    }
}
