/// Joins readings of a device without a clock that two hubs received. Each hub identifies the reading by its own receive time,
/// and so by another UUID.
///
/// Two rows are joined only if they are unambiguous: the same person, type, source, device, digits and unit, both dated by
/// receipt, from different hubs, at most two seconds apart, and without another reading of that device and type within ten
/// seconds of either. In a denser stream, a reading that one hub missed cannot be distinguished from one that both received, and
/// both rows stay.
///
/// The first row stays, and represents the other hub's report (``SupersededRows``).
enum ReceiptRows {
    static let window = "interval '2 seconds'"
    private static let apart = "interval '10 seconds'"

    /// The condition for rows of one device and type. A time leads to them by the key.
    private static func isSameSeries(_ one: String, _ other: String) -> String {
        """
        \(isSameType(one, other)) AND \(one).subject = \(other).subject AND \(one).source_id = \(other).source_id
            AND \(one).device_key = \(other).device_key
        """
    }

    /// The condition for rows of one type that keeps the planner from the index of types, which leads to all times. Without statistics it
    /// could choose it.
    static func isSameType(_ one: String, _ other: String) -> String { "\(one).type || '' = \(other).type" }

    /// Returns the statements to run before rows of the temporary table `incoming` are moved, if other hubs also write to the
    /// database.
    ///
    /// - Parameter isSame: The condition for two rows of the same sample.
    static func joins(in schema: String, hub: Int32, isSame: (String, String) -> String) -> [String] {
        // `MATERIALIZED` as in ``RowMatch/with(_:)``.
        [
            SupersededRows.adding(
                """
                WITH i AS MATERIALIZED (SELECT *, start_time - \(window) AS low, start_time + \(window) AS high FROM incoming
                    WHERE time_origin = 'receipt' AND device_key IS NOT NULL)
                SELECT i.uuid AS held, \(hub) AS hub, s.uuid AS by, i.subject, to_jsonb(i) - 'low' - 'high' AS content FROM i JOIN \(schema).sample s
                    ON \(isSameSeries("s", "i")) AND s.start_time BETWEEN i.low AND i.high
                    AND s.end_time - s.start_time = i.end_time - i.start_time AND s.numeral = i.numeral
                    AND s.numeral_unit = i.numeral_unit AND s.time_origin = 'receipt' AND s.uuid <> i.uuid
                    AND NOT s.hubs @> ARRAY[\(hub)]
                WHERE NOT EXISTS(SELECT 1 FROM \(schema).sample o WHERE \(isSameSeries("o", "s")) AND o.uuid <> s.uuid
                        AND o.start_time BETWEEN s.start_time - \(apart) AND s.start_time + \(apart))
                    AND NOT EXISTS(SELECT 1 FROM incoming o WHERE \(isSameSeries("o", "i")) AND o.uuid <> i.uuid
                        AND o.start_time BETWEEN i.start_time - \(apart) AND i.start_time + \(apart))
                    AND NOT EXISTS(SELECT 1 FROM \(schema).superseded k WHERE k.by = s.uuid AND k.hub = \(hub))
                    AND NOT EXISTS(SELECT 1 FROM \(schema).sample k WHERE \(isSame("k", "i")))
                """, place: "sample", in: schema),
            """
            DELETE FROM incoming i USING \(schema).superseded k WHERE k.held = i.uuid AND k.hub = \(hub) AND i.time_origin = 'receipt'
                AND EXISTS(SELECT 1 FROM \(schema).sample s WHERE s.uuid = k.by AND s.subject = i.subject)
            """,
        ]
    }
}
