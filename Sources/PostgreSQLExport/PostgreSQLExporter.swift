import HealthModel
import Pipeline

/// Writes samples into tables of a PostgreSQL database, which any number of hubs may feed: the same reading from two of them is one row, which is
/// there as long as one of them has it.
///
/// A batch is one transaction: COPY into temporary tables, from there into ours. What was delivered before, and comes again, changes nothing.
public final class PostgreSQLExporter: ComparableExporter {
    /// A transaction each: small enough to be over soon, and for memory.
    public let batchLimit = 8192
    private let settings: PostgreSQLSettings
    private let context: ExportContext
    private let schema: DatabaseSchema
    private let text: CopyText
    private let objects: ObjectRows
    private var session: (connection: PostgreSQLConnection, hub: Int)?

    /// What others commit while we wait for them is seen, whatever the role is set to.
    private static let begin = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(\(DatabaseSchema.lock))"

    /// Connects to nothing yet.
    public init(_ settings: PostgreSQLSettings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        schema = DatabaseSchema(name: settings.schema)
        text = CopyText(context)
        objects = ObjectRows(text)
    }

    /// All of them: a table each.
    public let kinds = Set(SampleKind.allCases)

    // MARK: The database

    /// Whether it can be entered, has our tables, and lets us write to them.
    public func check() throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings)
        let server = try connection.run("SELECT current_setting('server_version'), pg_is_in_recovery()")[0]
        guard server[1] == "f" else { throw DeliveryError(.unfit, "it is a standby server, which takes no changes") }
        var findings = [
            Finding(.good, "PostgreSQL", "version \(server[0] ?? "?"), connected to '\(settings.database)' as '\(settings.user)'")
        ]
        try checkVersion(try schema.found(connection))
        var tables = [("progress", "SELECT INSERT UPDATE"), ("hub", "SELECT INSERT")]
        for table in ["sample", "deletion"] + ObjectTable.all.map(\.name) {
            tables.append((table, "SELECT INSERT UPDATE DELETE"))
        }
        for (table, rights) in tables {
            for right in rights.split(separator: " ") {
                let answer = try connection.run(
                    "SELECT has_table_privilege($1, $2)", ["\(settings.schema).\(table)", String(right)])
                guard answer[0][0] == "t" else {
                    throw DeliveryError(.unauthorised, "'\(settings.user)' has no \(right) on \(settings.schema).\(table)")
                }
            }
        }
        let others = try connection.run(
            "SELECT has_sequence_privilege($1, 'USAGE'), has_database_privilege(current_database(), 'TEMPORARY')",
            ["\(settings.schema).hub_id_seq"])[0]
        guard others == ["t", "t"] else {
            throw DeliveryError(
                .unauthorised, "'\(settings.user)' needs USAGE on \(settings.schema).hub_id_seq, and TEMPORARY on the database")
        }
        findings.append(Finding(.good, "schema \(settings.schema)", "our tables, version \(schema.version)"))
        return findings
    }

    private func checkVersion(_ found: Int) throws(DeliveryError) {
        if found < schema.version {
            throw DeliveryError(
                .unfit,
                "the schema '\(settings.schema)' \(found == 0 ? "has not our tables" : "has tables of an older version"): "
                    + "'vitalgate targets check \(context.name) --create' makes them")
        }
        guard found == schema.version else {
            throw DeliveryError(.unfit, "the schema '\(settings.schema)' is of a newer Vitalgate: update this one")
        }
    }

    /// Makes our tables, or brings those of an older version up to now.
    public func create() throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings)
        let found = try schema.create(connection)
        var findings = [
            Finding(
                .good, "schema \(settings.schema)",
                found == schema.version ? "is as it has to be" : "made, with a view for each type")
        ]
        guard settings.isHypertable else { return findings }
        let isThere = try !connection.run("SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'").isEmpty
        guard isThere else {
            findings.append(
                Finding(.warning, "TimescaleDB", "the database has not the extension; the table stays a plain one"))
            return findings
        }
        try connection.run(
            "SELECT create_hypertable('\(settings.schema).sample', 'start_time', if_not_exists => true, migrate_data => true)")
        findings.append(Finding(.good, "TimescaleDB", "the samples' table is a hypertable"))
        return findings
    }

    private func opened() throws(DeliveryError) -> (connection: PostgreSQLConnection, hub: Int) {
        if let session { return session }
        let connection = try PostgreSQLConnection(settings)
        try checkVersion(try schema.found(connection))
        let name = schema.name
        // By the lock there is no other who makes the same row.
        try connection.run(Self.begin)
        try connection.run("INSERT INTO \(name).hub(store) VALUES($1) ON CONFLICT DO NOTHING", [context.store])
        let hub = try connection.run("SELECT id FROM \(name).hub WHERE store = $1", [context.store])[0][0].flatMap { Int($0) }
        try connection.run(
            """
            COMMIT;
            CREATE TEMP TABLE incoming(LIKE \(name).sample) ON COMMIT DELETE ROWS;
            ALTER TABLE incoming ALTER hubs DROP NOT NULL;
            CREATE TEMP TABLE gone(uuid uuid NOT NULL, type text NOT NULL, replaced_by uuid) ON COMMIT DELETE ROWS;
            \(ObjectRows.temporary);
            """)
        guard let hub else { throw DeliveryError(.unfit, "the table \(name).hub gives no number") }
        session = (connection, hub)
        return (connection, hub)
    }

    // MARK: Samples

    /// One transaction.
    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let (connection, hub) = try opened()
        do throws(DeliveryError) {
            try connection.run(Self.begin)
            try write(batch, connection, hub)
            try connection.run("COMMIT")
        } catch {
            // Whether a COMMIT that was not answered happened is found out by telling it again.
            session = nil
            throw error
        }
        return 0
    }

    private func write(_ batch: ExportBatch, _ connection: PostgreSQLConnection, _ hub: Int) throws(DeliveryError) {
        // Of one that comes and goes the last word counts.
        var last: [SampleIdentity: Int] = [:]
        for (index, change) in batch.changes.enumerated() { last[change.uuid] = index }
        var (added, gone): ([Int], [Int]) = ([], [])
        for (index, change) in batch.changes.enumerated() where last[change.uuid] == index {
            if case .added = change { added.append(index) } else { gone.append(index) }
        }
        if !added.isEmpty { try add(added.map { batch.changes[$0].sample }, connection, hub) }
        if !gone.isEmpty { try remove(gone.map { batch.changes[$0] }, connection, hub) }
        guard let anchor = batch.anchors.last else { return }
        try connection.run(
            """
            INSERT INTO \(schema.name).progress(hub, target, anchor) VALUES(\(hub), $1, $2)
            ON CONFLICT(hub, target) DO UPDATE SET anchor = excluded.anchor, told = now()
            """, [context.name, anchor])
    }

    private func add(_ samples: [Sample], _ connection: PostgreSQLConnection, _ hub: Int) throws(DeliveryError) {
        let name = schema.name
        let columns = CopyText.columns.joined(separator: ", ")
        let kinds = Set(samples.map(\.origin.kind))
        if kinds.contains(.quantity) {
            try copy(samples.filter { $0.origin.kind == .quantity }, "incoming", CopyText.columns, connection) {
                sample, octets throws(DeliveryError) in text.append(sample, to: &octets)
            }
        }
        if kinds != [.quantity] {
            try copy(samples.filter { $0.origin.kind != .quantity }, "incoming_object", ObjectRows.columns, connection) {
                sample, octets throws(DeliveryError) in try objects.append(sample, to: &octets)
            }
        }
        // Nobody else writes meanwhile. Where the first hub is alone, what is there is its; where nothing was deleted, nothing comes back.
        let others = try connection.run(
            "SELECT EXISTS(SELECT 1 FROM \(name).hub WHERE id <> 1), EXISTS(SELECT 1 FROM \(name).deletion)")[0]
        // The planner knows nothing of a temporary table, and must not read all samples for it.
        var statements = ["SET LOCAL enable_hashjoin = off", "SET LOCAL enable_mergejoin = off"]
        if kinds.contains(.quantity) {
            if others[0] == "t" {
                statements.append(
                    """
                    UPDATE \(name).sample SET hubs = sample.hubs || \(hub) FROM incoming
                        WHERE sample.uuid = incoming.uuid AND NOT sample.hubs @> ARRAY[\(hub)]
                    """)
            }
            statements.append(
                """
                INSERT INTO \(name).sample(\(columns), hubs) SELECT \(columns), ARRAY[\(hub)] FROM incoming
                    WHERE NOT EXISTS(SELECT 1 FROM \(name).sample WHERE sample.uuid = incoming.uuid)
                """)
        }
        for table in ObjectTable.all where kinds.contains(table.kind) {
            statements.append(table.taking(in: name, hub: hub))
        }
        if others[1] == "t" {
            for incoming in (kinds.contains(.quantity) ? ["incoming"] : []) + (kinds == [.quantity] ? [] : ["incoming_object"]) {
                statements.append(
                    """
                    DELETE FROM \(name).deletion USING \(incoming) WHERE deletion.uuid = \(incoming).uuid AND deletion.hub = \(hub)
                    """)
            }
        }
        try connection.run(statements.joined(separator: ";"))
    }

    /// Rows of samples into a temporary table. Where one has no place in a row, all that was sent is given up with the session.
    private func copy(
        _ samples: [Sample], _ table: String, _ columns: [String], _ connection: PostgreSQLConnection,
        _ append: (Sample, inout [UInt8]) throws(DeliveryError) -> Void
    ) throws(DeliveryError) {
        var next = samples[...]
        var failure: DeliveryError?
        try connection.copy(into: "COPY \(table)(\(columns.joined(separator: ", "))) FROM STDIN") { octets in
            guard let sample = next.popFirst() else { return false }
            let length = octets.count
            do throws(DeliveryError) {
                try append(sample, &octets)
            } catch {
                failure = error
                octets.removeSubrange(length...)
            }
            return failure == nil && !next.isEmpty
        }
        if let failure { throw failure }
    }

    private func remove(_ changes: [SampleChange], _ connection: PostgreSQLConnection, _ hub: Int) throws(DeliveryError) {
        let name = schema.name
        var next = changes[...]
        try connection.copy(into: "COPY gone FROM STDIN") { octets in
            if case .deleted(let deletion)? = next.popFirst() { CopyText.append(deletion, to: &octets) }
            return !next.isEmpty
        }
        let kinds = Set(changes.map(\.sample.origin.kind))
        var statements = ["SET LOCAL enable_hashjoin = off", "SET LOCAL enable_mergejoin = off"]
        for table in (kinds.contains(.quantity) ? ["sample"] : []) + kinds.compactMap({ ObjectTable.byKind[$0]?.name }) {
            statements.append(
                """
                DELETE FROM \(name).\(table) held USING gone WHERE held.uuid = gone.uuid AND held.hubs = ARRAY[\(hub)];
                UPDATE \(name).\(table) held SET hubs = array_remove(held.hubs, \(hub)) FROM gone
                    WHERE held.uuid = gone.uuid AND held.hubs @> ARRAY[\(hub)]
                """)
        }
        statements.append(
            """
            INSERT INTO \(name).deletion(uuid, hub, type, replaced_by) SELECT uuid, \(hub), type, replaced_by FROM gone
                ON CONFLICT(uuid, hub) DO UPDATE SET replaced_by = excluded.replaced_by, told = now()
            """)
        try connection.run(statements.joined(separator: ";"))
    }

    /// What this hub's samples are there.
    public func contents(_ body: ([SampleIdentity]) throws -> Void) throws {
        let (connection, hub) = try opened()
        session = nil
        let parts = (["sample"] + ObjectTable.all.map(\.name)).map { table in
            "SELECT uuid FROM \(schema.name).\(table) WHERE hubs @> ARRAY[\(hub)]"
        }
        try connection.run("BEGIN; DECLARE held NO SCROLL CURSOR FOR " + parts.joined(separator: " UNION ALL "))
        while true {
            let rows = try connection.run("FETCH 10000 FROM held")
            guard !rows.isEmpty else { break }
            try body(rows.compactMap { row in row[0].flatMap { SampleIdentity($0) } })
        }
        try connection.run("COMMIT")
    }

    /// Ends the session.
    public func finish() { session = nil }
}
