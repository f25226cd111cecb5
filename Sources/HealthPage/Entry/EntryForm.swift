import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The form for one measurement: its amounts, time, and time zone.
struct EntryForm {
    let call: PageCall
    /// The types of the amounts: one, or the two pressures of a blood pressure.
    let types: [SampleType]
    private(set) var fields: FormFields

    /// The pressures that a blood pressure is entered as.
    static let pressures = [SampleType.bloodPressureSystolic, .bloodPressureDiastolic]

    /// Creates a form for a type, or `nil` if readings of the type cannot be typed.
    init?(of type: SampleType, _ call: PageCall) {
        if type.id == BloodPressure.type {
            self.init(types: Self.pressures, call)
        } else if type.kind == .quantity {
            self.init(types: [type], call)
        } else {
            return nil
        }
    }

    init(types: [SampleType], _ call: PageCall) {
        (self.types, self.call, fields) = (types, call, FormFields(call: call))
    }

    /// The zone of typed times: the chosen one, or the hub's.
    private var zone: TimeZoneRules { call.zone }

    private static func name(_ index: Int) -> String { index == 0 ? "value" : "value\(index + 1)" }

    /// The fields, filled with what was typed, or else with these values and this time.
    func html(values: [String] = [], unit: String? = nil, time: Instant? = nil) -> HTML {
        let texts = call.texts
        var html: HTML = ""
        for (index, type) in types.enumerated() {
            let name = Self.name(index)
            let label = types.count > 1 ? call.values.name(of: type) : texts("entry.value")
            html += fields.input(
                name, label, value: fields.typed(name) ?? (index < values.count ? values[index] : ""),
                attributes: "inputmode=\"decimal\" autocomplete=\"off\" required")
        }
        let units = call.values.choices(of: types[0]).map { (value: $0.code, text: call.values.symbol($0)) }
        if units.count > 1 {
            html += fields.select("unit", texts("chart.unit"), units, chosen: fields.typed("unit") ?? unit)
        } else if let only = units.first, !only.text.isEmpty {
            html += "<p class=\"note\">\(texts("chart.unit")): \(only.text)</p>"
        }
        let shown = (time ?? call.now).wallTime(at: zone.offset(at: time ?? call.now)).description.prefix(16)
        html += fields.input(
            "at", texts("entry.at"), value: fields.typed("at") ?? String(shown), type: "datetime-local", attributes: "required")
        html += fields.input("zone", texts("chart.zone"), value: fields.typed("zone") ?? zone.identifier, attributes: "required")
        return html
    }

    /// The entry as typed, or `nil` if a field is wrong. The errors are then shown with the fields.
    mutating func entry(of subject: String) -> HandEntry? {
        var unit = call.values.unit(of: types[0])
        if let code = fields.typed("unit") {
            if let typed = try? Unit(written: code), (try? call.values.conversion(of: types[0], to: typed)) != nil {
                unit = typed
            } else {
                fields.errors["unit"] = "entry.wrong.unit"
            }
        }
        let zone = fields.typed("zone").map { call.core.settings.zones($0) } ?? call.core.settings.zone
        if zone == nil { fields.errors["zone"] = "entry.wrong.zone" }
        var time: Instant?
        if let zone {
            time = fields.typed("at").flatMap { Instant(iso8601: $0, zone: zone) }
            if time == nil { fields.errors["at"] = "entry.wrong.at" }
            // The form's time has no seconds, and a browser's clock may be a little ahead.
            if let typed = time, typed.microseconds > call.now.microseconds + 60_000_000 {
                fields.errors["at"] = "entry.wrong.future"
            }
        }
        var amounts: [HandEntry.Amount] = []
        for (index, type) in types.enumerated() {
            let name = Self.name(index)
            if let numeral = fields.typed(name).flatMap(Self.numeral) {
                amounts.append(HandEntry.Amount(type: type, numeral: numeral, unit: unit))
            } else {
                fields.errors[name] = "entry.wrong.value"
            }
        }
        guard fields.errors.isEmpty, let zone, let time else { return nil }
        return HandEntry(subject: subject, amounts: amounts, time: time, zone: zone)
    }

    mutating func fail(_ field: String, _ key: String) { fields.errors[field] = key }

    /// A number with the decimal sign of the page's language. The other sign is accepted before one or two digits: before three it
    /// could separate thousands, as in `10,000` or, in German, `10.000`.
    static func numeral(_ text: String) -> Numeral? {
        let text = text.filter { $0 != " " }
        guard let sign = text.first(where: { $0 == "." || $0 == "," }) else { return try? Numeral(text) }
        let isDecimal = String(sign) == PageLocale.decimal
        if isDecimal, sign == "." { return try? Numeral(text) }
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "." || $0 == "," }
        guard parts.count == 2, !parts[0].isEmpty, isDecimal ? !parts[1].isEmpty : (1...2).contains(parts[1].count) else {
            return nil
        }
        return try? Numeral(parts.joined(separator: "."))
    }
}
