import HealthModel

/// A unit of Home Assistant's statistics: its spelling and its class, within which Home Assistant converts.
///
/// Source: `UNIT_CONVERTERS` in Home Assistant's `components/recorder/statistics.py` and the units of `util/unit_conversion.py`,
/// releases 2026.2.3 and 2026.11.0. Units that no converter has, such as beats a minute, have no class.
struct StatisticUnit: Hashable {
    /// The UCUM code.
    let code: String
    /// Home Assistant's text, or `nil` for a plain number.
    let text: String?
    /// The class, or `nil` for none.
    let unitClass: String?

    private static let classes: [(name: String, units: [(code: String, text: String)])] = [
        (
            "mass",
            [
                ("kg", "kg"), ("g", "g"), ("mg", "mg"), ("ug", "\u{3BC}g"), ("[lb_av]", "lb"), ("[oz_av]", "oz"),
                ("[stone_av]", "st"),
            ]
        ),
        ("temperature", [("Cel", "°C"), ("[degF]", "°F"), ("K", "K")]),
        ("pressure", [("mm[Hg]", "mmHg"), ("hPa", "hPa"), ("kPa", "kPa")]),
        (
            "distance",
            [
                ("m", "m"), ("km", "km"), ("cm", "cm"), ("mm", "mm"), ("[mi_i]", "mi"), ("[ft_i]", "ft"), ("[in_i]", "in"),
                ("[yd_i]", "yd"),
            ]
        ),
        ("energy", [("kcal", "kcal"), ("kJ", "kJ"), ("J", "J"), ("kW.h", "kWh"), ("W.h", "Wh")]),
        ("power", [("W", "W"), ("kW", "kW")]), ("duration", [("min", "min"), ("s", "s"), ("h", "h"), ("ms", "ms"), ("d", "d")]),
        ("speed", [("m/s", "m/s"), ("km/h", "km/h"), ("[mi_i]/h", "mph")]), ("volume", [("mL", "mL"), ("L", "L")]),
        ("volume_flow_rate", [("L/min", "L/min")]), ("unitless", [("%", "%"), ("[ppm]", "ppm")]),
    ]
    /// Only for glucose, because the conversion needs its molar mass.
    private static let glucose = ("blood_glucose_concentration", [("mg/dL", "mg/dL"), ("mmol/L", "mmol/L")])

    /// Texts of units without a class.
    private static let texts = [
        "kg/m2": "kg/m²", "mL/kg/min": "mL/(kg·min)", "Ohm": "Ω", "[iU]": "IU", "kcal/kg/h": "kcal/(kg·h)", "dB[SPL]": "dB",
        "ug/m3": "\u{3BC}g/m³", "1{score}": nil, "1{uvindex}": "UV index",
    ]

    /// The unit of a type's statistics.
    ///
    /// - Parameter code: A UCUM code.
    init(_ type: SampleType, _ code: String) {
        self.code = code
        let classes = type.id == "bloodGlucose" ? [Self.glucose] : Self.classes
        for (name, units) in classes {
            guard let unit = units.first(where: { $0.code == code }) else { continue }
            (text, unitClass) = (unit.text, name)
            return
        }
        unitClass = nil
        text = Self.text(of: code, type)
    }

    /// A wanted unit, or the type's own if its text would not be recognized later.
    init(_ type: SampleType, wanted code: String) {
        let wanted = StatisticUnit(type, code)
        self = StatisticUnit(type, text: wanted.text) == wanted ? wanted : StatisticUnit(type, type.canonicalUnit.code)
    }

    /// The unit with a text of Home Assistant, or `nil` if it is not one of the type's.
    init?(_ type: SampleType, text: String?) {
        let classes = type.id == "bloodGlucose" ? [Self.glucose] : Self.classes
        let canonical = StatisticUnit(type, type.canonicalUnit.code)
        if canonical.text == text {
            self = canonical
            return
        }
        for (name, units) in classes where name == canonical.unitClass {
            guard let unit = units.first(where: { $0.text == text }) else { continue }
            (code, self.text, unitClass) = (unit.code, unit.text, name)
            return
        }
        return nil
    }

    private static func text(of code: String, _ type: SampleType) -> String? {
        if code == "/min" { return type.id.contains("eart") ? "bpm" : type.id == "cyclingCadence" ? "rpm" : "/min" }
        if code == "1" { return nil }
        if let text = texts[code] { return text }
        // A counted thing, such as 1{steps}.
        if code.hasPrefix("1{"), code.hasSuffix("}") { return String(code.dropFirst(2).dropLast()) }
        return code
    }
}
