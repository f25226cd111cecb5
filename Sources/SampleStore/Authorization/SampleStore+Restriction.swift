import HealthModel

extension SampleStore {
    /// Restricts this store permanently to the data that a client may read, as if nothing else existed. Open one reader
    /// per client. Each statement looks up the grants in its own snapshot, so a changed grant needs no new reader.
    ///
    ///     let store = try SampleStore(path: "vitalgate.db", access: .read)
    ///     try store.restrict(to: client)
    ///
    /// A restricted store still reveals the size of the file and the number of the last change, and therefore anchors.
    /// Never pass them to a client unchanged.
    ///
    /// - Throws: ``StoreError`` of the kind `defect` if the store is open for writing. A writer must see all data.
    public func restrict(to client: Client) throws(StoreError) {
        try restrict(Restriction(viewer: .client(client)))
        self.client = client
    }

    /// Restricts this store permanently to a person's own data, for people who view their own data.
    ///
    /// - Throws: ``StoreError`` of the kind `defect` if the store is open for writing.
    public func restrict(toPerson personID: String) throws(StoreError) {
        try restrict(Restriction(viewer: .person(personID)))
        restrictedPerson = personID
    }

    private func restrict(_ restriction: Restriction) throws(StoreError) {
        guard !connection.isWritable else {
            throw StoreError(.defect, "a store that is restricted is opened for reading")
        }
        try connection.execute("PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF")
        try restriction.apply(to: connection)
        try connection.execute("PRAGMA query_only = ON")
    }

    /// The instant from which a person's activity rings may be read, or `nil` if they may not be read. Rings have their
    /// own permission, even if they are derived from samples.
    func startOfReadableDays(of personID: String) throws(StoreError) -> Instant? {
        if let restrictedPerson { return personID == restrictedPerson ? Instant(microseconds: .min) : nil }
        guard let client else { return Instant(microseconds: .min) }
        return try clients.startOfReading(ActivityReader.summaries, of: personID, client)
    }
}

/// The rules for the data that a client may read. Each table of the store is hidden by a temporary view with the same
/// name and columns. SQLite uses the view if a statement names the table, so queries need not know about clients and
/// cannot forget the restriction (Decisions/0033).
///
/// A table without a rule here appears empty. A statement that needs the hidden table writes `main.` before its name
/// and joins it with the readable rows.
struct Restriction {
    /// The reader of a restricted store.
    enum Viewer {
        /// A client, restricted to its grants.
        case client(Client)
        /// A person, restricted to their own data.
        case person(String)
    }

    let viewer: Viewer

    /// The tables without a view. Their rows are looked up by numbers that only readable rows contain, or they belong
    /// to the store itself.
    private static let open: Set<String> = ["setting", "context", "origin", "metadata", "body", "epoch"]

    /// The condition that a row starts in the readable range. Given two lower bounds of a range, SQLite seeks one and
    /// compares the other with each row. The hint makes SQLite seek the bound of the query, because otherwise all
    /// earlier rows would be scanned.
    static let startsAfterGrant = "likelihood(r.start >= v.since, 0.99)"

    /// Creates the temporary views on a connection.
    func apply(to connection: Connection) throws(StoreError) {
        connection.viewer = viewerName
        let names = try connection.tableNames()
        try ReadableReferences.register(with: connection)
        try connection.execute("CREATE TEMP VIEW readable AS \(readable); CREATE TEMP VIEW readable_object AS \(readableObjects)")
        for name in names where !Self.open.contains(name) {
            try connection.execute("CREATE TEMP VIEW \(name) AS \(rule(for: name, columns: try connection.columns(of: name)))")
        }
        let samples = rows(of: "sample", try connection.columns(of: "sample"))
        try connection.execute("CREATE TEMP VIEW \(connection.loggedSamples) AS \(samples)")
    }

    /// SQL for the series that a client may read at least partly: the first readable start (`since`), and whether
    /// everything from there on is readable (`whole`) or only individually granted objects. A client with write access
    /// can read its own samples.
    private var readable: String {
        guard case .client(let client) = viewer else {
            return
                "SELECT s.id, \(Int64.min + 1) AS since, 1 AS whole FROM main.series AS s WHERE s.subject = \(person)"
        }
        let isOwn = "(g.may_write AND s.source = '\(client.source)')"
        return """
            SELECT s.id, CASE WHEN \(isOwn) THEN \(Int64.min + 1) ELSE g.read_from END AS since,
                NOT \(GrantTable.isAskedByObject("s.kind")) OR \(isOwn) AS whole
            FROM main.series AS s JOIN main.granted AS g ON g.client = \(client.id) AND g.subject = s.subject AND g.type = s.type
            """
    }

    /// SQL for the objects that were granted to the client individually.
    private var readableObjects: String {
        guard case .client(let client) = viewer else { return "SELECT series, start, hash FROM main.granted_object WHERE 0" }
        return "SELECT series, start, hash FROM main.granted_object WHERE client = \(client.id)"
    }

    /// The viewer's name in the table `lost`.
    private var viewerName: String {
        switch viewer {
        case .client(let client): client.source
        case .person(let personID): personID
        }
    }

    /// Records, for each viewer who may read rows that are about to be removed permanently (the table `pruned`), the
    /// number of the last removed change. Each viewer gets the answer of a store that contains only the rows readable
    /// by that viewer.
    ///
    /// - Parameter last: The number of the last entry of the change log that names the removed rows, if there are any. A client that cannot
    ///   read all rows of such an entry does not see it, and must therefore start again.
    static func noteLost(_ connection: Connection, namedThrough last: Int64? = nil) throws(StoreError) {
        let isOwn = "(g.may_write AND s.source = '\(ClientSource.prefix)' || g.client)"
        let since = "CASE WHEN \(isOwn) THEN \(Int64.min + 1) ELSE g.read_from END"
        let isObject = "\(GrantTable.isAskedByObject("s.kind")) AND NOT \(isOwn)"
        let isHidden =
            "(\(isObject) OR EXISTS(SELECT 1 FROM pruned AS e WHERE e.series = p.series AND e.live = 1 AND e.start < \(since)))"
        let number = last.map { "CASE WHEN p.live = 1 AND \(isHidden) THEN \($0) ELSE p.number END" } ?? "p.number"
        try connection.run(
            """
            INSERT INTO lost(viewer, seq) SELECT viewer, number FROM (
                SELECT '\(ClientSource.prefix)' || g.client AS viewer, max(\(number)) AS number
                FROM granted AS g CROSS JOIN series AS s ON s.type = g.type AND s.subject = g.subject CROSS JOIN pruned AS p ON p.series = s.id
                WHERE p.start >= \(since) AND (NOT (\(isObject)) OR EXISTS(SELECT 1 FROM granted_object AS o WHERE o.client = g.client
                        AND o.series = p.series AND o.start = p.start AND o.hash = p.hash))
                GROUP BY g.client
                UNION ALL SELECT s.subject, max(p.number) FROM series AS s CROSS JOIN pruned AS p ON p.series = s.id GROUP BY s.subject
            ) WHERE true ON CONFLICT(viewer) DO UPDATE SET seq = max(seq, excluded.seq)
            """)
    }

    /// The person as an SQL literal, or `NULL` for a client.
    private var person: String {
        guard case .person(let personID) = viewer else { return "NULL" }
        return "'\(personID.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }

    /// SQL for the readable rows of a table. A series that is readable as a whole is scanned from its first readable
    /// start. For other series, each granted object is looked up by its key. Hidden rows are never visited, so they
    /// take no time.
    ///
    /// - Parameters:
    ///   - columns: The columns of the table.
    ///   - shown: SQL for columns whose value is replaced.
    ///   - condition: An additional SQL condition on the row `r`.
    private func rows(
        of table: String, _ columns: [String], shown: [String: String] = [:], where condition: String = "TRUE"
    ) -> String {
        func selected(_ key: String) -> String {
            columns.map { column in
                guard !["series", "start", "hash"].contains(column) else { return "\(key).\(column)" }
                return shown[column].map { "\($0) AS \(column)" } ?? "r.\(column)"
            }.joined(separator: ", ")
        }
        let whole = """
            SELECT \(selected("r")) FROM readable AS v CROSS JOIN main.\(table) AS r ON r.series = v.id AND \(Self.startsAfterGrant)
            WHERE v.whole AND \(condition)
            """
        // A person sees whole series only.
        guard case .client = viewer else { return whole }
        return """
            \(whole)
            UNION ALL
            SELECT \(selected("o")) FROM readable AS v CROSS JOIN readable_object AS o ON o.series = v.id
                CROSS JOIN main.\(table) AS r ON r.series = o.series AND r.start = o.start AND r.hash = o.hash
            WHERE NOT v.whole AND \(condition)
            """
    }

    /// SQL for the readable change log. A commit is shown if all of it is readable or if it contains a readable change.
    /// Each object that was granted individually has its own entry.
    private var changes: String {
        let (start, objects) = ("max(c.low, v.since)", "readable AS v CROSS JOIN readable_object AS o ON o.series = v.id")
        func entry(of table: String, _ number: String, deletion: Int) -> String {
            """
            SELECT o.series, r.\(number), r.\(number), \(deletion), o.start, o.start, 0, 0 FROM \(objects)
                CROSS JOIN main.\(table) AS r ON r.series = o.series AND r.start = o.start AND r.hash = o.hash
            WHERE NOT v.whole
            """
        }
        return """
            SELECT c.series, c.first_seq, c.last_seq, c.deletion, c.low, c.high, c.ingest, c.cause
            FROM readable AS v CROSS JOIN main.change AS c ON c.series = v.id AND c.high >= v.since
            WHERE v.whole AND (c.low >= v.since
                OR EXISTS(SELECT 1 FROM main.sample AS r WHERE r.series = c.series AND r.start BETWEEN \(start) AND c.high
                    AND r.seq BETWEEN c.first_seq AND c.last_seq)
                OR EXISTS(SELECT 1 FROM main.deleted AS r WHERE r.series = c.series AND r.start BETWEEN \(start) AND c.high
                    AND (r.seq BETWEEN c.first_seq AND c.last_seq OR r.deleted_seq BETWEEN c.first_seq AND c.last_seq)))
            UNION ALL \(entry(of: "sample", "seq", deletion: 0)) UNION ALL \(entry(of: "deleted", "deleted_seq", deletion: 1))
            """
    }

    private func rule(for table: String, columns: [String]) -> String {
        switch table {
        case "sample": rows(of: table, columns, where: "NOT \(PendingChanges.isHidden("r"))")
        case "witness", "witness_row", "record": rows(of: table, columns)
        case "deleted":
            // The replacement may belong to another person or have a type that may not be read.
            rows(
                of: table, columns,
                shown: [
                    "replaced_by":
                        "CASE WHEN r.replaced_by IS NULL THEN NULL ELSE \(ReadableReferences.function)(r.replaced_by) END"
                ])
        case "summary":
            // Weights depend on the samples within this reach before the start, which must be readable too.
            """
            SELECT r.* FROM readable AS v CROSS JOIN main.summary AS r ON r.series = v.id
                AND likelihood(r.start >= v.since + \(SummaryTable.reach), 0.99)
            WHERE v.whole AND \(SettingTable.value("pending")) IS NULL
            """
        case "link":
            """
            SELECT r.* FROM readable AS v CROSS JOIN main.link AS r ON r.series = v.id AND r.start >= v.since
            WHERE EXISTS(SELECT 1 FROM readable AS w WHERE w.id = r.of_series AND r.of_start >= w.since)
            """
        case "place", "reading_alias":
            // These rows lead to samples, which are looked up through their own view.
            "SELECT r.* FROM readable AS v CROSS JOIN main.\(table) AS r ON r.series = v.id WHERE v.since IS NOT NULL"
        case "series":
            """
            SELECT s.* FROM readable AS v CROSS JOIN main.series AS s ON s.id = v.id WHERE EXISTS(SELECT 1 FROM sample AS r WHERE r.series = s.id)
                OR EXISTS(SELECT 1 FROM deleted AS r WHERE r.series = s.id)
            """
        case "change": changes
        case "characteristic":
            switch viewer {
            case .client(let client):
                """
                SELECT c.* FROM main.granted AS g CROSS JOIN main.characteristic AS c ON c.subject = g.subject AND c.type = g.type
                WHERE g.client = \(client.id) AND g.read_from IS NOT NULL
                """
            case .person: "SELECT * FROM main.characteristic WHERE subject = \(person)"
            }
        default: "SELECT * FROM main.\(table) WHERE 0"
        }
    }
}
