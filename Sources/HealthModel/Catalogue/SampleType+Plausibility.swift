extension SampleType {
    /// The units in which readings of a type are commonly given, which may be confused with each other.
    public var commonUnits: [Unit] { (Self.unitsByCanonical[canonicalUnit.code] ?? []) + [canonicalUnit] }

    private static let unitsByCanonical: [String: [Unit]] = {
        let table: [String: [String]] = [
            "Cel": ["[degF]"], "kg": ["[lb_av]", "[stone_av]", "g"], "m": ["cm", "[in_i]", "[ft_i]"], "mg/dL": ["mmol/L"],
            "mm[Hg]": ["kPa"], "kcal": ["kJ", "W.h"], "kcal/d": ["kJ/d", "W"], "mmol/L": ["mg/dL"], "L": ["mL"],
            "g": ["mg", "kg"],
            "cm": ["m", "mm"], "ms": ["s"], "hPa": ["kPa", "mm[Hg]"],
        ]
        return table.mapValues { codes in codes.compactMap { try? Unit(ucum: $0) } }
    }()

    /// Whether a received numeral would be plausible in a common unit other than the received one. For percentages, a ratio also counts.
    public func isPlausible(_ numeral: Numeral, besides unit: Unit) -> Bool {
        guard let plausible else { return true }
        for other in commonUnits where other != unit {
            if let conversion = try? conversion(from: other), plausible.contains(conversion.convert(numeral)) { return true }
        }
        guard canonicalUnit.code == "%" else { return false }
        // 0.98 for 98 %, or 3040 for 30.4 %.
        return plausible.contains(numeral.doubleValue * 100) || plausible.contains(numeral.doubleValue / 100)
    }

    /// A plausible number that devices send for a missing value, or NaN if there is none.
    ///
    /// Many straps and oximeters send a byte of ones (255) if there is no pulse.
    public var sentinel: Double {
        switch self {
        case .heartRate: 255
        default: .nan
        }
    }
}
