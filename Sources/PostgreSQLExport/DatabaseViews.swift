import HealthModel

/// The views of a schema: one for each type, such as `heart_rate` or `sleep_analysis`, for the points of series, such as
/// `workout_route_point`, for blood pressures, and for daily sums. ``SummaryViews`` has those of days and devices.
struct DatabaseViews {
    let schema: String

    /// A view: its name, statement and comment.
    struct View {
        let name: String
        let statement: String
        let comment: String
    }

    var all: [View] {
        SampleType.all.compactMap(view) + ObjectTable.all.compactMap(points) + SummaryViews(schema: schema).all
    }

    /// Columns after the original ones of the views, because replacing a view can only add columns at the end.
    private func more(_ stored: String = "held") -> String {
        """
        \(stored).start_time AT TIME ZONE 'UTC' + \(stored).zone_offset * interval '1 second' AS local_time, \(stored).metadata, \(stored).source_id,
            \(stored).device_key, ARRAY(SELECT coalesce(hub.name, hub.store) FROM \(schema).hub WHERE hub.id = ANY(\(stored).hubs)) AS hub_names
        """
    }

    /// Returns the view of a type, or `nil` if the type is the only one in its table.
    private func view(of type: SampleType) -> View? {
        let own: [String]
        let table: String
        switch type.kind {
        case .quantity: (own, table) = (["value", "unit"], "sample")
        case .category: (own, table) = (["value", "value_name"], "category")
        case .correlation, .scoredAssessment, .clinicalRecord:
            guard let known = ObjectTable.byKind[type.kind] else { return nil }
            (own, table) = (known.columns.map(\.name), known.name)
        default: return nil
        }
        let name = DatabaseSchema.snake(type.id)
        let unit =
            type.kind == .quantity
            ? " Values are in \(type.canonicalUnit.code), unless the target is configured for another unit." : ""
        let loinc = type.loinc.map { " LOINC \($0)." } ?? ""
        let comment = "\(type.displayName): samples of the type \(type.id).\(unit)\(loinc)"
        if type.id == "bloodPressure" { return View(name: name, statement: bloodPressure, comment: comment) }
        return View(
            name: name,
            statement: """
                CREATE OR REPLACE VIEW \(schema).\(name) AS
                SELECT start_time, end_time, \(own.joined(separator: ", ")), subject, source_name, device_name, uuid, \(more())
                FROM \(schema).\(table) held WHERE type = '\(type.id)'
                """, comment: comment)
    }

    /// The view of a cuff's two pressures in one packet, and of pressures that a source put into a correlation. Only the latter
    /// have their own UUID.
    private var bloodPressure: String {
        """
        CREATE OR REPLACE VIEW \(schema).blood_pressure AS
        SELECT held.start_time, held.end_time, ARRAY[held.uuid, other.uuid] AS objects, held.subject, held.source_name, held.device_name,
            NULL::uuid AS uuid, \(more()), held.value AS systolic, other.value AS diastolic, held.unit
        FROM \(schema).sample held JOIN \(schema).sample other ON other.start_time = held.start_time AND other.group_id = held.group_id
            AND other.subject = held.subject AND other.source_id = held.source_id
            AND other.device_key IS NOT DISTINCT FROM held.device_key AND other.type = 'bloodPressureDiastolic'
        WHERE held.type = 'bloodPressureSystolic' AND NOT EXISTS(
            SELECT 1 FROM \(schema).correlation WHERE correlation.objects @> ARRAY[held.uuid] AND correlation.type = 'bloodPressure'
                AND correlation.subject = held.subject)
        UNION ALL
        SELECT held.start_time, held.end_time, held.objects, held.subject, held.source_name, held.device_name, held.uuid, \(more()),
            systolic.value, diastolic.value, coalesce(systolic.unit, diastolic.unit)
        FROM \(schema).correlation held
        LEFT JOIN \(schema).sample systolic ON systolic.uuid = ANY(held.objects) AND systolic.type = 'bloodPressureSystolic'
            AND systolic.subject = held.subject
        LEFT JOIN \(schema).sample diastolic ON diastolic.uuid = ANY(held.objects) AND diastolic.type = 'bloodPressureDiastolic'
            AND diastolic.subject = held.subject
        WHERE held.type = 'bloodPressure'
        """
    }

    /// Returns the view with one row for each point of a series, or `nil`.
    private func points(of table: ObjectTable) -> View? {
        guard let statement = table.pointView(in: schema) else { return nil }
        return View(
            name: table.name + "_point", statement: statement, comment: "The points of each row of \(table.name), one a row.")
    }
}
