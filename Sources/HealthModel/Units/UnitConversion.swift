/// A conversion between units: `(value × numerator + offset) / denominator`, in twice the precision of a Double.
///
/// Numerator, offset and denominator are integers wherever the units are rational, so `98.60 [degF]` is exactly `37 Cel`:
///
///     let conversion = try Unit(ucum: "[degF]").conversion(to: Unit(ucum: "Cel"))
///     conversion.convert(try Numeral("98.60"))  // 37.0
///
/// It stores six Doubles, and converting allocates nothing.
public struct UnitConversion: Hashable, Sendable {
    let numerator: DoubleDouble
    let offset: DoubleDouble
    let denominator: DoubleDouble
    /// Whether value and result are the same number, as from `mL/min/kg` to `mL/kg/min`.
    public let isIdentity: Bool

    /// The identity conversion.
    public static let identity = UnitConversion(factor: .one)

    /// Multiplication by a factor.
    init(factor: ScaleFactor) {
        (numerator, denominator) = factor.quotient
        offset = DoubleDouble(0)
        isIdentity = factor == .one
    }

    /// A multiplication. If the exact factor exceeds 128-bit integers, it is the product of the source factor and the target's reciprocal.
    init(from source: ScaleFactor, to target: ScaleFactor) {
        if let factor = source.times(target.reciprocal) {
            self.init(factor: factor)
            return
        }
        let (one, other) = (source.quotient, target.quotient)
        self.init(
            numerator: one.numerator * other.denominator, offset: DoubleDouble(0),
            denominator: one.denominator * other.numerator)
    }

    init(numerator: DoubleDouble, offset: DoubleDouble, denominator: DoubleDouble) {
        self.numerator = numerator
        self.offset = offset
        self.denominator = denominator
        self.isIdentity = false
    }

    /// Converts a binary number. NaN and infinities are unchanged.
    public func callAsFunction(_ value: Double) -> Double {
        if isIdentity { return value }
        let result = ((DoubleDouble(value) * numerator + offset) / denominator).high
        // The split overflows near the limits of Double's range, so the plain expression is used there.
        return result.isFinite ? result : value / denominator.high * numerator.high + offset.high / denominator.high
    }

    /// Converts the decimal number that was received, without rounding it to a Double first.
    public func convert(_ numeral: Numeral) -> Double {
        if isIdentity { return numeral.doubleValue }
        let power = Int(numeral.exponent)
        guard numeral.isExact, power >= -22, power <= 22 else { return convertUnusual(numeral) }
        let coefficient = DoubleDouble(integer: numeral.coefficient)
        let scale = DoubleDouble(Numeral.powersOfTen[abs(power)])
        let result =
            power <= 0
            ? (coefficient * numerator + offset * scale) / (denominator * scale)
            : (coefficient * scale * numerator + offset) / denominator
        return result.high.isFinite ? result.high : self(numeral.doubleValue)
    }

    /// Numerals of many digits or of great and small powers of ten.
    private func convertUnusual(_ numeral: Numeral) -> Double {
        var value = DoubleDouble(integer: numeral.coefficient)
        var power = Int(numeral.exponent)
        if !numeral.isExact { (value, power) = Self.digits(of: numeral.text) }
        if power > 0 { value = value * .power(ofTen: power) }
        if power < 0 { value = value / .power(ofTen: -power) }
        let result = ((value * numerator + offset) / denominator).high
        return result.isFinite ? result : self(numeral.doubleValue)
    }

    /// The digits of a numeral with more than 18, as far as 106 bits can represent them.
    private static func digits(of text: String) -> (DoubleDouble, power: Int) {
        var value = DoubleDouble(0)
        var power = 0
        var afterPoint = false
        var rest = text.utf8[...]
        while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: ".") { afterPoint = true }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { continue }
            value = value * DoubleDouble(10) + DoubleDouble(Double(byte - UInt8(ascii: "0")))
            if afterPoint { power -= 1 }
        }
        power += Int(Substring(rest.dropFirst())) ?? 0
        return (text.hasPrefix("-") ? -value : value, power)
    }
}

extension Unit {
    /// The conversion of values in this unit to values in another.
    ///
    /// - Parameter molarMass: The molar mass in grams per mole, which connects mass and amount (`mg/dL` and `mmol/L`). If it is `nil`, that
    ///   of either unit (`mmol<180.15588000005408>/L`) is used.
    /// - Throws: ``UnitError/unlike(from:fromDimension:to:toDimension:)`` if the dimensions differ, ``UnitError/needsMolarMass(from:to:)``
    ///   if only a molar mass is missing.
    public func conversion(to target: Unit, molarMass: Double? = nil) throws(UnitError) -> UnitConversion {
        if code == target.code { return .identity }
        if dimension == target.dimension {
            if offset == nil && target.offset == nil { return UnitConversion(from: factor, to: target.factor) }
            return offsetConversion(to: target)
        }
        guard let power = dimension.molarMassPower(to: target.dimension) else {
            throw .unlike(from: code, fromDimension: dimension, to: target.code, toDimension: target.dimension)
        }
        // A Double prints as its shortest decimal, so 180.156 is used as exactly that.
        guard let mass = molarMass ?? self.molarMass ?? target.molarMass, mass.isFinite,
            let numeral = try? Numeral(mass.description), let perMole = ScaleFactor(numeral)
        else { throw .needsMolarMass(from: code, to: target.code) }
        let source = factor.times(power > 0 ? perMole : perMole.reciprocal) ?? factor
        return UnitConversion(from: source, to: target.factor)
    }

    /// `(value × factor + offset − target's offset) / target's factor`, brought to one denominator.
    private func offsetConversion(to target: Unit) -> UnitConversion {
        let (one, other) = (offset ?? .zero, target.offset ?? .zero)
        let difference = one.numerator * other.denominator - other.numerator * one.denominator
        guard difference != 0,
            let kelvins = ScaleFactor(
                UInt128(difference.magnitude), over: UInt128((one.denominator * other.denominator).magnitude)),
            let shift = kelvins.times(target.factor.reciprocal),
            let scale = factor.times(target.factor.reciprocal)
        else { return UnitConversion(from: factor, to: target.factor) }
        let divisor = ScaleFactor.greatestCommonDivisor(scale.denominator, shift.denominator)
        let common = ScaleFactor(
            scale.denominator / divisor * shift.denominator, ten: -min(scale.ten, shift.ten, 0))
        guard let common, let numerator = scale.times(common), let addend = shift.times(common) else {
            return UnitConversion(from: factor, to: target.factor)
        }
        let magnitude = addend.quotient.numerator
        return UnitConversion(
            numerator: numerator.quotient.numerator, offset: difference > 0 ? magnitude : -magnitude,
            denominator: common.quotient.numerator)
    }
}
