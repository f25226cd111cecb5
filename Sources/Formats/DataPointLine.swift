import HealthModel

/// A sample as a data point of Open mHealth, with its header, on one line.
///
///     {"header":{"id":"…","schema_id":{"namespace":"omh","name":"heart-rate","version":"2.0"},…},"body":{"heart_rate":{"value":72,"unit":"beats/min"},…}}
///
/// Only types whose schemas are published whole, without those of IEEE 1752.1 (openmhealth/schemas@36078a8).
public final class DataPointLine {
    /// How a type is said.
    private struct Schema {
        var name: String
        var version: String
        /// The member that has the value.
        var member: String
        /// UCUM's codes with the schema's words for them; the first where it was measured in none of them.
        var units: [(code: String, text: String)]
        /// Whether it happens over a time.
        var isInterval = false
    }

    private static let schemas: [String: Schema] = [
        "heartRate": Schema(name: "heart-rate", version: "2.0", member: "heart_rate", units: [("/min", "beats/min")]),
        "bodyMass": Schema(
            name: "body-weight", version: "2.0", member: "body_weight",
            units: [("kg", "kg"), ("g", "g"), ("[lb_av]", "lb"), ("[oz_av]", "oz")]),
        "bloodGlucose": Schema(
            name: "blood-glucose", version: "3.0", member: "blood_glucose", units: [("mg/dL", "mg/dL"), ("mmol/L", "mmol/L")]),
        "bodyTemperature": Schema(
            name: "body-temperature", version: "3.0", member: "body_temperature",
            units: [("Cel", "C"), ("[degF]", "F"), ("K", "K")]),
        "oxygenSaturation": Schema(
            name: "oxygen-saturation", version: "2.0", member: "oxygen_saturation", units: [("%", "%")]),
        "stepCount": Schema(
            name: "step-count", version: "3.0", member: "step_count", units: [("1{steps}", "steps")], isInterval: true),
    ]

    /// Workouts, which have no single value: `physical-activity`. A stage of sleep is none of the schemas, which speak of whole nights.
    private static let activity = Schema(name: "physical-activity", version: "1.2", member: "", units: [], isInterval: true)

    private static func schema(of type: SampleType) -> Schema? { type.kind == .workout ? activity : schemas[type.id] }

    /// The kinds among which there are types with schemas.
    public static let kinds: Set<SampleKind> = [.quantity, .workout]

    private var times = ZonedTimeText()

    /// Knows nothing yet.
    public init() {}

    /// Whether there is a schema for the type.
    public static func knows(_ type: SampleType) -> Bool { schema(of: type) != nil }

    /// Appends an added sample's data point, or `{"deleted":"UUID",…}` as ``ChangeLine`` has it, with a newline.
    ///
    /// - Returns: false for a type that has no schema; nothing was appended then.
    public func append(_ change: SampleChange, to octets: inout [UInt8]) -> Bool {
        switch change {
        case .added(let stored):
            guard let schema = Self.schema(of: stored.sample.origin.type) else { return false }
            append(stored.sample, schema, to: &octets)
        case .deleted(let deletion):
            guard Self.knows(deletion.type) else { return false }
            var object = JSONObject()
            object.set("deleted", deletion.uuid.description)
            object.set("type", deletion.type.id)
            object.set("replacedBy", deletion.replacedBy)
            octets += object.line
        }
        return true
    }

    private func append(_ sample: Sample, _ schema: Schema, to octets: inout [UInt8]) {
        var name = JSONObject()
        name.set("namespace", "omh")
        name.set("name", schema.name)
        name.set("version", schema.version)
        var provenance = JSONObject()
        provenance.set("source_name", sample.origin.source.name)
        provenance.set("source_data_point_id", sample.identity.description)
        if let modality = Self.modality(of: sample) { provenance.set("modality", modality) }
        var header = JSONObject()
        header.set("id", sample.identity.description)
        header.set("creation_date_time", raw: time(sample.received, nil))
        header.set("schema_id", name)
        header.set("acquisition_provenance", provenance)
        header.set("user_id", sample.origin.subject)
        var body = JSONObject()
        if sample.origin.kind == .workout {
            Self.set(workout: sample, in: &body)
        } else {
            body.set(schema.member, raw: value(of: sample, schema))
        }
        var frame = JSONObject()
        if schema.isInterval || sample.start != sample.end {
            var interval = JSONObject()
            interval.set("start_date_time", raw: time(sample.start, sample.zone))
            interval.set("end_date_time", raw: time(sample.end, sample.zone))
            frame.set("time_interval", interval)
        } else {
            frame.set("date_time", raw: time(sample.start, sample.zone))
        }
        body.set("effective_time_frame", frame)
        var point = JSONObject()
        point.set("header", header)
        point.set("body", body)
        octets += point.line
    }

    /// What it was, how far it went, what it took; the distance in the unit it was told in, where the schema takes that.
    private static func set(workout sample: Sample, in body: inout JSONObject) {
        body.set("activity_name", sample.origin.type.caseName(of: sample.value) ?? sample.numeral.text)
        guard let told = try? sample.body?.decoded(as: Workout.self) else { return }
        let distance = told.totalDistance ?? told.statistics.first { $0.type.hasPrefix("distance") && $0.sum != nil }?.sum
        let lengths = [("m", "m"), ("km", "km"), ("[mi_i]", "mi"), ("[yd_i]", "yd")]
        if let octets = distance.flatMap({ amount($0, lengths) }) { body.set("distance", raw: octets) }
        let energy = told.statistics.first { $0.type == "activeEnergyBurned" }?.sum
        if let octets = energy.flatMap({ amount($0, [("kcal", "kcal")]) }) { body.set("kcal_burned", raw: octets) }
    }

    /// `nil` where it cannot be in any of the units.
    private static func amount(_ amount: Amount, _ units: [(code: String, text: String)]) -> [UInt8]? {
        var object = JSONObject()
        if let known = units.first(where: { $0.code == amount.unit?.code }), amount.numeral.isPlain {
            object.set("value", raw: Array(amount.numeral.text.utf8))
            object.set("unit", known.text)
        } else {
            guard let unit = try? Unit(ucum: units[0].code), let value = amount.value(in: unit) else { return nil }
            object.set("value", value)
            object.set("unit", units[0].text)
        }
        return object.closed
    }

    /// A person's own word, or a sensor's; where nobody says, neither.
    private static func modality(of sample: Sample) -> String? {
        if case .boolean(true)? = sample.metadata?["wasUserEntered"] { return "self-reported" }
        return ["ble.", "serial."].contains(where: sample.origin.source.id.hasPrefix) ? "sensed" : nil
    }

    private func time(_ instant: Instant, _ zone: ZoneOffset?) -> [UInt8] {
        var octets = [UInt8(ascii: "\"")]
        times.append(instant, zone, to: &octets)
        return octets + [UInt8(ascii: "\"")]
    }

    /// In the unit measured in, with its digits, where the schema takes that.
    private func value(of sample: Sample, _ schema: Schema) -> [UInt8] {
        var object = JSONObject()
        if let known = schema.units.first(where: { $0.code == sample.unit.code }), sample.numeral.isPlain {
            object.set("value", raw: Array(sample.numeral.text.utf8))
            object.set("unit", known.text)
        } else {
            // The first is the type's own.
            object.set("value", sample.value)
            object.set("unit", schema.units[0].text)
        }
        return object.closed
    }
}
