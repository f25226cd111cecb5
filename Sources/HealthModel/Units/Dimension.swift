/// The dimension of a unit: the exponents of the base dimensions.
///
///     try Unit(ucum: "mg/dL").dimension.description  // "mass concentration"
public struct Dimension: Hashable, Sendable {
    /// One base dimension. The raw value is its index among the exponents.
    ///
    /// In addition to SI's, there are scales that convert to nothing else: levels, acidity, a prism's deviation, and the biological units,
    /// whose size depends on the substance.
    enum Base: Int, CaseIterable, Sendable {
        case length, mass, time, temperature, current, luminousIntensity, amount, angle
        case biological, soundLevel, level, neper, acidity, prism

        /// The symbol for dimensions without a name.
        var symbol: String {
            switch self {
            case .length: "L"
            case .mass: "M"
            case .time: "T"
            case .temperature: "Θ"
            case .current: "I"
            case .luminousIntensity: "J"
            case .amount: "N"
            case .angle: "angle"
            case .biological: "[iU]"
            case .soundLevel: "B[SPL]"
            case .level: "B"
            case .neper: "Np"
            case .acidity: "pH"
            case .prism: "prism"
            }
        }
    }

    private var exponents: SIMD16<Int8>

    /// A pure number: counts, fractions, annotations.
    public static let dimensionless = Dimension(exponents: .zero)

    private init(exponents: SIMD16<Int8>) { self.exponents = exponents }

    init(_ bases: [Base: Int8]) {
        exponents = .zero
        for (base, exponent) in bases { exponents[base.rawValue] = exponent }
    }

    subscript(base: Base) -> Int { Int(exponents[base.rawValue]) }

    /// This dimension times another raised to a power, or `nil` if an exponent leaves -100...100.
    func times(_ other: Dimension, power: Int = 1) -> Dimension? {
        var result = self
        for base in Base.allCases where other[base] != 0 {
            let exponent = self[base] + other[base] * power
            guard abs(exponent) <= 100 else { return nil }
            result.exponents[base.rawValue] = Int8(exponent)
        }
        return result
    }

    /// The power of a molar mass (mass per amount) that converts this dimension to the other: 1 from amount to mass, -1 for the reverse, or
    /// `nil` if they differ in another way.
    func molarMassPower(to other: Dimension) -> Int? {
        let power = self[.amount] - other[.amount]
        guard abs(power) == 1, other[.mass] - self[.mass] == power else { return nil }
        let same = Base.allCases.allSatisfy { $0 == .amount || $0 == .mass || self[$0] == other[$0] }
        return same ? power : nil
    }
}

extension Dimension: CustomStringConvertible {
    /// A readable name (`temperature`, `mass concentration`), or else the product of base dimensions (`L2·M`).
    public var description: String {
        if let name = Self.names[self] { return name }
        let factors = Base.allCases.filter { self[$0] != 0 }
        return factors.map { self[$0] == 1 ? $0.symbol : $0.symbol + "\(self[$0])" }.joined(separator: "·")
    }

    private static let names: [Dimension: String] = [
        .dimensionless: "number",
        Dimension([.length: 1]): "length",
        Dimension([.length: 2]): "area",
        Dimension([.length: 3]): "volume",
        Dimension([.mass: 1]): "mass",
        Dimension([.time: 1]): "time",
        Dimension([.time: -1]): "1/time",
        Dimension([.temperature: 1]): "temperature",
        Dimension([.amount: 1]): "amount of substance",
        Dimension([.angle: 1]): "angle",
        Dimension([.length: -1]): "1/length",
        Dimension([.length: 1, .time: -1]): "speed",
        Dimension([.length: 1, .time: -2]): "acceleration",
        Dimension([.length: 1, .mass: 1, .time: -2]): "force",
        Dimension([.length: -1, .mass: 1, .time: -2]): "pressure",
        Dimension([.length: 2, .mass: 1, .time: -2]): "energy",
        Dimension([.length: 2, .mass: 1, .time: -3]): "power",
        Dimension([.length: 2, .time: -3]): "power per mass",
        Dimension([.length: 3, .time: -1]): "volume flow rate",
        Dimension([.length: 3, .mass: -1, .time: -1]): "volume flow rate per mass",
        Dimension([.length: -3, .mass: 1]): "mass concentration",
        Dimension([.length: -3, .amount: 1]): "substance concentration",
        Dimension([.length: -3]): "number concentration",
        Dimension([.length: -2, .mass: 1]): "mass per area",
        Dimension([.mass: 1, .amount: -1]): "molar mass",
        Dimension([.time: -1, .amount: 1]): "catalytic activity",
        Dimension([.current: 1]): "electric current",
        Dimension([.current: 1, .time: 1]): "electric charge",
        Dimension([.length: 2, .mass: 1, .time: -3, .current: -1]): "electric potential",
        Dimension([.length: 2, .mass: 1, .time: -3, .current: -2]): "electric resistance",
        Dimension([.length: -2, .mass: -1, .time: 3, .current: 2]): "electric conductance",
        Dimension([.length: -2, .mass: -1, .time: 4, .current: 2]): "electric capacitance",
        Dimension([.luminousIntensity: 1]): "luminous intensity",
        Dimension([.luminousIntensity: 1, .angle: 2]): "luminous flux",
        Dimension([.luminousIntensity: 1, .angle: 2, .length: -2]): "illuminance",
        Dimension([.biological: 1]): "biological units",
        Dimension([.biological: 1, .length: -3]): "biological units per volume",
        Dimension([.soundLevel: 1]): "sound pressure level",
        Dimension([.level: 1]): "level",
        Dimension([.neper: 1]): "level in nepers",
        Dimension([.acidity: 1]): "acidity",
        Dimension([.prism: 1]): "prism power",
    ]
}
