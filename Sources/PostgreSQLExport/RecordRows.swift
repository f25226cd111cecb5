/// Records with a manufacturer's id. The database keeps one version of each, the highest from any hub.
///
/// - `record`: the stored version, by person, type, source, device and the manufacturer's id. Its key enforces this.
/// - `superseded`: samples of a hub that the database does not contain because another hub sent a higher version.
///
/// If the highest version is withdrawn, nothing is known of the record any more. A lower version that a hub still has is then
/// missing, and a comparison sends it again.
enum RecordRows {
    /// Returns the statements that create the tables. The person is compared byte by byte, as in the other tables. Otherwise the key could not
    /// be used.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).record(
            subject text COLLATE "C" NOT NULL, type text NOT NULL, source_id text NOT NULL, device_key text NOT NULL,
            record_id text NOT NULL, version bigint NOT NULL, held uuid NOT NULL, PRIMARY KEY(subject, type, source_id, device_key, record_id));
        CREATE INDEX record_held ON \(schema).record(held);
        CREATE TABLE \(schema).superseded(
            held uuid NOT NULL, hub integer NOT NULL REFERENCES \(schema).hub, by uuid NOT NULL, PRIMARY KEY(held, hub));
        CREATE INDEX superseded_by ON \(schema).superseded(by);
        """
    }

    /// The condition for a new row and a record with the same identity.
    private static let isSame = """
        r.subject = i.subject AND r.type = i.type AND r.source_id = i.source_id AND r.device_key = coalesce(i.device_key, '')
            AND r.record_id = i.record_id
        """

    /// Returns the statements to run before rows are moved: new versions that are not higher are dropped, and lower stored ones
    /// are removed.
    ///
    /// - Parameters:
    ///   - incoming: the temporary table.
    ///   - tables: the destinations of its rows.
    ///   - bySubject: whether the table of samples is partitioned, so that a person leads to a partition.
    static func claims(
        of incoming: String, into tables: [String], in schema: String, hub: Int32, bySubject: Bool
    ) -> [String] {
        // `MATERIALIZED` as in ``ReceiptRows``.
        let new = "WITH i AS MATERIALIZED (SELECT * FROM \(incoming) WHERE record_id IS NOT NULL)"
        var statements = [
            """
            \(new) INSERT INTO \(schema).superseded(held, hub, by) SELECT i.uuid, \(hub), r.held FROM i JOIN \(schema).record r
                ON \(isSame) WHERE r.held <> i.uuid AND r.version >= i.record_version
                ON CONFLICT(held, hub) DO UPDATE SET by = excluded.by
            """,
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
        for table in tables {
            let isHeld = "s.uuid = r.held" + (bySubject ? " AND s.subject = i.subject" : "")
            statements.append(
                """
                \(new) INSERT INTO \(schema).superseded(held, hub, by) SELECT s.uuid, h.hub, i.uuid FROM i
                    JOIN \(schema).record r ON \(isSame) JOIN \(schema).\(table) s ON \(isHeld), unnest(s.hubs) AS h(hub)
                    WHERE r.held <> i.uuid ON CONFLICT(held, hub) DO UPDATE SET by = excluded.by
                """)
            statements.append(
                """
                \(new) DELETE FROM \(schema).\(table) s USING i, \(schema).record r
                    WHERE \(isSame) AND \(isHeld) AND r.held <> i.uuid
                """)
        }
        statements += [
            """
            \(new) UPDATE \(schema).superseded SET by = i.uuid FROM i JOIN \(schema).record r ON \(isSame)
                WHERE superseded.by = r.held AND r.held <> i.uuid
            """,
            """
            INSERT INTO \(schema).record(subject, type, source_id, device_key, record_id, version, held)
                SELECT subject, type, source_id, coalesce(device_key, ''), record_id, record_version, uuid FROM \(incoming)
                WHERE record_id IS NOT NULL
                ON CONFLICT(subject, type, source_id, device_key, record_id)
                DO UPDATE SET version = excluded.version, held = excluded.held
            """,
            "DELETE FROM \(schema).superseded USING \(incoming) i WHERE superseded.held = i.uuid AND superseded.hub = \(hub)",
        ]
        return statements
    }

    /// Returns the statements to run after the rows in the temporary table `gone` were removed. Records whose highest version is
    /// gone are forgotten.
    static func releases(of tables: [String], in schema: String, hub: Int32, bySubject: Bool) -> [String] {
        let isThere = tables.map {
            "EXISTS(SELECT 1 FROM \(schema).\($0) WHERE uuid = gone.uuid\(bySubject ? " AND subject = gone.subject" : ""))"
        }.joined(separator: " OR ")
        return [
            "DELETE FROM \(schema).superseded USING gone WHERE superseded.held = gone.uuid AND superseded.hub = \(hub)",
            "DELETE FROM \(schema).superseded USING gone WHERE superseded.by = gone.uuid AND NOT (\(isThere))",
            "DELETE FROM \(schema).record USING gone WHERE record.held = gone.uuid AND NOT (\(isThere))",
        ]
    }
}
