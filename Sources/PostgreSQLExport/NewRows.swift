import HealthModel
import Pipeline

/// Quantities of a hub that are copied straight into the table of samples if none of them is there yet. This takes half the time of a
/// temporary table.
struct NewRows {
    private let samples: [Sample]
    private let rows: CopyRows
    private let schema: String
    private let hub: Int32
    /// Whether the table is partitioned, so that a person leads to a partition.
    private let byPerson: Bool
    /// Their UUIDs as an array.
    private let uuids: [UInt8]

    /// The rows of samples with different UUIDs. `nil` unless all are quantities without a record of a manufacturer.
    init?(_ samples: [Sample], _ rows: CopyRows, schema: String, hub: Int32, byPerson: Bool) {
        guard !samples.isEmpty, samples.allSatisfy({ $0.origin.kind == .quantity && $0.record == nil }) else { return nil }
        (self.samples, self.rows, self.schema, self.hub, self.byPerson) = (samples, rows, schema, hub, byPerson)
        uuids = CopyRow.array(of: samples.map(\.identity))
    }

    /// Whether no row is there that one of them could be joined with. Only true if this is certain.
    ///
    /// - Parameter amongOthers: whether other hubs write to the database.
    func areNew(_ connection: PostgreSQLConnection, amongOthers: Bool) throws(DeliveryError) -> Bool {
        // An array leads to the index. A join with it can begin with all samples, because EXISTS favors plans that begin fast.
        let isThere = try connection.run(
            """
            SELECT EXISTS(SELECT 1 FROM \(schema).sample WHERE uuid = ANY($1::uuid[])\(byPerson ? " AND subject = ANY($2::text[])" : ""))
            """, byPerson ? [Self.literal(Set(samples.map(\.origin.person)).sorted())] : [], binary: uuids)
        guard isThere == [["f"]] else { return false }
        return amongOthers ? try areApart(connection) : true
    }

    /// Adds them.
    ///
    /// - Parameter amongDeletions: whether a hub has deleted samples, which may have come back.
    func add(_ connection: PostgreSQLConnection, amongDeletions: Bool) throws(DeliveryError) {
        var next = samples[...]
        // The server writes the first rows while the next are encoded.
        try connection.copy(into: "\(schema).sample(\(CopyRows.columns.joined(separator: ", ")), hubs)") { row in
            guard let sample = next.popFirst() else { return false }
            rows.append(sample, hub: hub, to: &row)
            return !next.isEmpty
        }
        guard amongDeletions else { return }
        try connection.run("DELETE FROM \(schema).deletion WHERE uuid = ANY($1::uuid[]) AND hub = \(hub)", binary: uuids)
    }

    /// Whether no other hub has a reading near one that is dated by its receipt (``ReceiptRows``).
    private func areApart(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        var spans: [Series: ClosedRange<Int64>] = [:]
        for sample in samples where sample.timeOrigin == .receipt {
            let series = Series(type: sample.origin.type.id, person: sample.origin.person)
            let start = sample.start.microseconds
            let span = spans[series] ?? start...start
            spans[series] = min(span.lowerBound, start)...max(span.upperBound, start)
        }
        guard !spans.isEmpty else { return true }
        let all = Array(spans)
        func times(_ bound: (ClosedRange<Int64>) -> Int64) -> String {
            "{" + all.map { "\(bound($0.value))" }.joined(separator: ",") + "}"
        }
        let isNear = try connection.run(
            Self.nearness(in: schema, hub: hub),
            [
                Self.literal(all.map(\.key.type)), Self.literal(all.map(\.key.person)), times(\.lowerBound), times(\.upperBound),
            ], binary: uuids)
        return isNear == [["f"]]
    }

    /// The statement that looks for readings of other hubs near some spans. Its values are arrays: the UUIDs of the new readings, and
    /// types, persons, first and last times of the spans in microseconds since 1970.
    static func nearness(in schema: String, hub: Int32) -> String {
        func time(_ column: String) -> String { "'epoch'::timestamptz + \(column) * interval '1 microsecond'" }
        // The window is computed in a subselect (OFFSET 0). PostgreSQL adds intervals in the session's time zone, so it would not send the
        // sum to the server of a foreign partition.
        return """
            SELECT EXISTS(SELECT 1 FROM (SELECT type, subject,
                    \(time("first")) - \(ReceiptRows.window) AS low, \(time("last")) + \(ReceiptRows.window) AS high
                    FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS u(type, subject, first, last) OFFSET 0) i
                    CROSS JOIN LATERAL (SELECT 1 FROM \(schema).sample s WHERE \(ReceiptRows.isSameType("s", "i"))
                    AND s.subject = i.subject AND s.start_time BETWEEN i.low AND i.high AND NOT s.hubs @> ARRAY[\(hub)] LIMIT 1) near)
                OR EXISTS(SELECT 1 FROM \(schema).superseded WHERE held = ANY($1::uuid[]) AND hub = \(hub))
            """
    }

    private struct Series: Hashable {
        let type: String
        let person: String
    }

    /// Returns texts as an array literal.
    static func literal(_ texts: [String]) -> String {
        "{" + texts.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }.joined(separator: ",")
            + "}"
    }
}
