/// Suggests the unit that was probably meant by an unknown text.
enum UnitSuggestion {
    /// The error of an unknown unit with the whole text and a suggestion. Other errors are unchanged.
    static func completed(_ error: UnitError, text: String, dialect: UnitDialect) -> UnitError {
        switch error {
        case .unknown(let symbol, _, _):
            // No unit is longer, and the text may have any length.
            let isShort = text.utf8.count <= UCUMParser.maximumLength
            return .unknown(
                code: text, dialect: dialect,
                suggestion: isShort ? suggestion(for: text, symbol: symbol, dialect: dialect) : nil)
        case .malformed(_, let offset) where text.utf8.count <= UCUMParser.maximumLength:
            guard let intended = suggestion(for: text, symbol: text, dialect: dialect) else {
                return .malformed(code: text, offset: offset)
            }
            return .unknown(code: text, dialect: dialect, suggestion: intended)
        default:
            return error
        }
    }

    private static func suggestion(for text: String, symbol: String, dialect: UnitDialect) -> String? {
        if let whole = word(text, dialect: dialect) { return whole }
        if symbol != text, let part = word(symbol, dialect: dialect) {
            let candidate = text.replacing(symbol, with: part, maxReplacements: 1)
            if expression(candidate, dialect: dialect) != nil { return candidate }
        }
        guard let code = spelled(text) else { return nil }
        return dialect == .ucum ? code : (try? UCUMParser.parse(code))?.healthKitString
    }

    /// The UCUM code that was probably meant by a word, even if the word is a code: `[degF]` for `F`, which is UCUM's farad.
    static func intended(by text: String) -> String? { colloquial[text.lowercased()] }

    /// The UCUM code of a text with capitals, spaces, `per`, superscripts or plurals: `mg/dL` for `mg per dl`.
    private static func spelled(_ text: String) -> String? {
        var plain = text.lowercased()
        for (written, intended) in [("²", "2"), ("³", "3"), ("^", ""), ("·", "."), ("⋅", "."), ("*", "."), (" per ", "/")] {
            plain = plain.replacing(written, with: intended)
        }
        plain = String(plain.filter { !$0.isWhitespace })
        if let code = colloquial[plain] { return code }
        var (code, part) = ("", "")
        for character in plain + "/" {
            guard character == "/" || character == "." else {
                part.append(character)
                continue
            }
            guard let intended = factor(part, isFirst: code.isEmpty) else { return nil }
            code += intended + String(character)
            part = ""
        }
        code = String(code.dropLast())
        return (try? UCUMParser.parse(code)) == nil ? nil : code
    }

    /// One factor of a unit, with its power. The counted object before a slash is left out, as in `/min`.
    private static func factor(_ text: String, isFirst: Bool) -> String? {
        if text.isEmpty { return isFirst ? "" : nil }
        if isFirst, ["beats", "beat", "breaths", "breath"].contains(text) { return "" }
        let word = text.filter { !$0.isNumber }
        let power = text.dropFirst(word.count)
        guard word + power == text else { return nil }
        let singular = word.count > 2 && word.hasSuffix("s") ? String(word.dropLast()) : word
        guard let code = [word, singular].lazy.compactMap({ colloquial[$0] ?? cased[$0] }).first else { return nil }
        return code + power
    }

    /// The codes that people write most, by their letters in lower case.
    private static let cased = Dictionary(
        [
            "kg", "g", "mg", "ug", "ng", "km", "m", "dm", "cm", "mm", "L", "dL", "mL", "uL", "mol", "mmol", "umol", "kcal", "kJ",
            "J",
            "kPa", "hPa", "Pa", "bar", "mbar", "W", "kW", "V", "mV", "Hz", "kHz", "h", "min", "s", "ms", "d", "K", "dB", "Ohm",
            "U",
            "%",
        ].map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })

    /// The same unit in this dialect if the other dialect knows the text, or else a colloquial name.
    private static func word(_ text: String, dialect: UnitDialect) -> String? {
        if let code = colloquial[text.lowercased()] {
            return dialect == .ucum ? code : (try? UCUMParser.parse(code))?.healthKitString
        }
        switch dialect {
        case .ucum: return (try? HealthKitUnitParser.parse(text))?.code
        case .healthKit: return (try? UCUMParser.parse(text))?.healthKitString
        }
    }

    private static func expression(_ text: String, dialect: UnitDialect) -> UnitExpression? {
        switch dialect {
        case .ucum: try? UCUMParser.parse(text)
        case .healthKit: try? HealthKitUnitParser.parse(text)
        }
    }

    /// Colloquial unit names from displays, exports and users, in lowercase, with their UCUM codes.
    private static let colloquial = [
        "bpm": "/min", "beats/min": "/min", "beats per minute": "/min", "rpm": "/min", "brpm": "/min", "breaths/min": "/min",
        "f": "[degF]", "°f": "[degF]", "℉": "[degF]", "ºf": "[degF]", "degf": "[degF]", "fahrenheit": "[degF]",
        "deg f": "[degF]", "[degf]": "[degF]",
        "c": "Cel", "°c": "Cel", "℃": "Cel", "ºc": "Cel", "degc": "Cel", "celsius": "Cel", "deg c": "Cel", "cel": "Cel",
        "[degc]": "Cel",
        "lb": "[lb_av]", "lbs": "[lb_av]", "knot": "[kn_i]", "knots": "[kn_i]", "kt": "[kn_i]", "kn": "[kn_i]",
        "pound": "[lb_av]", "pounds": "[lb_av]", "[lb]": "[lb_av]",
        "oz": "[oz_av]", "ounce": "[oz_av]", "ounces": "[oz_av]", "st": "[stone_av]", "stone": "[stone_av]",
        "stones": "[stone_av]", "kgs": "kg", "kg": "kg", "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg",
        "gram": "g",
        "grams": "g", "mcg": "ug", "in": "[in_i]", "inch": "[in_i]", "inches": "[in_i]", "ft": "[ft_i]", "feet": "[ft_i]",
        "foot": "[ft_i]", "mile": "[mi_i]", "miles": "[mi_i]", "mi": "[mi_i]", "mph": "[mi_i]/h", "kmh": "km/h",
        "km/hr": "km/h", "kph": "km/h", "yard": "[yd_i]", "yards": "[yd_i]", "mmhg": "mm[Hg]", "mm hg": "mm[Hg]",
        "mm[hg]": "mm[Hg]", "inhg": "[in_i'Hg]", "cmh2o": "cm[H2O]", "psi": "[psi]", "kpa": "kPa", "hpa": "hPa",
        "mg/dl": "mg/dL", "mmol/l": "mmol/L", "iu": "[iU]", "ppm": "[ppm]", "ppb": "[ppb]", "percent": "%", "pct": "%",
        "sec": "s", "secs": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min", "mins": "min", "hr": "h",
        "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "msec": "ms", "calories": "kcal", "calorie": "kcal",
        "cals": "kcal", "cal": "kcal",
        "ohm": "Ohm", "ohms": "Ohm", "ω": "Ohm", "watts": "W", "watt": "W", "steps": "1{steps}",
        "step": "1{steps}", "count": "1", "db": "dB", "dbspl": "dB[SPL]", "dba": "dB[SPL]", "litre": "L", "liter": "L",
        "litres": "L", "liters": "L", "millilitre": "mL", "milliliter": "mL", "metre": "m", "meter": "m", "kilometre": "km",
        "kilometer": "km", "centimetre": "cm", "centimeter": "cm", "millimetre": "mm", "millimeter": "mm", "milligram": "mg",
        "microgram": "ug", "kelvin": "K", "degreescelsius": "Cel", "degreecelsius": "Cel", "degreesfahrenheit": "[degF]",
        "degreefahrenheit": "[degF]", "percentage": "%", "percents": "%", "mgdl": "mg/dL", "mmoll": "mmol/L",
    ]
}
