import HealthModel
import Pipeline

/// The Home Assistant sensor for a quantity type: its device class and one of the units that the class accepts, spelled as Home
/// Assistant does.
///
/// Source: `DEVICE_CLASS_UNITS` and `DEVICE_CLASS_STATE_CLASSES` of Home Assistant's `components/sensor/const.py`, releases
/// 2025.4 and 2026.11.
struct SensorKind {
    /// How values over time are related.
    enum StateClass: String {
        /// A value at one moment.
        case measurement
        /// A sum since the last midnight.
        case total
    }

    var deviceClass: String?
    /// The UCUM code and Home Assistant's text for it. `nil` for a plain count.
    var unit: (code: String, text: String)?
    var stateClass: StateClass
    /// Whether it describes the device and not the person.
    var isDiagnostic = false

    /// Device classes and their units, by the canonical unit of their types. The first unit is the default.
    private static let classes: [String: (name: String, units: [(code: String, text: String)])] = [
        "Cel": ("temperature", [("Cel", "°C"), ("[degF]", "°F"), ("K", "K")]),
        "m": ("distance", lengths), "cm": ("distance", [("cm", "cm")] + lengths),
        "kg": ("weight", [("kg", "kg")] + masses), "g": ("weight", masses + [("kg", "kg")]),
        "mg/dL": ("blood_glucose_concentration", [("mg/dL", "mg/dL"), ("mmol/L", "mmol/L")]),
        "mm[Hg]": ("pressure", [("mm[Hg]", "mmHg"), ("kPa", "kPa"), ("hPa", "hPa")]),
        "hPa": ("atmospheric_pressure", [("hPa", "hPa"), ("kPa", "kPa"), ("mm[Hg]", "mmHg")]),
        "kcal": ("energy", [("kcal", "kcal"), ("kJ", "kJ"), ("J", "J"), ("kW.h", "kWh"), ("W.h", "Wh")]),
        "W": ("power", [("W", "W"), ("kW", "kW")]),
        "m/s": ("speed", [("m/s", "m/s"), ("km/h", "km/h"), ("[mi_i]/h", "mph")]),
        "min": ("duration", times), "ms": ("duration", [("ms", "ms")] + times),
        "mL": ("volume", [("mL", "mL"), ("L", "L")]), "dB[SPL]": ("sound_pressure", [("dB[SPL]", "dB")]),
        "[ppm]": ("carbon_dioxide", [("[ppm]", "ppm")]), "ug/m3": ("pm25", [("ug/m3", "%g/m³")]),
    ]
    private static let lengths = [
        ("m", "m"), ("km", "km"), ("cm", "cm"), ("mm", "mm"), ("[mi_i]", "mi"), ("[ft_i]", "ft"), ("[in_i]", "in"),
        ("[yd_i]", "yd"),
    ]
    private static let masses = [("g", "g"), ("mg", "mg"), ("[lb_av]", "lb"), ("[oz_av]", "oz"), ("[stone_av]", "st")]
    private static let times = [("min", "min"), ("s", "s"), ("h", "h")]

    /// Types whose unit does not determine the class.
    private static let percentages = ["batteryLevel": "battery", "relativeHumidity": "humidity"]

    /// Display texts of units without a class.
    private static let texts = [
        "kg/m2": "kg/m²", "mL/kg/min": "mL/(kg·min)", "Ohm": "Ω", "[iU]": "IU", "kcal/kg/h": "kcal/(kg·h)",
    ]

    /// - Parameter version: Home Assistant's version.
    /// - Throws: ``DeliveryError`` if the type's class does not accept the requested unit.
    init(_ type: SampleType, _ context: ExportContext, _ version: HomeAssistantVersion) throws(DeliveryError) {
        stateClass = type.aggregation == .cumulative ? .total : .measurement
        let wanted = context.unit(of: type).code
        if let known = Self.classes[type.canonicalUnit.code] {
            deviceClass = known.name
            let code = wanted == type.canonicalUnit.code ? known.units[0].code : wanted
            guard let found = known.units.first(where: { $0.code == code }) else {
                let codes = known.units.map(\.code).joined(separator: ", ")
                throw DeliveryError(
                    .unfit, "units.\(type.id): Home Assistant's \(known.name) is in one of \(codes), not in \(code)")
            }
            unit = (found.code, found.text.replacing("%", with: version.micro))
        } else if let name = Self.percentages[type.id] {
            (deviceClass, unit, isDiagnostic) = (name, ("%", "%"), type == .batteryLevel)
        } else {
            unit = Self.text(of: wanted, type).map { (wanted, $0) }
        }
    }

    /// Returns the number of useful decimal places, or `nil` if it is not known.
    func precision(of type: SampleType) -> Int? {
        guard let code = unit?.code else { return type.aggregation == .cumulative ? 0 : nil }
        if code == "%" { return deviceClass != nil || type.id == "oxygenSaturation" ? 0 : 1 }
        if code.hasPrefix("1{") { return 0 }
        return Self.precisions[code]
    }

    private static let precisions: [String: Int] = [
        "/min": 0, "mm[Hg]": 0, "kPa": 1, "hPa": 1, "Cel": 1, "[degF]": 1, "K": 1, "kg": 2, "[lb_av]": 1, "[stone_av]": 2, "g": 1,
        "[oz_av]": 1, "mg": 0, "ug": 0, "m": 2, "cm": 1, "mm": 0, "km": 2, "[mi_i]": 2, "[ft_i]": 1, "[in_i]": 1, "[yd_i]": 1,
        "mg/dL": 0, "mmol/L": 1, "kcal": 0, "kJ": 0, "kW.h": 2, "W.h": 0, "J": 0, "W": 0, "kW": 2, "m/s": 2, "km/h": 1,
        "[mi_i]/h": 1, "min": 0, "s": 1, "h": 1, "ms": 0, "mL": 0, "L": 2, "dB[SPL]": 0, "[ppm]": 0, "ug/m3": 1, "kg/m2": 1,
        "Ohm": 0, "mL/kg/min": 1,
    ]

    private static func text(of code: String, _ type: SampleType) -> String? {
        if code == "/min" { return type.id.contains("eart") ? "bpm" : type.id == "cyclingCadence" ? "rpm" : "/min" }
        if code == "1" { return nil }
        // A counted thing, such as 1{steps}.
        if code.hasPrefix("1{"), code.hasSuffix("}") { return String(code.dropFirst(2).dropLast()) }
        return texts[code] ?? code
    }
}
