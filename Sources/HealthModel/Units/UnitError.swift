/// Why a text is not a unit, or why one unit does not convert to another.
public enum UnitError: Error, Hashable, Sendable {
    /// The dialect does not have this unit. The suggestion is the code that was probably meant.
    case unknown(code: String, dialect: UnitDialect, suggestion: String?)
    /// The text breaks the dialect's grammar at this byte, counted from 0.
    case malformed(code: String, offset: Int)
    /// A unit with its own zero or a logarithm (`Cel`, `dB`) is part of a product or a power, which is meaningless.
    case notCombinable(code: String, symbol: String)
    /// The two units measure different things.
    case unlike(from: String, fromDimension: Dimension, to: String, toDimension: Dimension)
    /// One unit measures mass and the other amount of substance. A conversion needs the molar mass (g/mol).
    case needsMolarMass(from: String, to: String)
    /// A category's numbers are the names of its cases, and no amounts.
    case noAmount(from: String, category: String)
}

/// The notation of a unit's text. `%` is 0.01 in one and the ratio itself in the other.
public enum UnitDialect: String, Hashable, Sendable {
    /// The Unified Code for Units of Measure, case-sensitive form.
    case ucum = "UCUM"
    /// HealthKit's unit strings, as `HKUnit(from:)` reads them.
    case healthKit = "HealthKit"
}

extension UnitError {
    /// The code that was probably meant by an unknown unit.
    public var suggestion: String? {
        if case .unknown(_, _, let suggestion) = self { suggestion } else { nil }
    }
}

extension UnitError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown("", let dialect, _): "an empty text is not a \(dialect.rawValue) unit"
        case .unknown(let code, let dialect, let suggestion):
            "\(code.excerpt()) is not a \(dialect.rawValue) unit" + (suggestion.map { "; did you mean \($0)?" } ?? "")
        case .malformed(let code, let offset): "\(code.excerpt()) is not a unit: unexpected character at position \(offset + 1)"
        case .notCombinable(let code, let symbol):
            "\(code.excerpt()) is not a unit: \(symbol.excerpt()) cannot be multiplied, divided or raised"
        case .unlike(let from, let fromDimension, let to, let toDimension):
            "\(from) (\(fromDimension)) cannot be converted to \(to) (\(toDimension))"
                + Self.hint((from, fromDimension), (to, toDimension))
        case .needsMolarMass(let from, let to):
            "\(from) cannot be converted to \(to) without the substance's molar mass in g/mol"
        case .noAmount(let from, let category):
            "\(from) is not a unit of \(category), which is a category: its numbers have the unit 1"
        }
    }

    /// A hint for UCUM's `F`, `C` and `ft`, which are farad, coulomb and femtotonne, and are unlikely to be meant for a temperature or a
    /// length.
    private static func hint(_ from: (code: String, dimension: Dimension), _ to: (code: String, dimension: Dimension)) -> String {
        func intended(_ code: String) -> (code: String, dimension: Dimension)? {
            guard let intended = UnitSuggestion.intended(by: code), intended != code, let unit = try? Unit(ucum: intended) else {
                return nil
            }
            return (intended, unit.dimension)
        }
        let (one, other) = (intended(from.code), intended(to.code))
        if let one, one.dimension == to.dimension { return "; did you mean \(one.code)?" }
        if let other, other.dimension == from.dimension { return "; did you mean \(other.code)?" }
        if let one, let other, one.dimension == other.dimension { return "; did you mean \(one.code) and \(other.code)?" }
        return ""
    }
}
