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
    private let identities: PreparedBatch.Identities

    /// The number of rows from which a look at the range of their UUIDs comes first.
    private static let minimumRange = 64

    /// The rows of samples with different UUIDs.
    init(
        _ samples: [Sample], _ identities: PreparedBatch.Identities, _ rows: CopyRows, schema: String, hub: Int32, byPerson: Bool
    ) {
        (self.samples, self.identities, self.rows) = (samples, identities, rows)
        (self.schema, self.hub, self.byPerson) = (schema, hub, byPerson)
    }

    /// Whether no row is there that one of them could be joined with. Only true if this is certain.
    ///
    /// - Parameter amongOthers: whether other hubs write to the database.
    func areNew(_ connection: PostgreSQLConnection, amongOthers: Bool) throws(DeliveryError) -> Bool {
        var areFree = try isRangeFree(connection)
        if !areFree { areFree = try areUUIDsFree(connection) }
        guard areFree else { return false }
        return amongOthers ? try areApart(connection) : true
    }

    /// Whether no row is there from the lowest to the highest UUID, so that none of them has to be looked up. UUIDs begin with the time, so this
    /// is usual for a hub that is alone.
    private func isRangeFree(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        guard identities.count >= Self.minimumRange else { return false }
        let (first, last) = (identities.range.lowerBound.description, identities.range.upperBound.description)
        return try !exists("BETWEEN $1::uuid AND $2::uuid", connection, [first, last])
    }

    /// Whether no row has one of the UUIDs.
    private func areUUIDsFree(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Bool {
        // An array leads to the index. A join with it can begin with all samples, because EXISTS favors plans that begin fast. The planner
        // would estimate each element of an array that it knows.
        try !exists("= ANY(ARRAY(SELECT unnest($1::uuid[])))", connection, binary: identities.array)
    }

    /// Whether there is a row whose UUID meets a condition.
    private func exists(
        _ condition: String, _ connection: PostgreSQLConnection, _ values: [String] = [], binary: [UInt8]? = nil
    ) throws(DeliveryError) -> Bool {
        var (values, condition) = (values, condition)
        if byPerson {
            values.append(Self.literal(Set(samples.map(\.origin.person)).sorted()))
            condition += " AND subject = ANY($\(values.count + (binary == nil ? 0 : 1))::text[])"
        }
        let statement = "SELECT EXISTS(SELECT 1 FROM \(schema).sample WHERE uuid \(condition))"
        // A plan for any person would lock all partitions.
        let isPrepared = binary == nil && !byPerson
        let found =
            if isPrepared { try connection.runPrepared(statement, values) } else {
                try connection.run(statement, values, binary: binary)
            }
        return found != [["f"]]
    }

    /// Adds them.
    ///
    /// - Parameter amongDeletions: whether a hub has deleted samples, which may have come back.
    func add(_ connection: PostgreSQLConnection, amongDeletions: Bool) throws(DeliveryError) {
        var next = samples[...]
        // The server writes the first rows while the next are encoded.
        let columns = rows.optional.columns + ["hubs"]
        try connection.copy(into: "\(schema).sample(\(columns.joined(separator: ", ")))") { row in
            guard let sample = next.popFirst() else { return false }
            rows.append(sample, hub: hub, to: &row)
            return !next.isEmpty
        }
        guard amongDeletions else { return }
        try connection.run(
            "DELETE FROM \(schema).deletion WHERE uuid = ANY($1::uuid[]) AND hub = \(hub)", binary: identities.array)
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
            ], binary: identities.array)
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
