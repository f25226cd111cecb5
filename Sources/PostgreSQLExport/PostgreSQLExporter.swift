import HealthModel
import Pipeline

/// Writes samples into the tables of a PostgreSQL database, which any number of hubs may feed. The same reading from two hubs is
/// one row, which exists as long as one of them has it.
///
/// A batch is one transaction: COPY into temporary tables, and from there into ours. Repeated changes have no effect.
package final class PostgreSQLExporter: ComparableExporter {
    /// The maximum number of changes in a transaction, small enough for a short duration and little memory.
    package let batchLimit = 4096
    let context: ExportContext
    let rows: CopyRows
    private let objects: ObjectRows
    let session: PostgreSQLSession
    var settings: PostgreSQLSettings { session.settings }
    var schema: DatabaseSchema { session.schema }

    /// READ COMMITTED, whatever the role's default, so that other hubs' commits during the wait for the lock are visible.
    /// The planner has no statistics for temporary tables and arrays, and must not scan all samples for them. Without statistics of the table of
    /// samples, it would also read all samples of a hub into memory, and compare each new row with each of them. It would compile plans with a
    /// scan that is switched off, which takes longer than to run them.
    static func begin(_ locks: WriterLocks) -> String {
        "BEGIN ISOLATION LEVEL READ COMMITTED; \(planning); \(locks.statement)"
    }
    static let planning = ["enable_hashjoin", "enable_mergejoin", "enable_material", "enable_seqscan", "jit"]
        .map { "SET LOCAL \($0) = off" }.joined(separator: "; ")

    /// Creates an exporter without connecting.
    ///
    /// - Parameter days: Computes the statistics of days, or `nil` if another program does.
    package convenience init(_ settings: PostgreSQLSettings, context: ExportContext, days: DayComputer? = nil) {
        self.init(PostgreSQLSession(settings, days: days), context: context)
    }

    /// Creates an exporter for one of several hubs that share a session.
    package init(_ session: PostgreSQLSession, context: ExportContext) {
        (self.session, self.context) = (session, context)
        rows = CopyRows(context)
        objects = ObjectRows(rows)
    }

    /// All kinds. Each has a table.
    package let kinds = Set(SampleKind.allCases)

    /// True because the database keeps the highest version of a manufacturer's record, from any hub.
    package let reportsRecords = true

    /// The target's address without credentials. Another address is another target.
    package var address: String { "postgresql://\(settings.host):\(settings.port)/\(settings.database)/\(settings.schema)" }

    // MARK: Samples

    /// Delivers a batch in one transaction.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        try deliver(PreparedBatch(batch))
    }

    /// Delivers a batch in one transaction.
    package func deliver(_ batch: PreparedBatch) throws(DeliveryError) -> Int {
        try session.deliver([(self, batch)]).first ?? 0
    }

    /// What the tables have, beside readings.
    struct Contents {
        /// Another hub writes to the database. It can send other content under a UUID.
        let otherHubs: Bool
        /// Another hub has sent readings of one of the people. Otherwise all of their rows are this hub's own.
        let others: Bool
        /// A hub has deleted samples, which may come back.
        let deletions: Bool
        /// Rows represent other reports.
        let superseded: Bool
        let erased: Bool
        /// A person is new for the hub, or was erased.
        let newPeople: Bool
    }

    private func contents(
        for people: Set<String>, of hub: Int32, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> Contents {
        let row = try connection.runPrepared(
            """
            SELECT EXISTS(SELECT 1 FROM \(schema.name).hub WHERE id <> $2::integer),
                EXISTS(SELECT 1 FROM \(schema.name).participant WHERE hub <> $2::integer AND subject = ANY($1::text[])),
                EXISTS(SELECT 1 FROM \(schema.name).deletion), EXISTS(SELECT 1 FROM \(schema.name).superseded),
                EXISTS(SELECT 1 FROM \(schema.name).erased),
                (SELECT count(*) FROM \(schema.name).participant WHERE hub = $2::integer AND subject = ANY($1::text[])) < cardinality($1::text[])
            """, [NewRows.literal(people.sorted()), "\(hub)"])[0].map { $0 == "t" }
        return Contents(
            otherHubs: row[0], others: row[1], deletions: row[2], superseded: row[3], erased: row[4], newPeople: row[5])
    }

    /// Writes whose readings the hub sends.
    private func note(_ people: Set<String>, of hub: Int32, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        let entered = try connection.run(
            """
            INSERT INTO \(schema.name).participant(hub, subject) SELECT \(hub), unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING subject
            """, [NewRows.literal(people.sorted())])
        guard !entered.isEmpty else { return }
        try SourceOrderRows(schema: schema.name).mark(entered.compactMap { $0[0] }, new: hub, connection)
    }

    /// Writes a batch. The locks keep other hubs from its persons.
    ///
    /// - Returns: The number of changes that were left out because the person was erased.
    @discardableResult
    func write(_ batch: PreparedBatch, _ connection: PostgreSQLConnection, _ hub: Int32) throws(DeliveryError) -> Int {
        let contents = try contents(for: batch.people, of: hub, connection)
        var (batch, leftOut) = (batch, 0)
        if contents.erased {
            leftOut = batch.leaveOut(try PersonErasure.erased(of: batch.people, in: schema.name, connection))
        }
        if contents.newPeople { try note(batch.people, of: hub, connection) }
        if !batch.added.isEmpty { try add(batch, contents, connection, hub) }
        if !batch.deleted.isEmpty { try remove(batch.deleted, connection, hub, contents) }
        if contents.others { try comparePaths(of: batch, connection, hub) }
        if session.hasTemporaryRows { try connection.run(days.markingTouched(byPerson: session.isPartitioned)) }
        try days.write(batch.days, connection)
        return leftOut
    }

    var days: DayRows { DayRows(schema: schema.name) }

    /// Joins reports of other hubs that are the same measurements as those of a batch.
    private func comparePaths(
        of batch: PreparedBatch, _ connection: PostgreSQLConnection, _ hub: Int32
    ) throws(DeliveryError) {
        let rows = PathRows(schema: schema.name, hub: hub)
        guard try rows.compare(near: batch.added + batch.deleted.map(\.sample), connection) else { return }
        session.hasTemporaryRows = true
        let statements = SupersededRows.representing(in: [.sample], schema.name, byPerson: session.isPartitioned)
        try connection.run(statements.joined(separator: ";"))
    }

    /// Writes the delivery's mark if the one before is there. If not, another hub has delivered or the database was restored,
    /// which is checked first.
    func enter(_ mark: TargetMark, _ connection: PostgreSQLConnection, _ hub: Int32) throws(DeliveryError) {
        let entered = try connection.runPrepared(
            """
            UPDATE \(schema.name).progress SET anchor = $2, count = $3::bigint, told = now()
            WHERE hub = $6::integer AND target = $1 AND count = $3::bigint - 1 AND ($4 = '' OR holder = $4) AND anchor = coalesce($5, anchor)
            RETURNING 1
            """, [context.name, mark.anchor, "\(mark.count)", mark.holder.id, mark.after, "\(hub)"])
        guard entered.isEmpty else { return }
        throw Self.anotherDelivered
    }

    static let anotherDelivered = DeliveryError(
        .unreachable, "another program has delivered under this target's name, or the database was restored from a backup")

    private func add(
        _ batch: PreparedBatch, _ contents: Contents, _ connection: PostgreSQLConnection, _ hub: Int32
    ) throws(DeliveryError) {
        let (samples, rewriting) = (batch.added, batch.rewrites)
        let kinds = Set(samples.map(\.origin.kind))
        if session.hasOurTypes, let identities = batch.identities {
            let rows = NewRows(samples, identities, rows, schema: schema.name, hub: hub, byPerson: session.isPartitioned)
            if try rows.areNew(connection, amongOthers: contents.others) {
                self.rows.optional = batch.columns.union(session.requiredColumns)
                defer { self.rows.optional = .all }
                return try rows.add(connection, amongDeletions: contents.deletions)
            }
        }
        try stage(samples, connection)
        if rewriting, kinds.contains(.quantity) {
            try connection.run(days.marking(rowsIn: "incoming", byPerson: session.isPartitioned))
        }
        let statements =
            comparing(samples, hub, contents, rewriting: rewriting) + moving(kinds, hub, contents, rewriting: rewriting)
        try connection.run(statements.joined(separator: ";"))
    }

    /// The statements that compare new rows with the reports that are there. They remove rows that others represent, and note those that
    /// the new rows represent.
    private func comparing(
        _ samples: [Sample], _ hub: Int32, _ contents: Contents, rewriting: Bool
    ) -> [String] {
        let tables = ReportTable.tables(of: Set(samples.map(\.origin.kind)))
        let variants = samples.map { ConflictRows.variant(of: $0) != 0 }
        let (some, all) = (variants.contains(true), variants.allSatisfy { $0 })
        var statements: [String] = []
        if samples.contains(where: { $0.record != nil }) {
            statements += RecordRows.claims(into: tables, in: schema.name, hub: hub, byPerson: session.isPartitioned)
        }
        if contents.others, samples.contains(where: { $0.timeOrigin == .receipt && $0.origin.kind == .quantity }) {
            statements += ReceiptRows.joins(in: schema.name, hub: hub, isSame: isSame)
        }
        if contents.otherHubs || rewriting || some {
            for table in tables {
                statements += ConflictRows.statements(
                    table, in: schema.name, hub: hub, byPerson: session.isPartitioned, variants: (some, all))
            }
        }
        guard contents.superseded || !statements.isEmpty else { return [] }
        return statements + SupersededRows.returning(to: tables, in: schema.name, hub: hub)
    }

    /// The statements that move new rows into their tables.
    func moving(
        _ kinds: Set<SampleKind>, _ hub: Int32, _ contents: Contents, rewriting: Bool
    ) -> [String] {
        let name = schema.name
        var statements: [String] = []
        if kinds.contains(.quantity) {
            let (columns, with) = (CopyRows.columns.joined(separator: ", "), RowMatch.with("incoming"))
            if contents.others || rewriting {
                statements.append(
                    """
                    \(with) UPDATE \(name).sample SET hubs = sample.hubs || \(hub) FROM incoming
                        WHERE \(isSame("sample", "incoming")) AND NOT sample.hubs @> ARRAY[\(hub)]
                    """)
            }
            if rewriting {
                let columns = CopyRows.columns.filter { !["uuid", "variant"].contains($0) }
                statements.append(
                    """
                    \(with) UPDATE \(name).sample SET \(columns.map { "\($0) = incoming.\($0)" }.joined(separator: ", ")) FROM incoming
                        WHERE \(isSame("sample", "incoming")) AND sample.hubs = ARRAY[\(hub)] AND \(Self.isDifferent("sample"))
                    """)
            }
            statements.append(
                """
                \(with) INSERT INTO \(name).sample(\(columns), hubs) SELECT \(columns), ARRAY[\(hub)] FROM incoming
                    WHERE NOT EXISTS(SELECT 1 FROM \(name).sample WHERE \(isSame("sample", "incoming")))
                """)
        }
        for table in ObjectTable.all where kinds.contains(table.kind) {
            statements.append(table.taking(in: name, hub: hub, rewriting: rewriting))
        }
        if contents.deletions {
            for incoming in Set(ReportTable.tables(of: kinds).map(\.temporary)).sorted() {
                statements.append(
                    """
                    DELETE FROM \(name).deletion USING \(incoming) WHERE deletion.uuid = \(incoming).uuid AND deletion.hub = \(hub)
                    """)
            }
        }
        return statements
            + SupersededRows.representing(in: ReportTable.tables(of: kinds), name, byPerson: session.isPartitioned)
    }

    /// The condition for two rows of the same sample.
    func isSame(_ one: String, _ other: String) -> String { "\(hasSameUUID(one, other)) AND \(one).variant = \(other).variant" }

    /// The condition for two rows with the same UUID. In a partitioned table, the person leads to the partition.
    private func hasSameUUID(_ one: String, _ other: String) -> String {
        RowMatch.isSame(one, other, byPerson: session.isPartitioned)
    }

    /// Whether a new row has other content than the stored one. The receive time is ignored because it differs between hubs.
    private static func isDifferent(_ stored: String) -> String {
        let columns = CopyRows.columns.filter { $0 != "uuid" && $0 != "received" }
        let (there, here) = (columns.map { "\(stored).\($0)" }, columns.map { "incoming.\($0)" })
        return "(\(there.joined(separator: ", "))) IS DISTINCT FROM (\(here.joined(separator: ", ")))"
    }

    /// Copies samples into the temporary tables.
    private func stage(_ samples: [Sample], _ connection: PostgreSQLConnection) throws(DeliveryError) {
        session.hasTemporaryRows = true
        let kinds = Set(samples.map(\.origin.kind))
        if kinds.contains(.quantity) {
            try copy(samples.filter { $0.origin.kind == .quantity }, "incoming", CopyRows.columns, connection) {
                sample, row throws(DeliveryError) in rows.append(sample, to: &row)
            }
        }
        if kinds != [.quantity] {
            try copy(samples.filter { $0.origin.kind != .quantity }, "incoming_object", ObjectRows.columns, connection) {
                sample, row throws(DeliveryError) in try objects.append(sample, to: &row)
            }
        }
    }

    /// Copies the rows of samples into a temporary table. If a sample does not fit into a row, the session and its rows are
    /// dropped.
    private func copy(
        _ samples: [Sample], _ table: String, _ columns: [String], _ connection: PostgreSQLConnection,
        _ append: (Sample, inout CopyRow) throws(DeliveryError) -> Void
    ) throws(DeliveryError) {
        var next = samples[...]
        var failure: DeliveryError?
        try connection.copy(into: "\(table)(\(columns.joined(separator: ", ")))") { rows in
            guard let sample = next.popFirst() else { return false }
            let count = rows.bytes.count
            do throws(DeliveryError) {
                try append(sample, &rows)
            } catch {
                failure = error
                rows.cut(to: count)
            }
            return failure == nil && !next.isEmpty
        }
        if let failure { throw failure }
    }

    private func remove(
        _ changes: [SampleChange], _ connection: PostgreSQLConnection, _ hub: Int32, _ contents: Contents
    ) throws(DeliveryError) {
        let name = schema.name
        session.hasTemporaryRows = true
        var next = changes[...]
        try connection.copy(into: "gone") { rows in
            if case .deleted(let deletion)? = next.popFirst() {
                rows.begin(fields: 4)
                rows.add(deletion.uuid)
                rows.add(deletion.type.id)
                rows.add(deletion.replacedBy)
                rows.add(deletion.sample.origin.person)
            }
            return !next.isEmpty
        }
        try connection.run(days.marking(rowsIn: "gone", byPerson: session.isPartitioned))
        let tables = ReportTable.tables(of: Set(changes.map(\.sample.origin.kind)))
        let hasRecords = try connection.run("SELECT EXISTS(SELECT 1 FROM \(name).record)") == [["t"]]
        var statements = withdrawal(of: tables, hub, hasReports: hasRecords || contents.superseded)
        statements.append(
            """
            INSERT INTO \(name).deletion(uuid, hub, type, replaced_by, subject)
                SELECT uuid, \(hub), type, replaced_by::uuid, subject FROM gone
                ON CONFLICT(uuid, hub) DO UPDATE SET replaced_by = excluded.replaced_by, told = now()
            """)
        try connection.run(statements.joined(separator: ";"))
    }

    /// The statements that withdraw this hub's reports in the temporary table `deleted`.
    ///
    /// - Parameter hasReports: Whether rows are records, or represent other reports.
    func withdrawal(of tables: [ReportTable], _ hub: Int32, hasReports: Bool) -> [String] {
        let name = schema.name
        var statements: [String] = []
        let with = RowMatch.with("gone")
        for table in tables {
            let isSame = table.name == "sample" ? hasSameUUID("held", "gone") : "held.uuid = gone.uuid"
            statements += [
                "\(with) DELETE FROM \(name).\(table.name) held USING gone WHERE \(isSame) AND held.hubs = ARRAY[\(hub)]",
                """
                \(with) UPDATE \(name).\(table.name) held SET hubs = array_remove(held.hubs, \(hub)) FROM gone
                    WHERE \(isSame) AND held.hubs @> ARRAY[\(hub)]
                """,
            ]
        }
        guard hasReports else { return statements }
        return statements + SupersededRows.releases(of: tables, in: name, hub: hub, byPerson: session.isPartitioned)
            + SupersededRows.representing(in: tables, name, byPerson: session.isPartitioned)
    }

    /// Computes days that are due. After some time, new changes come first.
    package func idle() throws(DeliveryError) -> Duration? {
        guard session.computesDays else { return nil }
        _ = try connection()
        return try session.computeDays(seconds: 20) ? .milliseconds(100) : nil
    }

    package func finish() { session.end() }
}
