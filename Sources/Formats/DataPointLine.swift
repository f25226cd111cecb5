import HealthModel

/// A sample as an Open mHealth data point, with its header, on one line.
///
/// {"header":{"id":"…","schema_id":{"namespace":"omh","name":"heart-rate","version":"2.0"},…},"body":{"heart_rate":{"value":72,"unit":"beats/min"},…}}
///
/// Supports only types whose schemas are completely published, without those of IEEE 1752.1 (openmhealth/schemas@36078a8).
package final class DataPointLine {
    private struct Schema {
        var name: String
        var version: String
        var member: String
        /// UCUM codes with the schema's unit names. The first is used if the value was measured in none of them.
        var units: [(code: String, text: String)]
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

    /// The schema of workouts, which have no single value: `physical-activity`. Sleep stages have no schema, since the schemas describe
    /// whole nights.
    private static let activity = Schema(name: "physical-activity", version: "1.2", member: "", units: [], isInterval: true)

    private static func schema(of type: SampleType) -> Schema? { type.kind == .workout ? activity : schemas[type.id] }

    /// The kinds that include types with schemas.
    package static let kinds: Set<SampleKind> = [.quantity, .workout]

    private var times = ZonedTimeText()

    /// A writer without state so far.
    package init() {}

    package static func knows(_ type: SampleType) -> Bool { schema(of: type) != nil }

    /// Appends the data point of an added sample, or `{"deleted":"UUID",…}` as in ``ChangeLine``, with a newline.
    ///
    /// - Returns: False for a type without a schema, for which nothing is appended.
    package func append(_ change: SampleChange, to bytes: inout [UInt8]) -> Bool {
        switch change {
        case .added(let stored):
            guard let schema = Self.schema(of: stored.sample.origin.type) else { return false }
            append(stored.sample, schema, to: &bytes)
        case .deleted(let deletion):
            guard Self.knows(deletion.type) else { return false }
            bytes +=
                JSONObject([
                    "deleted": deletion.uuid.description, "type": deletion.type.id, "replacedBy": deletion.replacedBy,
                ]).line
        }
        return true
    }

    private func append(_ sample: Sample, _ schema: Schema, to bytes: inout [UInt8]) {
        var name = JSONObject(["namespace": "omh"])
        name.set("name", schema.name)
        name.set("version", schema.version)
        let provenance = JSONObject([
            "source_name": sample.origin.source.name, "source_data_point_id": sample.identity.description,
            "modality": ifPresent(Self.modality(of: sample)),
        ])
        let header = JSONObject([
            "id": sample.identity.description, "creation_date_time": RawJSON(time(sample.received, nil)), "schema_id": name,
            "acquisition_provenance": provenance, "user_id": sample.origin.person,
        ])
        var body = JSONObject()
        if sample.origin.kind == .workout {
            Self.set(workout: sample, in: &body)
        } else {
            body.set(schema.member, raw: value(of: sample, schema))
        }
        var frame = JSONObject()
        if schema.isInterval || sample.start != sample.end {
            frame.set(
                "time_interval",
                JSONObject([
                    "start_date_time": RawJSON(time(sample.start, sample.zone)),
                    "end_date_time": RawJSON(time(sample.end, sample.zone)),
                ]))
        } else {
            frame.set("date_time", raw: time(sample.start, sample.zone))
        }
        body.set("effective_time_frame", frame)
        bytes += JSONObject(["header": header, "body": body]).line
    }

    /// Sets the activity, distance and energy of a workout. The distance keeps its received unit if the schema allows that.
    private static func set(workout sample: Sample, in body: inout JSONObject) {
        body.set("activity_name", sample.origin.type.caseName(of: sample.value) ?? sample.numeral.text)
        guard let reported = try? sample.body?.decoded(as: Workout.self) else { return }
        let lengths = [("m", "m"), ("km", "km"), ("[mi_i]", "mi"), ("[yd_i]", "yd")]
        if let bytes = reported.distance.flatMap({ amount($0, lengths) }) { body.set("distance", raw: bytes) }
        let energy = reported.statistics.first { $0.type == "activeEnergyBurned" }?.sum
        if let bytes = energy.flatMap({ amount($0, [("kcal", "kcal")]) }) { body.set("kcal_burned", raw: bytes) }
    }

    /// The amount in one of the units, or `nil` if it cannot be converted.
    private static func amount(_ amount: Amount, _ units: [(code: String, text: String)]) -> [UInt8]? {
        var object = JSONObject()
        if let known = units.first(where: { $0.code == amount.unit?.code }), amount.numeral.isPlain {
            object.set(["value": RawJSON(amount.numeral.text), "unit": known.text])
        } else {
            guard let unit = try? Unit(ucum: units[0].code), let value = amount.value(in: unit) else { return nil }
            object.set(["value": value, "unit": units[0].text])
        }
        return object.closed
    }

    /// The modality: self-reported, sensed, or `nil` if unknown.
    private static func modality(of sample: Sample) -> String? {
        if case .boolean(true)? = sample.metadata?["wasUserEntered"] { return "self-reported" }
        return ["ble.", "serial."].contains(where: sample.origin.source.id.hasPrefix) ? "sensed" : nil
    }

    private func time(_ instant: Instant, _ zone: ZoneOffset?) -> [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        times.append(instant, zone, to: &bytes)
        return bytes + [UInt8(ascii: "\"")]
    }

    /// The value with its received unit and digits, if the schema allows that unit.
    private func value(of sample: Sample, _ schema: Schema) -> [UInt8] {
        var object = JSONObject()
        if let known = schema.units.first(where: { $0.code == sample.unit.code }), sample.numeral.isPlain {
            object.set(["value": RawJSON(sample.numeral.text), "unit": known.text])
        } else {
            // The first unit is the type's own.
            object.set(["value": sample.value, "unit": schema.units[0].text])
        }
        return object.closed
    }
}
