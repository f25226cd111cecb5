import HealthModel
import Pipeline

/// The database itself: connection, tables, marks and progress.
extension PostgreSQLExporter {
    /// Checks the connection, the tables and a complete delivery: a test reading is written, read and rolled back.
    package func check() throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings)
        let server = try connection.run("SELECT current_setting('server_version'), pg_is_in_recovery()")[0]
        guard server[1] == "f" else { throw DeliveryError(.unfit, "it is a standby server, which does not accept changes") }
        var findings = [
            Finding(.good, "PostgreSQL", "version \(server[0] ?? "?"), connected to '\(settings.database)' as '\(settings.user)'")
        ]
        try checkVersion(try schema.found(connection))
        try checkRights(connection)
        if let rejectionReason = try schema.rejectionReason(connection) {
            throw DeliveryError(.unfit, rejectionReason, isLasting: true)
        }
        findings.append(Finding(.good, "schema \(settings.schema)", "Vitalgate's tables, version \(schema.version)"))
        let year = Calendar.date(days: Int(context.now().microseconds / Calendar.day)).year
        if let warning = try schema.warning(for: year, connection) { findings.append(warning) }
        try rehearse(connection)
        findings.append(Finding(.good, "schema \(settings.schema)", "accepts a delivery (a test reading was rolled back)"))
        return findings
    }

    private func checkRights(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        var tables = [
            ("self", "SELECT"), ("hub", "SELECT INSERT UPDATE"), ("progress", "SELECT INSERT UPDATE"), ("lock", "SELECT UPDATE"),
            ("participant", "SELECT INSERT"), ("erased", "SELECT"), ("study", "SELECT"), ("day", "SELECT INSERT DELETE"),
            ("day_due", "SELECT INSERT UPDATE DELETE"), ("day_longest", "SELECT INSERT UPDATE DELETE"),
            ("source_order", "SELECT INSERT UPDATE DELETE"),
        ]
        for table in ["sample", "deletion", "record", "superseded"] + ObjectTable.all.map(\.name) {
            tables.append((table, "SELECT INSERT UPDATE DELETE"))
        }
        for (table, rights) in tables {
            for right in rights.split(separator: " ") {
                let answer = try connection.run(
                    "SELECT has_table_privilege($1, $2)", ["\(settings.schema).\(table)", String(right)])
                guard answer[0][0] == "t" else {
                    throw DeliveryError(.unauthorised, "'\(settings.user)' lacks \(right) on \(settings.schema).\(table)")
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
    }

    /// Whether the database accepts the delivery of a test reading.
    var acceptsDelivery: Bool {
        do throws(DeliveryError) {
            try rehearse(try PostgreSQLConnection(settings))
            return true
        } catch {
            return false
        }
    }

    /// Performs a delivery with a test reading and rolls it back.
    private func rehearse(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        defer { _ = try? connection.run("ROLLBACK") }
        let probe = try probe()
        var locks = hubLock
        locks.add(person: probe.origin.person)
        try connection.run(Self.begin(locks))
        let hub = try enterHub(connection)
        try makeTemporaries(connection)
        var batch = ExportBatch(changes: [.added(StoredSample(sample: probe, ingest: 0, seq: 0))])
        do throws(DeliveryError) {
            try write(PreparedBatch(batch), connection, hub)
            // The tables of all other kinds, without a row.
            let statements = ObjectTable.all.map { $0.taking(in: schema.name, hub: hub, rewriting: true) }
            try connection.run(statements.joined(separator: ";"))
            let there = try connection.run(
                "SELECT source_name FROM \(schema.name).sample WHERE uuid = $1", [probe.identity.description])
            guard there == [[probe.origin.source.name]] else {
                throw DeliveryError(.unfit, "a written reading is returned with other content")
            }
            batch.changes = [.deleted(StoredDeletion(sample: probe, replacedBy: nil, ingest: 0, seq: 0))]
            try write(PreparedBatch(batch), connection, hub)
            try connection.run(
                """
                INSERT INTO \(schema.name).progress(hub, target, anchor, count) VALUES(\(hub), '', '0', 1)
                ON CONFLICT(hub, target) DO UPDATE SET count = 1
                """)
        } catch {
            throw DeliveryError(error.kind == .refused ? .unfit : error.kind, "a reading would not be accepted: \(error.reason)")
        }
    }

    /// Returns a test reading whose source name contains letters of several scripts.
    private func probe() throws(DeliveryError) -> Sample {
        let origin = Origin(
            person: context.me, type: .heartRate,
            source: SourceRevision(id: "vitalgate.check", name: "Vitalgate’s check, Prüfung, 検査"))
        let time = context.now()
        do {
            let reading = Reading(
                origin: origin, numeral: try Numeral("60"), unit: try Unit(ucum: "/min"),
                time: .instants(start: time, end: time, offset: .utc), place: Place(.line, 1))
            if let sample = try ReadingPath.samples(of: [reading], zone: context.zone, received: time).first {
                return sample.sample
            }
        } catch {
            throw DeliveryError(.unreachable, "\(error)")
        }
        throw DeliveryError(.unreachable, "no test reading could be created")
    }

    private func checkVersion(_ found: Int) throws(DeliveryError) {
        if found < schema.version {
            throw DeliveryError(
                .unfit,
                "the schema '\(settings.schema)' \(found == 0 ? "has no Vitalgate tables" : "has tables of an older version"): "
                    + "run '\(session.creation ?? "vitalgate targets check \(context.name) --create")' to create them")
        }
        guard found == schema.version else {
            throw DeliveryError(.unfit, "the schema '\(settings.schema)' was created by a newer Vitalgate: update this one")
        }
    }

    /// Creates our tables, or updates those of an older version.
    package func create() throws(DeliveryError) -> [Finding] {
        let connection = try PostgreSQLConnection(settings, timeout: PostgreSQLConnection.rebuildTimeout)
        let (found, partitions) = try schema.create(connection)
        var findings = [
            Finding(
                .good, "schema \(settings.schema)",
                found == schema.version ? "is complete" : "created, with a view for each type")
        ]
        findings += partitions
        if settings.partitions > 0, try !Self.isPartitioned(connection, settings.schema) {
            findings.append(
                Finding(.warning, "partitions", "the table of samples was created without any, so it stays a plain one"))
        }
        guard settings.isHypertable else { return findings }
        let isThere = try !connection.run("SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'").isEmpty
        guard isThere else {
            findings.append(
                Finding(.warning, "TimescaleDB", "the database does not have the extension, so the table stays a plain one"))
            return findings
        }
        try connection.run(
            "SELECT create_hypertable('\(settings.schema).sample', 'start_time', if_not_exists => true, migrate_data => true)")
        findings.append(Finding(.good, "TimescaleDB", "the samples' table is a hypertable"))
        return findings
    }

    // MARK: Sessions

    /// Returns the session's connection, also for other tables of the same schema. A new one is checked first.
    package func connection() throws(DeliveryError) -> PostgreSQLConnection {
        if let connection = session.connection { return connection }
        let connection = try PostgreSQLConnection(settings)
        try checkVersion(try schema.found(connection))
        if let rejectionReason = try schema.rejectionReason(connection) {
            throw DeliveryError(.unfit, rejectionReason, isLasting: true)
        }
        try makeTemporaries(connection)
        try begin(connection)
        return connection
    }

    private func begin(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        session.begin(
            connection, isPartitioned: try Self.isPartitioned(connection, schema.name),
            hasOurTypes: try Self.hasOurTypes(connection, schema.name),
            requiredColumns: try OptionalColumns.required(connection, schema.name))
    }

    /// Looks at the tables again, over the session's connection.
    func review() throws(DeliveryError) {
        guard let connection = session.connection else { return }
        if let rejectionReason = try schema.rejectionReason(connection) {
            throw DeliveryError(.unfit, rejectionReason, isLasting: true)
        }
        try begin(connection)
    }

    /// Returns the session's connection and our number there. A new hub gets one.
    func opened() throws(DeliveryError) -> (connection: PostgreSQLConnection, hub: Int32) {
        let connection = try connection()
        if let hub = session.hubs[context.store] { return (connection, hub) }
        do throws(DeliveryError) {
            // The lock prevents another program from creating the same row.
            try connection.run(Self.begin(hubLock))
            let hub = try enterHub(connection)
            try connection.run("COMMIT")
            session.enter(hub, of: context.store)
            return (connection, hub)
        } catch {
            session.recover(from: error)
            throw error
        }
    }

    private static func isPartitioned(_ connection: PostgreSQLConnection, _ schema: String) throws(DeliveryError) -> Bool {
        try connection.run("SELECT relkind FROM pg_class WHERE oid = $1::regclass", ["\(schema).sample"]) == [["p"]]
    }

    /// Whether the columns of the table of samples have the types of the temporary table, so that rows can be copied into it. If an
    /// administrator has changed one, they have to be converted.
    private static func hasOurTypes(_ connection: PostgreSQLConnection, _ schema: String) throws(DeliveryError) -> Bool {
        try connection.run(
            """
            SELECT 1 FROM pg_attribute ours LEFT JOIN pg_attribute there ON there.attrelid = $1::regclass AND there.attname = ours.attname
            WHERE ours.attrelid = 'pg_temp.incoming'::regclass AND ours.attnum > 0 AND there.atttypid IS DISTINCT FROM ours.atttypid
            """, ["\(schema).sample"]
        ).isEmpty
    }

    /// The lock for rows that are about this hub alone.
    var hubLock: WriterLocks {
        var locks = WriterLocks(schema: schema.name)
        locks.add(store: context.store)
        return locks
    }

    private func enterHub(_ connection: PostgreSQLConnection) throws(DeliveryError) -> Int32 {
        let name = schema.name
        try connection.run("INSERT INTO \(name).hub(store) VALUES($1) ON CONFLICT DO NOTHING", [context.store])
        let hub = try connection.run("SELECT id FROM \(name).hub WHERE store = $1", [context.store])[0][0].flatMap { Int32($0) }
        guard let hub else { throw DeliveryError(.unfit, "the table \(name).hub did not return a number") }
        return hub
    }

    private func makeTemporaries(_ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            \(CopyRows.temporary);
            CREATE TEMP TABLE gone(uuid uuid NOT NULL, type text NOT NULL, replaced_by text, subject text NOT NULL) ON COMMIT DELETE ROWS;
            \(ObjectRows.temporary);
            \(SupersededRows.temporaries);
            """)
    }

    // MARK: Marks

    /// The mark that the last delivery left at the target; `nil` if the target keeps none.
    package func found() throws(DeliveryError) -> FoundMark? {
        let (connection, hub) = try opened()
        do throws(DeliveryError) {
            let identity = try connection.run("SELECT id FROM \(schema.name).self").first?.first ?? nil
            let now = context.now()
            let row = try connection.run(
                "SELECT count, anchor, holder, holder_name, extract(epoch FROM now() - told)::bigint FROM \(schema.name).progress WHERE hub = \(hub) AND target = $1",
                [context.name]
            ).first
            let mark = row.map {
                TargetMark(
                    identity: identity ?? "", count: $0[0].flatMap { Int64($0) } ?? 0, anchor: $0[1] ?? "",
                    holder: StoreHolder(id: $0[2] ?? "", name: $0[3] ?? ""),
                    // The age of the mark by the server's clock, which both machines share.
                    time: $0[4].flatMap { Int64($0) }.map { Instant(microseconds: now.microseconds - $0 * 1_000_000) })
            }
            return FoundMark(identity: identity, mark: mark)
        } catch {
            session.recover(from: error)
            throw error
        }
    }

    /// Writes a mark before the first delivery, so that the target belongs to this store.
    ///
    /// The mark must be the next one after the mark in the database. An older request that arrives late must not set it back.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        let (connection, hub) = try opened()
        do throws(DeliveryError) {
            try connection.run(Self.begin(hubLock))
            let written = try connection.run(
                """
                INSERT INTO \(schema.name).progress(hub, target, anchor, count, holder, holder_name)
                VALUES(\(hub), $1, $2, $3::bigint, $4, $5) ON CONFLICT(hub, target) DO UPDATE SET
                    anchor = excluded.anchor, count = excluded.count, holder = excluded.holder, holder_name = excluded.holder_name,
                    told = now()
                    WHERE progress.count = excluded.count - 1 RETURNING 1
                """, [context.name, mark.anchor, "\(mark.count)", mark.holder.id, mark.holder.name])
            guard !written.isEmpty else { throw Self.anotherDelivered }
            if !mark.holder.name.isEmpty {
                try connection.run("UPDATE \(schema.name).hub SET name = $1 WHERE id = \(hub)", [mark.holder.name])
            }
            try connection.run("COMMIT")
            return true
        } catch {
            session.recover(from: error)
            throw error
        }
    }
}
