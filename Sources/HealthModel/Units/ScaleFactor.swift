/// An exact factor between two units: `numerator / denominator × 10^ten × π^pi`.
///
/// The power of ten is separate, so that prefixes neither overflow the integers nor are rounded.
struct ScaleFactor: Hashable, Sendable {
    let numerator: UInt128
    let denominator: UInt128
    let ten: Int
    let pi: Int

    static let one = ScaleFactor(power: 0)

    /// 10^power.
    init(power: Int) {
        numerator = 1
        denominator = 1
        ten = power
        pi = 0
    }

    static let circle = ScaleFactor(reduced: 1, 1, ten: 0, pi: 1)

    private init(reduced numerator: UInt128, _ denominator: UInt128, ten: Int, pi: Int) {
        self.numerator = numerator
        self.denominator = denominator
        self.ten = ten
        self.pi = pi
    }

    /// The factor in lowest terms, or `nil` for zero and for a power of ten beyond all units.
    init?(_ numerator: UInt128, over denominator: UInt128 = 1, ten: Int = 0, pi: Int = 0) {
        guard numerator > 0, denominator > 0 else { return nil }
        var top = numerator
        var bottom = denominator
        var power = ten
        while top % 10 == 0 {
            top /= 10
            power += 1
        }
        while bottom % 10 == 0 {
            bottom /= 10
            power -= 1
        }
        let divisor = Self.greatestCommonDivisor(top, bottom)
        guard abs(power) <= 250, abs(pi) <= 16 else { return nil }
        self.init(reduced: top / divisor, bottom / divisor, ten: power, pi: pi)
    }

    /// A positive decimal, exactly.
    init?(_ numeral: Numeral) {
        guard numeral.isExact, numeral.coefficient > 0 else { return nil }
        self.init(UInt128(numeral.coefficient.magnitude), ten: Int(numeral.exponent))
    }

    /// The product, or `nil` if it overflows.
    func times(_ other: ScaleFactor) -> ScaleFactor? {
        // Reducing crosswise first minimises the products.
        let one = Self.greatestCommonDivisor(numerator, other.denominator)
        let two = Self.greatestCommonDivisor(other.numerator, denominator)
        let (top, topOverflow) = (numerator / one).multipliedReportingOverflow(by: other.numerator / two)
        let (bottom, bottomOverflow) = (denominator / two).multipliedReportingOverflow(by: other.denominator / one)
        guard !topOverflow, !bottomOverflow else { return nil }
        return ScaleFactor(top, over: bottom, ten: ten + other.ten, pi: pi + other.pi)
    }

    var reciprocal: ScaleFactor { ScaleFactor(reduced: denominator, numerator, ten: -ten, pi: -pi) }

    /// The factor raised to a power, or `nil` if it overflows.
    func raised(to power: Int) -> ScaleFactor? {
        var result = ScaleFactor.one
        let base = power < 0 ? reciprocal : self
        for _ in 0..<abs(power) {
            guard let next = result.times(base) else { return nil }
            result = next
        }
        return result
    }

    /// The factor as a quotient of two numbers, which are exact if they fit in 106 bits.
    var quotient: (numerator: DoubleDouble, denominator: DoubleDouble) {
        var top = DoubleDouble(wide: numerator)
        var bottom = DoubleDouble(wide: denominator)
        if ten > 0 { top = top * .power(ofTen: ten) }
        if ten < 0 { bottom = bottom * .power(ofTen: -ten) }
        for _ in 0..<abs(pi) {
            if pi > 0 { top = top * .pi } else { bottom = bottom * .pi }
        }
        return (top, bottom)
    }

    static func greatestCommonDivisor(_ one: UInt128, _ other: UInt128) -> UInt128 {
        var (large, small) = (one, other)
        while small > 0 { (large, small) = (small, large % small) }
        return large
    }
}
