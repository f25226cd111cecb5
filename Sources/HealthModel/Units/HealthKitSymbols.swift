/// HealthKit's unit symbols beside UCUM's.
///
/// Source: Apple's documentation of `HKUnit(from:)` and the comments in `HKUnit.h`.
enum HealthKitSymbols {
    struct Symbol: Sendable {
        /// The UCUM code of the same size, or `1` for counts and for the percent sign, which is the ratio itself in HealthKit.
        let code: String
        let takesPrefix: Bool
    }

    static let symbols: [String: Symbol] = {
        var result: [String: Symbol] = [:]
        for (text, code) in prefixable { result[text] = Symbol(code: code, takesPrefix: true) }
        for (text, code) in plain { result[text] = Symbol(code: code, takesPrefix: false) }
        return result
    }()

    /// SI units, the only ones that take prefixes in HealthKit.
    private static let prefixable = [
        ("g", "g"), ("m", "m"), ("s", "s"), ("L", "L"), ("l", "L"), ("mol", "mol"), ("Pa", "Pa"), ("Hz", "Hz"), ("J", "J"),
        ("K", "K"), ("S", "S"), ("V", "V"), ("W", "W"), ("rad", "rad"), ("lx", "lx"),
    ]

    private static let plain = [
        ("oz", "[oz_av]"), ("lb", "[lb_av]"), ("st", "[stone_av]"),
        ("in", "[in_i]"), ("ft", "[ft_i]"), ("yd", "[yd_i]"), ("mi", "[mi_i]"),
        ("fl_oz_us", "[foz_us]"), ("fl_oz_imp", "[foz_br]"), ("cup_us", "[cup_us]"), ("cup_imp", "10.[foz_br]"),
        ("pt_us", "[pt_us]"), ("pt_imp", "[pt_br]"),
        ("mmHg", "mm[Hg]"), ("inHg", "[in_i'Hg]"), ("cmAq", "cm[H2O]"), ("atm", "atm"),
        ("dBASPL", "dB[SPL]"), ("dBHL", "dB"),
        ("min", "min"), ("hr", "h"), ("d", "d"),
        ("cal", "cal"), ("kcal", "kcal"), ("Cal", "kcal"),
        ("degC", "Cel"), ("degF", "[degF]"),
        ("IU", "[iU]"), ("count", "1"), ("%", "1"), ("appleEffortScore", "1{score}"),
        ("deg", "deg"), ("D", "[diop]"), ("pD", "[p'diop]"),
    ]

    /// Symbols that cannot be recovered from their UCUM code, so that a unit parsed from one must store it.
    static let unspeakable: Set<String> = ["%", "dBHL", "cup_imp", "appleEffortScore"]

    /// UCUM symbols with a different spelling in HealthKit. The first of two spellings wins.
    private static let texts: [String: String] = {
        var result = ["[Cal]": "Cal"]
        for (text, code) in prefixable + plain where !unspeakable.contains(text) && result[code] == nil { result[code] = text }
        return result
    }()

    /// HealthKit's text for one factor without its power, or `nil` if HealthKit does not have it.
    static func text(for term: UnitTerm) -> String? {
        if let text = texts[term.symbol] { return text }
        guard let prefix = term.prefix?.healthKit, let text = texts[term.atom.symbol], symbols[text]?.takesPrefix == true
        else { return nil }
        return prefix + text
    }
}
