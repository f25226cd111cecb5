/// The parsed text of a unit: factors in the order written.
struct UnitExpression: Sendable {
    private(set) var terms: [UnitTerm] = []
    /// The annotation of a unit that consists only of it: `steps` of `{steps}` and `1{steps}`.
    var label: String?
    /// Grams per mole, from HealthKit's `mol<…>`.
    var molarMass: Double?

    /// Multiplies by a term. Powers of one symbol are added, so `m.m` is `m2` and `mg/mg` is `1`.
    mutating func append(_ term: UnitTerm) {
        // Integers have no powers of their own: "102" would be a hundred and two.
        let place = terms.firstIndex { $0.symbol == term.symbol && !$0.isInteger }
        guard let place else { return terms.append(term) }
        terms[place].exponent += term.exponent
        if terms[place].exponent == 0 { terms.remove(at: place) }
    }

    /// The factor and the dimension, or `nil` if they overflow.
    var measure: (factor: ScaleFactor, dimension: Dimension)? {
        var factor = ScaleFactor.one
        var dimension = Dimension.dimensionless
        for term in terms {
            guard let termFactor = term.factor, let product = factor.times(termFactor),
                let raised = dimension.times(term.atom.dimension, power: term.exponent)
            else { return nil }
            factor = product
            dimension = raised
        }
        return (factor, dimension)
    }

    /// The canonical UCUM code: products before quotients, each in the order written, no parentheses, no annotations but a
    /// lone one.
    var code: String {
        if terms.isEmpty { return label.map { "1{\($0)}" } ?? "1" }
        let above = terms.filter { $0.exponent > 0 }.map { $0.symbol + Self.power($0) }.joined(separator: ".")
        return terms.filter { $0.exponent < 0 }.reduce(above) { $0 + "/" + $1.symbol + Self.power($1) }
    }

    private static func power(_ term: UnitTerm) -> String {
        let exponent = abs(term.exponent)
        // "10*" alone would be read as ten with the power missing.
        return exponent == 1 && !term.symbol.hasSuffix("*") ? "" : "\(exponent)"
    }

    /// HealthKit's text for the unit, or `nil` if HealthKit does not have it.
    var healthKitString: String? {
        if terms.isEmpty { return label == "score" ? "appleEffortScore" : "count" }
        var above: [String] = []
        var below: [String] = []
        for term in terms {
            guard var symbol = HealthKitSymbols.text(for: term) else { return nil }
            if term.atom.symbol == "mol", let molarMass { symbol += "<\(molarMass)>" }
            if abs(term.exponent) > 1 { symbol += "^\(abs(term.exponent))" }
            if term.exponent > 0 { above.append(symbol) } else { below.append(symbol) }
        }
        let product = above.isEmpty ? "count" : above.joined(separator: "·")
        return below.isEmpty ? product : product + "/" + below.joined(separator: "·")
    }
}

extension UnitTerm {
    /// Whether this is an integer factor, as in `10.[foz_br]`.
    var isInteger: Bool { atom.symbol.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }

    init?(integer: UInt64, exponent: Int) {
        guard let factor = ScaleFactor(UInt128(integer)) else { return nil }
        let atom = UnitAtom(symbol: "\(integer)", isMetric: false, factor: factor, dimension: .dimensionless)
        self.init(prefix: nil, atom: atom, exponent: exponent)
    }
}
