import HealthModel

/// The comments on tables and columns in the database, for users who find them there.
struct DatabaseComments {
    let schema: String
    let views: DatabaseViews

    private static let tables = [
        "version": "The steps by which these tables were made.",
        "self": "The identity of this database, by which a target knows that it is still the one that it filled.",
        "hub": "The Vitalgate stores that feed this database.",
        "sample": "One row for each quantity that at least one hub has.",
        "deletion": "Samples that a hub had and no longer has.",
        "progress": "The position of each target of each hub. Written with each delivery. Do not change it.",
        "record": "The version that is here of each record that its maker numbered: the highest that any hub brought.",
        "superseded":
            "Reports of hubs that a row of another report represents, such as a lower version of a record or the same measurement over another path. One comes forward when that row has gone.",
        "participant": "The people whose readings each hub has sent.",
        "erased": "Hashes of the people that were erased here. Readings of them are refused.",
        "lock": "The locks of programs that write here.",
        "day":
            "Statistics of each person, local day, and type, as 'vitalgate stats --own-zone' computes them. Written a moment after the readings. Do not change it.",
        "day_due": "The days whose statistics are to be computed again.",
        "source_order":
            "The orders in which sources count in the statistics of days, as 'vitalgate sources priority' has them on each hub. An empty subject or type means all of them.",
        "day_longest": "The longest duration of the samples of each person and type, in microseconds.",
        "study": "Studies. Change them with 'vitalgate fleet study'.",
        "study_hub":
            "The hubs of each study, by the identifiers of their stores as in the table hub. All of their people take part.",
        "study_participant":
            "The consents of people in each study. If a study has one of a person, only those that were not withdrawn make its readings visible.",
        "study_reader": "The roles that may read a study.",
        "type": "The types of samples: their names, units, and how their values add up.",
    ]

    /// The comments by column name, in any table.
    private static let columns = [
        "start_time": "When the reading was made, or began.",
        "end_time": "The end of the reading, or the start if the reading is instantaneous.",
        "uuid": "The sample's UUID, derived from the reading: the same on every hub, permanently.",
        "type": "The type of the sample, a name of the table type.",
        "value": "The value in the unit of the column unit, or the raw number of a category's case.",
        "unit": "The UCUM code of the value's unit.", "numeral": "The digits as they were measured.",
        "numeral_unit": "The UCUM code of the unit that was measured in.",
        "zone_offset": "Seconds that local time was ahead of UTC at the reading, or NULL if unknown.",
        "subject": "The UUID of the person, or 'unassigned' if the person is unknown.",
        "source_id": "The permanent id of the source.", "source_name": "The name of the source.",
        "source_version": "The version of the source.", "device_key": "The permanent key of the device.",
        "device_name": "The name of the device.", "device_manufacturer": "Who makes the device.",
        "device_model": "The maker's name for the kind of device.", "device_serial": "The number of this one device.",
        "time_origin":
            "Whose clock the time is: device, device-corrected (its clock is known to be off), or receipt (the hub's on arrival).",
        "received": "When it reached the hub.", "group_id": "The same for all samples of one packet.",
        "metadata": "What else is known of the reading, by HealthKit's keys.",
        "record_id": "The id that the source gave to the record. NULL for most.",
        "record_version": "The version of the record.",
        "identity": "The parts of the UUID that are not in the other columns. NULL for most.",
        "hubs": "The hubs that have it, by their numbers in the table hub.", "hub_names": "The hubs that have it, by name.",
        "local_time": "The local time of the start, or NULL if the zone is unknown.",
        "fields": "Fields without a column, with their names in NDJSON lines.",
        "more_points": "Columns of points beyond those of this table, with their units.",
        "systolic": "The systolic pressure.", "diastolic": "The diastolic pressure.",
        "objects": "The UUIDs of the samples that belong together.", "date": "The date, at the place of the reading.",
        "sum": "The sum of the values.", "count": "The number of added rows, or in progress the number of the last delivery.",
        "types": "The types that it measured.", "first_time": "The start of the first reading.",
        "last_time": "The start of the last reading.", "hours": "The number of hours in which at least one reading began.",
        "value_name": "The name of the case, such as asleepCore.", "point_count": "How many points there are.",
        "replaced_by": "The UUID of the sample that replaced it, after a repair or a higher version.",
        "told": "When this was written here.", "hub": "The hub, by its number in the table hub.",
        "requests": "The number of its requests without a mark, such as reports. Each number is used once.",
        "store": "The permanent id of the store.", "held": "The UUID of the sample.",
        "place": "The table that its columns are of, or in the table study the schema with a copy of its rows.",
        "study": "The study.", "consent": "The version of the consent form.", "role": "The role in this database.",
        "from_date": "The first local date whose readings are visible.",
        "until_date": "The last local date whose readings are visible, or NULL.",
        "withdrawn": "When the person withdrew the consent, or NULL.",
        "content": "Its columns.",
        "path_time": "Its start if it is the same measurement over another path, otherwise NULL.",
        "represents":
            "The hubs whose reports it represents, by their numbers in the table hub, or NULL (see the table superseded).",
        "variant": "0 if the UUID follows from the row, otherwise a hash of its content.",
        "print": "A hash of the content, by which a hub compares it. 0 if another program has changed the row.",
        "person": "The SHA-256 of the database's identity and the person's UUID.",
        "names": "The sources or devices by id or name, the first one first.",
        "average": "The average, for other types.", "minimum": "The lowest value.", "maximum": "The highest value.",
        "latest": "The value of the reading that began last.",
        "by": "The UUID of the row that represents it.", "version": "The version of the record in this database.",
        "target": "The target's name in the hub's configuration.", "anchor": "The hub's position in its change log.",
        "holder": "The machine and file that feed this target.", "holder_name": "The same for a person.",
        "aggregation": "How values over time become one: cumulative ones are added up, discrete ones averaged.",
        "loinc": "The LOINC code, if one fits every reading of the type.", "kind": "What its samples are, such as quantity.",
        "display_name": "The name for people.", "number": "Its number.", "made": "When the step was done.",
        "id": "Its number, or in the table self the database's identity.", "name": "Its name.",
        "is_only": "There is one row.", "time": "When the point was measured.",
        "seconds": "Seconds after the start, one for each point.",
        "workout": "The UUID of the workout that it belongs to.", "routes": "The UUIDs of its routes, rows of workout_route.",
        "duration": "In seconds.", "total_distance": "In metres.", "events": "Pauses, laps and the like, with their times.",
        "activities": "The parts that it is made of.", "statistics": "Sums and averages by type, with their units.",
        "latitude": "In degrees.", "longitude": "In degrees.", "altitude": "In metres.", "horizontal_accuracy": "In metres.",
        "vertical_accuracy": "In metres.", "course": "In degrees from north.", "speed": "In metres a second.",
        "active_energy_burned": "In kcal.", "active_energy_burned_goal": "In kcal.", "move_time": "In minutes.",
        "move_time_goal": "In minutes.", "exercise_time": "In minutes.", "exercise_time_goal": "In minutes.",
        "sampling_frequency": "In Hz.", "average_heart_rate": "In /min.", "heart_rate": "In /min.", "voltage": "In uV.",
        "resource": "The FHIR resource, to be asked.", "octets": "The bytes as received.", "xml": "The document's text.",
    ]

    /// Returns the comment of a column that has no entry.
    private static func comment(_ column: String) -> String {
        columns[column] ?? "The sample's \(column.replacing("_", with: " ")), as docs/reference/objects.md has it."
    }

    /// The statements that comment tables, views and all their columns, as the database lists them.
    var statements: [String] {
        var comments = Self.tables
        for table in ObjectTable.all {
            comments[table.name] = "One row for each \(table.name.replacing("_", with: " ")) that at least one hub has."
        }
        let named =
            comments.sorted { $0.key < $1.key }.map {
                "COMMENT ON TABLE \(schema).\($0.key) IS \(DatabaseSchema.literal($0.value))"
            }
            + views.all.map { "COMMENT ON VIEW \(schema).\($0.name) IS \(DatabaseSchema.literal($0.comment))" }
        let known = Set(comments.keys).union(views.all.map(\.name)).sorted().map { DatabaseSchema.literal($0) }.joined(
            separator: ", ")
        // One statement for each column without a comment, so that a user's own comment stays.
        var cases = Self.columns.sorted { $0.key < $1.key }.map {
            "WHEN \(DatabaseSchema.literal($0.key)) THEN \(DatabaseSchema.literal($0.value))"
        }
        for table in ObjectTable.all {
            for column in table.columns where Self.columns[column.name] == nil {
                cases.append("WHEN '\(column.name)' THEN \(DatabaseSchema.literal(Self.comment(column.name)))")
            }
        }
        return named + [
            """
            DO $comments$ DECLARE each record; BEGIN
                FOR each IN SELECT relname, attname, CASE attname \(cases.joined(separator: " ")) ELSE 'As in the table below it.' END AS said
                    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                    WHERE relnamespace = '\(schema)'::regnamespace AND relkind IN ('r', 'p', 'v') AND relname IN (\(known))
                        AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL
                LOOP EXECUTE format('COMMENT ON COLUMN %I.%I.%I IS %L', '\(schema)', each.relname, each.attname, each.said); END LOOP;
            END $comments$
            """
        ]
    }
}
