import HealthModel

/// The table of a kind of sample other than quantities: its columns and their values, taken from ``ObjectRows``.
///
/// The object of an NDJSON line arrives as one `jsonb` column, `fields`. The database extracts the columns from it, and the rest
/// stays in `fields`. No data is lost.
struct ObjectTable {
    /// A column with its SQL type and its value, in terms of the temporary table ``ObjectRows/temporary``.
    struct Column {
        let name: String
        let type: String
        let source: String

        init(_ name: String, _ type: String, _ source: String) { (self.name, self.type, self.source) = (name, type, source) }
    }

    let kind: SampleKind
    let columns: [Column]
    /// The columns of its points by their names in bodies, in the order of `p1`, `p2`, …
    let points: [(reported: String, name: String)]

    /// The table's name, such as `workout_route`.
    var name: String { DatabaseSchema.snake(kind.name) }

    private init(_ kind: SampleKind, _ columns: [Column], points: [(reported: String, name: String)] = []) {
        self.kind = kind
        self.points = points
        let numbers = points.enumerated().map { index, point in
            Column(point.name, "double precision[]", "p\(index + 1)")
        }
        self.columns = columns + numbers + (points.isEmpty ? [] : [Column("more_points", "jsonb", "more")])
    }

    /// A table for each kind except quantities.
    static let all: [ObjectTable] = SampleKind.allCases.compactMap(ObjectTable.init)
    static let byKind: [SampleKind: ObjectTable] = Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0) })

    /// Exhaustive, so that each kind has a table here.
    private init?(_ kind: SampleKind) {
        switch kind {
        case .quantity: return nil
        case .category: self.init(kind, [Self.number("value"), Column("value_name", "text", "name")])
        case .correlation: self.init(kind, [Column("objects", "uuid[] NOT NULL", Self.list("objects") + "::uuid[]")])
        case .workout: self.init(kind, Self.workout)
        case .activitySummary: self.init(kind, Self.summary)
        case .workoutRoute:
            self.init(
                kind,
                [Self.text("workout", as: "uuid"), Self.text("name"), Self.count, Self.rest("workout", "name", "points")],
                points: Self.pairs(WorkoutRoute.columns))
        case .heartbeatSeries: self.init(kind, [Self.count, Self.rest("points")], points: Self.pairs(HeartbeatSeries.columns))
        case .electrocardiogram:
            self.init(kind, Self.electrocardiogram, points: Self.pairs([Electrocardiogram.voltage]))
        case .audiogram: self.init(kind, [Self.json("sensitivity"), Self.rest("sensitivity")])
        case .visionPrescription: self.init(kind, Self.prescription)
        case .stateOfMind: self.init(kind, Self.stateOfMind)
        case .medicationDoseEvent: self.init(kind, Self.dose)
        case .scoredAssessment:
            self.init(
                kind,
                [Self.number("score"), Self.text("risk"), Self.texts("answers"), Self.rest("score", "risk", "answers")])
        case .clinicalRecord: self.init(kind, Self.record)
        case .document: self.init(kind, Self.document)
        }
    }

    private static let workout: [Column] = [
        Column("activity", "text", "name"), number("activity_number"),
        Column("duration", "double precision", "(fields->>'duration')::double precision"),
        totalDistance, json("events"), json("activities"), json("statistics"),
        Column("routes", "uuid[] NOT NULL", list("routes") + "::uuid[]"),
        rest("activity", "duration", "events", "activities", "statistics", "routes"),
    ]

    /// Exports since iOS 16 have the statistics of a distance instead of a total (`Workout.distance`).
    private static let totalDistance = Column(
        "total_distance", "double precision",
        """
        coalesce(CASE WHEN fields#>>'{totalDistance,unit}' = 'm' THEN (fields#>>'{totalDistance,value}')::double precision END,
            (SELECT (value->>'sum')::double precision FROM jsonb_each(nullif(fields->'statistics', 'null'::jsonb))
                WHERE key LIKE 'distance%' AND value->>'unit' = 'm' AND value ? 'sum' ORDER BY key LIMIT 1))
        """)

    private static let summary: [Column] = [
        text("date", as: "date"),
        figure("active_energy_burned", "activeEnergyBurned", in: "kcal"),
        figure("active_energy_burned_goal", "activeEnergyBurnedGoal", in: "kcal"),
        figure("move_time", "moveTime", in: "min"), figure("move_time_goal", "moveTimeGoal", in: "min"),
        figure("exercise_time", "exerciseTime", in: "min"), figure("exercise_time_goal", "exerciseTimeGoal", in: "min"),
        Column("stand_hours", "double precision", "(fields->>'standHours')::double precision"),
        Column("stand_hours_goal", "double precision", "(fields->>'standHoursGoal')::double precision"),
        Column("derived", "boolean", "(fields->>'derived')::boolean"), rest("date", "derived"),
    ]

    private static let electrocardiogram: [Column] = [
        Column("classification", "text", "name"), number("classification_number"),
        figure("average_heart_rate", "averageHeartRate", in: "/min"),
        figure("sampling_frequency", "samplingFrequency", in: "Hz"), text("lead"), text("symptomsStatus"), texts("symptoms"),
        count, rest("classification", "lead", "symptomsStatus", "symptoms", "points"),
    ]

    private static let prescription: [Column] = [
        Column("prescription", "text", "name"), number("prescription_number"), text("expiration", as: "timestamptz"),
        text("brand"), json("leftEye"), json("rightEye"), texts("attachments"),
        rest("prescription", "expiration", "brand", "leftEye", "rightEye", "attachments"),
    ]

    private static let stateOfMind: [Column] = [
        Column("valence", "double precision NOT NULL", "number"), text("stateOfMindKind"), texts("labels"),
        texts("associations"), rest("valence", "stateOfMindKind", "labels", "associations"),
    ]

    private static let dose: [Column] = [
        Column("status", "text", "name"), number("status_number"), text("medication"), json("codes"), text("scheduleType"),
        text("scheduled", as: "timestamptz"),
        Column("dose", "double precision", "(fields#>>'{dose,value}')::double precision"),
        Column("scheduled_dose", "double precision", "(fields#>>'{scheduledDose,value}')::double precision"),
        Column("dose_unit", "text", "coalesce(fields#>>'{dose,unit}', fields#>>'{scheduledDose,unit}', fields->>'doseUnit')"),
        rest("status", "medication", "codes", "scheduleType", "scheduled"),
    ]

    private static let record: [Column] = [
        text("displayName"), Column("resource_type", "text", "fields#>>'{fhir,resourceType}'"),
        Column("identifier", "text", "fields#>>'{fhir,identifier}'"), Column("fhir_version", "text", "fields#>>'{fhir,version}'"),
        Column("source_url", "text", "fields#>>'{fhir,sourceURL}'"),
        Column("last_updated", "text", "fields#>>'{fhir,lastUpdated}'"), json("dates"), json("codes"),
        Column("resource", "jsonb", "resource"), Column("octets", "bytea", "octets"),
        rest("displayName", "fhir", "dates", "codes"),
    ]

    private static let document: [Column] = [
        text("title"), text("patient"), text("custodian"), text("author"),
        Column("valid", "boolean", "(fields->>'valid')::boolean"),
        text("reason"), Column("xml", "text", "xml"), Column("octets", "bytea", "octets"),
        rest("title", "patient", "custodian", "author", "valid", "reason"),
    ]

    // MARK: Columns

    /// The sample's number, or NULL if it is not an integer.
    private static func number(_ name: String) -> Column {
        Column(name, "bigint", "CASE WHEN number = trunc(number) AND abs(number) < 9e18 THEN number::bigint END")
    }

    private static func text(_ field: String, as type: String = "text") -> Column {
        Column(DatabaseSchema.snake(field), type, "(fields->>'\(field)')::\(type)")
    }

    private static func json(_ field: String) -> Column {
        Column(DatabaseSchema.snake(field), "jsonb", "nullif(fields->'\(field)', 'null'::jsonb)")
    }

    private static func texts(_ field: String) -> Column { Column(DatabaseSchema.snake(field), "text[] NOT NULL", list(field)) }

    /// The value of an amount in this unit. An amount in another unit stays only in `fields`.
    private static func figure(_ name: String, _ field: String, in unit: String) -> Column {
        let value = "(fields#>>'{\(field),value}')::double precision"
        return Column(name, "double precision", "CASE WHEN fields#>>'{\(field),unit}' = '\(unit)' THEN \(value) END")
    }

    private static let count = Column("point_count", "bigint", "(fields->>'points')::bigint")

    private static func list(_ field: String) -> String { "ARRAY(SELECT jsonb_array_elements_text(fields->'\(field)'))" }

    /// The fields without their own column.
    private static func rest(_ fields: String...) -> Column {
        let names = fields.map { "'\($0)'" }.joined(separator: ",")
        return Column("fields", "jsonb NOT NULL", "fields - ARRAY[\(names)]")
    }

    /// Times are in seconds in the table.
    private static func pairs(_ columns: [Points.Column]) -> [(reported: String, name: String)] {
        columns.map { column in
            (reported: column.name, name: column.name == Points.time ? "seconds" : DatabaseSchema.snake(column.name))
        }
    }

    // MARK: Statements

    /// Returns the statement that creates the table in a schema.
    func creation(in schema: String) -> String {
        let own = columns.map { "\($0.name) \($0.type)," }.joined(separator: " ")
        return """
            CREATE TABLE \(schema).\(name)(
                start_time timestamptz NOT NULL, uuid uuid NOT NULL, end_time timestamptz NOT NULL, type text NOT NULL,
                \(own)
                \(ObjectRows.tail), hubs integer[] NOT NULL, \(ObjectRows.record), represents integer[], PRIMARY KEY(uuid, variant));
            CREATE INDEX \(name)_start_time ON \(schema).\(name)(start_time);
            CREATE INDEX \(name)_subject ON \(schema).\(name)(subject, start_time);
            """
    }

    /// The names of its columns, except `hubs`.
    var names: [String] { CopyRows.head + columns.map(\.name) + CopyRows.tail }
    /// The sources of these columns.
    private var sources: [String] { CopyRows.head + columns.map(\.source) + CopyRows.tail }

    /// A SELECT of the new rows in the form of the table.
    var incoming: String {
        "SELECT \(zip(sources, names).map { "\($0) AS \($1)" }.joined(separator: ", ")) FROM incoming_object WHERE kind = '\(kind.name)'"
    }

    /// Returns the statement that moves new rows into the table. An existing row only gets the hub added.
    ///
    /// - Parameter rewriting: whether an existing row is replaced, if no other hub has it.
    func taking(in schema: String, hub: Int32, rewriting: Bool) -> String {
        let added = "hubs = CASE WHEN held.hubs @> ARRAY[\(hub)] THEN held.hubs ELSE held.hubs || \(hub) END"
        let written =
            names.filter { !["uuid", "variant"].contains($0) }.map {
                "\($0) = CASE WHEN held.hubs = ARRAY[\(hub)] THEN excluded.\($0) ELSE held.\($0) END"
            } + [added]
        let update =
            rewriting ? written.joined(separator: ", ") : "hubs = held.hubs || \(hub) WHERE NOT held.hubs @> ARRAY[\(hub)]"
        return """
            INSERT INTO \(schema).\(name) AS held(\(names.joined(separator: ", ")), hubs)
                SELECT \(sources.joined(separator: ", ")), ARRAY[\(hub)] FROM incoming_object WHERE kind = '\(kind.name)'
                ON CONFLICT(uuid, variant) DO UPDATE SET \(update)
            """
    }

    /// Returns the view with one row for each point of a series, or `nil`.
    func pointView(in schema: String) -> String? {
        guard !points.isEmpty else { return nil }
        let names = points.map(\.name)
        let arrays = names.map { "held.\($0)" }.joined(separator: ", ")
        let list = names.joined(separator: ", ")
        // The voltages of an ECG are evenly spaced.
        let seconds = names.contains("seconds") ? "point.seconds" : "(point.number - 1) / held.sampling_frequency"
        let shown = names.filter { $0 != "seconds" }.map { "point.\($0)" }.joined(separator: ", ")
        return """
            CREATE OR REPLACE VIEW \(schema).\(name)_point AS
            SELECT held.uuid, held.subject, point.number, held.start_time + \(seconds) * interval '1 second' AS time, \(shown)
            FROM \(schema).\(name) held, unnest(\(arrays)) WITH ORDINALITY AS point(\(list), number)
            """
    }
}
