import HealthModel

/// Rows that have the same UUID and other content, such as a forged one. They stay apart.
///
/// The UUID of most readings follows from their content, and their `variant` is 0. Another program can compute the UUIDs of a repaired sample and
/// of a manufacturer's record in advance, and send other content under them. The variant of such a row is a hash of its content, and it is part
/// of the identity of a row. So the first to come occupies nobody's UUID. If a row whose UUID follows from its content is there, it represents
/// the others (``SupersededRows``).
enum ConflictRows {
    static func variant(of sample: Sample) -> Int64 {
        guard sample.record != nil || sample.identityOrdinal() == nil else { return 0 }
        let origin = sample.origin
        let parts = [
            origin.person, origin.type.id, origin.source.id, origin.device?.key ?? "", "\(sample.start.microseconds)",
            "\(sample.end.microseconds)", sample.numeral.text, sample.unit.code,
        ]
        // The length of each part separates them.
        let digest = Digest.sha256(Array(parts.map { "\($0.utf8.count) \($0)" }.joined().utf8))
        let hash = digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return hash == 0 ? 1 : hash
    }

    /// Returns the statements to run before rows are moved.
    ///
    /// - Parameter variants: Whether some of the new rows, and whether all of them, have a variant.
    static func statements(
        _ table: ReportTable, in schema: String, hub: Int32, byPerson: Bool, variants: (some: Bool, all: Bool)
    ) -> [String] {
        let incoming = table.temporary
        let with = RowMatch.with(incoming)
        let isSame = RowMatch.isSame("s", "i", values: "SELECT uuid FROM \(incoming)", byPerson: byPerson && table.isPartitioned)
        var statements: [String] = []
        if variants.some {
            statements += [
                SupersededRows.adding(
                    """
                    WITH i AS MATERIALIZED (\(table.incoming))
                    SELECT i.uuid AS held, \(hub) AS hub, s.uuid AS by, i.subject, to_jsonb(i) AS content FROM i
                        JOIN \(schema).\(table.name) s ON \(isSame) AND s.variant = 0 WHERE i.variant <> 0
                    """, place: table.name, in: schema),
                """
                DELETE FROM \(incoming) WHERE variant <> 0 AND uuid IN (
                    \(with) SELECT i.uuid FROM \(incoming) i JOIN \(schema).\(table.name) s ON \(isSame) AND s.variant = 0)
                """,
                // The hub's own earlier content.
                """
                \(with) DELETE FROM \(schema).\(table.name) s USING \(incoming) i
                    WHERE \(isSame) AND s.variant <> i.variant AND s.hubs = ARRAY[\(hub)]
                """,
                """
                \(with) UPDATE \(schema).\(table.name) s SET hubs = array_remove(s.hubs, \(hub)) FROM \(incoming) i
                    WHERE \(isSame) AND s.variant <> i.variant AND s.hubs @> ARRAY[\(hub)]
                """,
            ]
        }
        if !variants.all {
            statements += [
                SupersededRows.adding(
                    """
                    \(with) SELECT s.uuid AS held, h.hub, i.uuid AS by, s.subject, \(SupersededRows.content("s")) AS content
                        FROM \(incoming) i JOIN \(schema).\(table.name) s ON \(isSame) AND s.variant <> 0, unnest(s.hubs) AS h(hub)
                        WHERE i.variant = 0
                    """, place: table.name, in: schema),
                """
                \(with) DELETE FROM \(schema).\(table.name) s USING \(incoming) i WHERE \(isSame) AND s.variant <> 0 AND i.variant = 0
                """,
            ]
        }
        return statements
    }
}
