import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The form for one measurement: its amounts, time, and time zone.
struct EntryForm {
    let call: PageCall
    /// The types of the amounts: one, or the two pressures of a blood pressure.
    let types: [SampleType]
    /// The reading that is corrected, as the fields first show it. `nil` for a new reading.
    var shown: Shown?
    private(set) var fields: FormFields

    /// The contents of the fields before a person changes them.
    struct Shown {
        var values: [String]
        var unit: Unit
        /// The time, with seconds if it has any.
        var at: String
        var zone: String
    }

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

    /// The fields, filled with the typed texts, or else with the corrected reading or the current time.
    var html: HTML {
        let texts = call.texts
        var html: HTML = ""
        for (index, type) in types.enumerated() {
            let name = Self.name(index)
            let label = types.count > 1 ? call.values.name(of: type) : texts("entry.value")
            html += fields.input(
                name, label, value: fields.typed(name) ?? shown?.values[index] ?? "",
                attributes: "inputmode=\"decimal\" autocomplete=\"off\" required\(HTML.choose(index == 0, " autofocus"))")
        }
        let units = call.values.choices(of: types[0]).map { (value: $0.code, text: call.values.symbol($0)) }
        if units.count > 1 {
            html += fields.select("unit", texts("chart.unit"), units, chosen: fields.typed("unit") ?? shown?.unit.code)
        } else if let only = units.first, !only.text.isEmpty {
            html += "<p class=\"note\">\(texts("chart.unit")): \(only.text)</p>"
        }
        let at = shown?.at ?? Self.minute(call.now, zone.offset(at: call.now))
        let seconds: HTML = at.count > Self.minuteLength ? " step=\"1\"" : ""
        html += fields.input(
            "at", texts("entry.at"), value: fields.typed("at") ?? at, type: "datetime-local", attributes: "required\(seconds)")
        html += fields.input(
            "zone", texts("chart.zone"), value: fields.typed("zone") ?? shown?.zone ?? zone.identifier, attributes: "required")
        return html
    }

    /// The number of characters of `2026-11-20T07:30`.
    static let minuteLength = 16

    /// A local time for a browser's field: `2026-11-20T07:30`.
    private static func minute(_ time: Instant, _ offset: ZoneOffset) -> String {
        String(time.wallTime(at: offset).description.prefix(minuteLength))
    }

    /// The entry as typed, or `nil` if a field is wrong. The errors are then shown with the fields.
    mutating func entry(of person: String) -> HandEntry? {
        let (unit, start) = (typedUnit(), typedStart())
        let amounts = typedNumerals().enumerated().compactMap { index, numeral in
            numeral.map { HandEntry.Amount(type: types[index], numeral: $0, unit: unit) }
        }
        guard fields.errors.isEmpty, let start else { return nil }
        return HandEntry(person: person, amounts: amounts, time: start.time, zone: start.zone)
    }

    /// The changes of the shown reading as typed, or `nil` if a field is wrong. A field that was not changed stays, with all digits and
    /// seconds that the form does not show.
    mutating func correction(of shown: Shown) -> Correction? {
        let unit = typedUnit()
        let isSame = unit == shown.unit
        let amounts = typedNumerals().enumerated().map { index, numeral -> Correction.Amount? in
            guard let numeral, !isSame || fields.typed(Self.name(index)) != shown.values[index] else { return nil }
            return Correction.Amount(numeral: numeral, unit: unit)
        }
        var correction = Correction(amounts: amounts)
        let at = fields.typed("at")
        let isSameTime =
            (at == shown.at || at == String(shown.at.prefix(Self.minuteLength))) && fields.typed("zone") == shown.zone
        if !isSameTime, let start = typedStart() { correction.start = (start.time, start.zone.offset(at: start.time)) }
        return fields.errors.isEmpty ? correction : nil
    }

    private mutating func typedUnit() -> Unit {
        let own = call.values.unit(of: types[0])
        guard let code = fields.typed("unit") else { return own }
        if let typed = try? Unit(written: code), (try? call.values.conversion(of: types[0], to: typed)) != nil { return typed }
        fields.errors["unit"] = "entry.wrong.unit"
        return own
    }

    private mutating func typedStart() -> (time: Instant, zone: TimeZoneRules)? {
        guard let zone = fields.typed("zone").map({ call.core.settings.zones($0) }) ?? call.core.settings.zone else {
            fields.errors["zone"] = "entry.wrong.zone"
            return nil
        }
        guard let time = fields.typed("at").flatMap({ Instant(iso8601: $0, zone: zone) }) else {
            fields.errors["at"] = "entry.wrong.at"
            return nil
        }
        // The form's time has no seconds, and a browser's clock may be a little ahead.
        guard time.microseconds <= call.now.microseconds + 60_000_000 else {
            fields.errors["at"] = "entry.wrong.future"
            return nil
        }
        return (time, zone)
    }

    /// The number of each field, or `nil` for a wrong one.
    private mutating func typedNumerals() -> [Numeral?] {
        types.indices.map { index in
            let numeral = fields.typed(Self.name(index)).flatMap(Self.numeral)
            if numeral == nil { fields.errors[Self.name(index)] = "entry.wrong.value" }
            return numeral
        }
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
