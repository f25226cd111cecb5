/// Reports of hubs that a row of another report represents: a lower version of a record (``RecordRows``), the same reading with another
/// receive time (``ReceiptRows``), content that does not give its UUID (``ConflictRows``), or the same measurement over another path
/// (``PathRows``).
///
/// A report keeps its content, so that it comes forward when the row that represents it has gone. The table `superseded` has, for each:
///
/// - `stored`, `hub`: the UUID under which the hub knows it, and the hub.
/// - `by`: the row that represents it.
/// - `person`, `place`, `content`: the person, the table, and its columns.
/// - `path_time`: its start if it is the same measurement over another path, otherwise NULL.
///
/// The column `represents` of each row lists the hubs of these reports. A reader of one of these hubs may see the row.
enum SupersededRows {
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).superseded(
            held uuid NOT NULL, hub integer NOT NULL REFERENCES \(schema).hub, by uuid NOT NULL, subject text COLLATE "C" NOT NULL,
            place text NOT NULL, content jsonb NOT NULL, path_time timestamptz, PRIMARY KEY(held, hub));
        CREATE INDEX superseded_by ON \(schema).superseded(by);
        CREATE INDEX superseded_hub ON \(schema).superseded(hub);
        CREATE INDEX superseded_subject ON \(schema).superseded(subject);
        CREATE INDEX superseded_path ON \(schema).superseded(subject, path_time) WHERE path_time IS NOT NULL;
        """
    }

    /// The temporary tables: the rows whose reports have changed, and the reports that come forward.
    static let temporaries = """
        CREATE TEMP TABLE touched(uuid uuid NOT NULL, subject text COLLATE "C" NOT NULL) ON COMMIT DELETE ROWS;
        CREATE TEMP TABLE heir(
            was uuid NOT NULL, held uuid NOT NULL, variant bigint NOT NULL, subject text COLLATE "C" NOT NULL, place text NOT NULL,
            content jsonb NOT NULL) ON COMMIT DELETE ROWS
        """

    /// Returns the statement that adds reports.
    ///
    /// - Parameters:
    ///   - rows: A SELECT of `stored`, `hub`, `by`, `person` and `content`.
    ///   - place: The name of the table that the content has the form of.
    static func adding(_ rows: String, place: String, in schema: String) -> String {
        """
        WITH new AS MATERIALIZED (\(rows)), entered AS (
            INSERT INTO \(schema).superseded(held, hub, by, subject, place, content)
                SELECT DISTINCT ON (held, hub) held, hub, by, subject, '\(place)', content FROM new
                ON CONFLICT(held, hub) DO UPDATE SET by = excluded.by, place = excluded.place, content = excluded.content,
                    path_time = NULL
                RETURNING by, subject)
        INSERT INTO touched SELECT by, subject FROM entered
        """
    }

    /// The content of a row that is there.
    static func content(_ row: String) -> String { "to_jsonb(\(row)) - 'hubs' - 'represents'" }

    /// Returns the statements that forget reports of this hub that are among the new rows again.
    static func returning(to tables: [ReportTable], in schema: String, hub: Int32) -> [String] {
        Set(tables.map(\.temporary)).sorted().map { incoming in
            """
            WITH back AS (DELETE FROM \(schema).superseded k USING \(incoming) i WHERE k.held = i.uuid AND k.hub = \(hub)
                RETURNING k.by, k.subject)
            INSERT INTO touched SELECT by, subject FROM back
            """
        }
    }

    /// Only the table of samples is partitioned.
    private static func isSame(
        _ row: String, _ other: String, column: String = "uuid", _ table: ReportTable, _ byPerson: Bool
    ) -> String {
        RowMatch.isSame(row, other, column: column, byPerson: byPerson && table.isPartitioned)
    }

    /// Returns the statements that write which hubs the changed rows represent.
    static func representing(in tables: [ReportTable], _ schema: String, byPerson: Bool) -> [String] {
        tables.map { table in
            """
            WITH k AS MATERIALIZED (
                SELECT t.uuid, t.subject, (SELECT array_agg(DISTINCT hub ORDER BY hub) FROM \(schema).superseded WHERE by = t.uuid) AS hubs
                FROM (SELECT DISTINCT uuid, subject FROM touched) t)
            UPDATE \(schema).\(table.name) s SET represents = k.hubs FROM k
                WHERE \(isSame("s", "k", table, byPerson)) AND s.represents IS DISTINCT FROM k.hubs
            """
        }
    }

    /// Returns the statements to run after the rows in the temporary table `deleted` were removed. If nothing is left of a row that represents
    /// reports, the highest version of them comes forward, and represents the others.
    static func releases(of tables: [ReportTable], in schema: String, hub: Int32, byPerson: Bool) -> [String] {
        let isThere = tables.map {
            "EXISTS(SELECT 1 FROM \(schema).\($0.name) s WHERE \(isSame("s", "gone", $0, byPerson)))"
        }.joined(separator: " OR ")
        let variant = "(k.content->>'variant')::bigint"
        // Another hub can have a lower version of the same reading.
        let isNext = """
            k.held = heir.held AND k.by = heir.was AND \(variant) = heir.variant
                AND k.content->>'record_version' IS NOT DISTINCT FROM heir.content->>'record_version'
            """
        let hubs = "ARRAY(SELECT k.hub FROM \(schema).superseded k WHERE \(isNext) ORDER BY 1)"
        return [
            """
            WITH withdrawn AS (DELETE FROM \(schema).superseded k USING gone WHERE k.held = gone.uuid AND k.hub = \(hub)
                RETURNING k.by, k.subject)
            INSERT INTO touched SELECT by, subject FROM withdrawn
            """,
            """
            INSERT INTO heir(was, held, variant, subject, place, content)
                \(RowMatch.with("gone")) SELECT DISTINCT ON (k.by) k.by, k.held, \(variant), k.subject, k.place, k.content
                FROM gone JOIN \(schema).superseded k ON k.by = gone.uuid WHERE NOT (\(isThere))
                ORDER BY k.by, (k.content->>'record_version')::bigint DESC NULLS LAST, \(variant) <> 0, k.held, k.hub
            """,
        ]
            + tables.flatMap { table in
                // Another hub can have the row itself.
                [
                    """
                    \(RowMatch.with("heir")) UPDATE \(schema).\(table.name) s SET hubs = ARRAY(SELECT DISTINCT unnest(s.hubs || \(hubs)) ORDER BY 1)
                        FROM heir WHERE heir.place = '\(table.name)' AND s.variant = heir.variant
                            AND \(isSame("s", "heir", column: "held", table, byPerson))
                    """,
                    """
                    \(RowMatch.with("heir")) INSERT INTO \(schema).\(table.name)(\(table.columns.joined(separator: ", ")), hubs)
                        SELECT \(table.columns.map { "r.\($0)" }.joined(separator: ", ")), \(hubs)
                        FROM heir, jsonb_populate_record(NULL::\(schema).\(table.name), heir.content) r
                        WHERE heir.place = '\(table.name)' AND NOT EXISTS(SELECT 1 FROM \(schema).\(table.name) s
                            WHERE s.variant = heir.variant AND \(isSame("s", "heir", column: "held", table, byPerson)))
                    """,
                ]
            } + [
                "DELETE FROM \(schema).superseded k USING heir WHERE \(isNext)",
                """
                WITH moved AS (UPDATE \(schema).superseded k SET by = heir.held FROM heir WHERE k.by = heir.was RETURNING k.by, k.subject)
                INSERT INTO touched SELECT by, subject FROM moved
                """,
                """
                UPDATE \(schema).record SET held = heir.held, version = (heir.content->>'record_version')::bigint FROM heir
                    WHERE record.held = heir.was AND heir.content->>'record_id' IS NOT NULL
                """,
                "\(RowMatch.with("gone")) DELETE FROM \(schema).record USING gone WHERE record.held = gone.uuid AND NOT (\(isThere))",
            ]
    }
}
