/// Records with a manufacturer's id. The database keeps one version of each, the highest from any hub.
///
/// The table `record` has the stored version, by person, type, source, device and the manufacturer's id. Its key enforces this. Lower versions
/// of other hubs wait in `superseded` (``SupersededRows``), and the highest of them comes forward when the stored one is withdrawn. This is
/// also true if they are the same reading with the same UUID, because each hub counts the versions of a day's total for itself.
enum RecordRows {
    /// Returns the statements that create the tables. The person is compared byte by byte, as in the other tables. Otherwise the key could not
    /// be used.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).record(
            subject text COLLATE "C" NOT NULL, type text NOT NULL, source_id text NOT NULL, device_key text NOT NULL,
            record_id text NOT NULL, version bigint NOT NULL, held uuid NOT NULL, PRIMARY KEY(subject, type, source_id, device_key, record_id));
        CREATE INDEX record_held ON \(schema).record(held);
        """
    }

    /// The condition for a new row and a record with the same identity.
    private static let isSame = """
        r.subject = i.subject AND r.type = i.type AND r.source_id = i.source_id AND r.device_key = coalesce(i.device_key, '')
            AND r.record_id = i.record_id
        """

    /// Returns the statements to run before rows are moved: new versions that are not higher become reports that the stored one represents,
    /// and so do lower stored ones. Hubs with the same version of a reading share its row.
    ///
    /// - Parameters:
    ///   - tables: the destinations of the new rows.
    ///   - byPerson: whether the table of samples is partitioned, so that a person leads to a partition.
    static func claims(into tables: [ReportTable], in schema: String, hub: Int32, byPerson: Bool) -> [String] {
        var statements = tables.flatMap { sameReading(into: $0, in: schema, hub: hub, byPerson: byPerson) }
        // `MATERIALIZED` as in ``RowMatch/with(_:)``.
        for table in tables {
            statements.append(
                SupersededRows.adding(
                    """
                    WITH i AS MATERIALIZED (\(new(table)))
                    SELECT i.uuid AS held, \(hub) AS hub, r.held AS by, i.subject, to_jsonb(i) AS content FROM i
                        JOIN \(schema).record r ON \(isSame) WHERE r.held <> i.uuid AND r.version >= i.record_version
                    """, place: table.name, in: schema))
        }
        let temporaries = Set(tables.map(\.temporary)).sorted()
        for incoming in temporaries {
            statements += [
                """
                DELETE FROM \(incoming) i USING \(schema).record r
                    WHERE \(isSame) AND r.held <> i.uuid AND r.version >= i.record_version
                """,
                """
                DELETE FROM \(incoming) WHERE uuid IN (SELECT uuid FROM (SELECT uuid, row_number() OVER (
                    PARTITION BY subject, type, source_id, coalesce(device_key, ''), record_id ORDER BY record_version DESC, uuid DESC)
                    AS place FROM \(incoming) WHERE record_id IS NOT NULL) o WHERE place > 1)
                """,
            ]
        }
        for table in tables {
            let isStored = RowMatch.isSame(
                "s", "r", column: "held", values: "SELECT r.held FROM i JOIN \(schema).record r ON \(isSame)",
                byPerson: byPerson && table.isPartitioned)
            statements += [
                SupersededRows.adding(
                    """
                    WITH i AS MATERIALIZED (\(new(table)))
                    SELECT s.uuid AS held, h.hub, i.uuid AS by, s.subject, \(SupersededRows.content("s")) AS content FROM i
                        JOIN \(schema).record r ON \(isSame) JOIN \(schema).\(table.name) s ON \(isStored), unnest(s.hubs) AS h(hub)
                        WHERE r.held <> i.uuid
                    """, place: table.name, in: schema),
                """
                WITH i AS MATERIALIZED (\(new(table))) DELETE FROM \(schema).\(table.name) s USING i, \(schema).record r
                    WHERE \(isSame) AND \(isStored) AND r.held <> i.uuid
                """,
            ]
        }
        for incoming in temporaries {
            statements += [
                """
                WITH i AS MATERIALIZED (SELECT * FROM \(incoming) WHERE record_id IS NOT NULL), moved AS (
                    UPDATE \(schema).superseded SET by = i.uuid FROM i JOIN \(schema).record r ON \(isSame)
                    WHERE superseded.by = r.held AND r.held <> i.uuid RETURNING superseded.by, superseded.subject)
                INSERT INTO touched SELECT by, subject FROM moved
                """,
                """
                INSERT INTO \(schema).record(subject, type, source_id, device_key, record_id, version, held)
                    SELECT subject, type, source_id, coalesce(device_key, ''), record_id, record_version, uuid FROM \(incoming)
                    WHERE record_id IS NOT NULL
                    ON CONFLICT(subject, type, source_id, device_key, record_id) DO UPDATE SET held = excluded.held, version =
                        CASE WHEN record.held = excluded.held THEN greatest(record.version, excluded.version) ELSE excluded.version END
                """,
            ]
        }
        return statements
    }

    /// Returns the statements for new rows whose reading is stored under another version. The lower one becomes a report that the higher one
    /// represents. A row of this hub alone gets the higher version.
    private static func sameReading(into table: ReportTable, in schema: String, hub: Int32, byPerson: Bool) -> [String] {
        let incoming = table.temporary
        let isSameRow = """
            i.record_id IS NOT NULL AND s.variant = i.variant
                AND \(RowMatch.isSame("s", "i", values: "SELECT uuid FROM \(incoming)", byPerson: byPerson && table.isPartitioned))
            """
        let isLower = "\(isSameRow) AND i.record_version < s.record_version AND NOT s.hubs @> ARRAY[\(hub)]"
        let isHigher = "\(isSameRow) AND i.record_version > s.record_version"
        let with = RowMatch.with(incoming)
        return [
            SupersededRows.adding(
                """
                WITH i AS MATERIALIZED (\(new(table)))
                SELECT i.uuid AS held, \(hub) AS hub, s.uuid AS by, i.subject, to_jsonb(i) AS content FROM i
                    JOIN \(schema).\(table.name) s ON \(isLower)
                """, place: table.name, in: schema),
            """
            DELETE FROM \(incoming) WHERE uuid IN (\(with) SELECT i.uuid FROM \(incoming) i JOIN \(schema).\(table.name) s ON \(isLower))
            """,
            SupersededRows.adding(
                """
                \(with) SELECT s.uuid AS held, h.hub, i.uuid AS by, s.subject, \(SupersededRows.content("s")) AS content
                    FROM \(incoming) i JOIN \(schema).\(table.name) s ON \(isHigher), unnest(s.hubs) AS h(hub) WHERE h.hub <> \(hub)
                """, place: table.name, in: schema),
            """
            \(with) DELETE FROM \(schema).\(table.name) s USING \(incoming) i WHERE \(isHigher) AND s.hubs <> ARRAY[\(hub)]
            """,
            """
            \(with) UPDATE \(schema).\(table.name) s SET record_version = i.record_version FROM \(incoming) i WHERE \(isHigher)
            """,
        ]
    }

    /// A SELECT of the new rows of a table that are records.
    private static func new(_ table: ReportTable) -> String { "SELECT * FROM (\(table.incoming)) n WHERE record_id IS NOT NULL" }
}
