import HealthModel

extension SampleStore {
    /// From now on, this store shows what a client may read and nothing else, as if there were nothing else: for good, so a reader is opened for
    /// each client. Grants are looked up by each statement in its snapshot; a change of them needs no new reader.
    ///
    ///     let store = try SampleStore(path: "vitalgate.db", access: .read)
    ///     try store.restrict(to: client)
    ///
    /// What a restricted store still tells of the whole file are its size, the number of the last change, and so anchors: none of them may be
    /// told to a client as it is.
    ///
    /// - Throws: ``StoreError`` of the kind `defect` where the store was opened for writing: a writer needs to see what is there.
    public func restrict(to client: Client) throws(StoreError) {
        try restrict(Restriction(viewer: .client(client)))
        self.client = client
    }

    /// From now on, this store shows what is a person's own and nothing else, for good: what somebody sees of themselves.
    ///
    /// - Throws: ``StoreError`` of the kind `defect` where the store was opened for writing.
    public func restrict(toPerson subject: String) throws(StoreError) {
        try restrict(Restriction(viewer: .person(subject)))
        person = subject
    }

    private func restrict(_ restriction: Restriction) throws(StoreError) {
        guard !connection.isWritable else {
            throw StoreError(.defect, "a store that is restricted is opened for reading")
        }
        try connection.execute("PRAGMA temp_store = MEMORY; PRAGMA query_only = OFF")
        try restriction.apply(to: connection)
        try connection.execute("PRAGMA query_only = ON")
    }

    /// From which instant on the rings of a person's days may be read; `nil` where none may. They are a type of their own, also where they come from
    /// samples.
    func startOfReadableDays(of subject: String) throws(StoreError) -> Instant? {
        if let person { return subject == person ? Instant(microseconds: .min) : nil }
        guard let client else { return Instant(microseconds: .min) }
        let from = try connection.integer(
            "SELECT read_from FROM main.granted WHERE client = ? AND subject = ? AND type = ? AND read_from IS NOT NULL",
            .integer(client.id), .text(subject), .text(ActivityReader.summaries))
        return from.map { Instant(microseconds: $0) }
    }
}

/// What a client may read, in one place: a view before each table of the store, of the same name and columns. SQLite takes the view wherever a
/// statement names the table, so that no reader needs to know of clients, and none can forget them (Decisions/0033).
///
/// A table that has no rule here is seen as empty. A statement that is to see past a view writes `main.` before a table, and joins it with what
/// the client may read.
struct Restriction {
    /// Who looks.
    enum Viewer {
        /// A program, which may what it was granted.
        case client(Client)
        /// A person, who may everything of their own.
        case person(String)
    }

    let viewer: Viewer

    /// Looked up by numbers that only readable rows have, or the store's own.
    private static let open: Set<String> = ["setting", "context", "origin", "metadata", "body", "epoch"]

    /// That a row starts where it may be read. Of two lower bounds of a range SQLite seeks one and compares the other with each row: where a
    /// reader asks from a time on, it is to be that time, or everything before it is walked over.
    static let isBehindSince = "likelihood(r.start >= v.since, 0.99)"

    /// Puts the views before the tables of a connection.
    func apply(to connection: Connection) throws(StoreError) {
        connection.viewer = viewerName
        let statement = try Statement(
            connection, "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        statement.reset()
        try ToldNames.register(with: connection)
        try connection.execute("CREATE TEMP VIEW readable AS \(readable); CREATE TEMP VIEW readable_object AS \(readableObjects)")
        for name in names where !Self.open.contains(name) {
            try connection.execute("CREATE TEMP VIEW \(name) AS \(rule(for: name, columns: try connection.columns(of: name)))")
        }
        let samples = rows(of: "sample", try connection.columns(of: "sample"))
        try connection.execute("CREATE TEMP VIEW \(connection.loggedSamples) AS \(samples)")
    }

    /// Each series of which a client may read something: from which start on (`since`), and whether all of it from there (`whole`) or the objects
    /// that it may read one by one. It reads what it wrote while it may write.
    private var readable: String {
        guard case .client(let client) = viewer else {
            return
                "SELECT s.id, \(Int64.min + 1) AS since, 1 AS whole FROM main.series AS s WHERE s.subject = \(person)"
        }
        let isOwn = "(g.may_write AND s.source = '\(client.source)')"
        return """
            SELECT s.id, CASE WHEN \(isOwn) THEN \(Int64.min + 1) ELSE g.read_from END AS since,
                s.kind NOT IN (\(Self.askedByObject)) OR \(isOwn) AS whole
            FROM main.series AS s JOIN main.granted AS g ON g.client = \(client.id) AND g.subject = s.subject AND g.type = s.type
            """
    }

    /// The objects that a client may read one by one.
    private var readableObjects: String {
        guard case .client(let client) = viewer else { return "SELECT series, start, hash FROM main.granted_object WHERE 0" }
        return "SELECT series, start, hash FROM main.granted_object WHERE client = \(client.id)"
    }

    /// By which `lost` knows who looks.
    private var viewerName: String {
        switch viewer {
        case .client(let client): client.source
        case .person(let subject): subject
        }
    }

    /// Keeps how far those have to have come who could read what is about to be removed for good: the rows of the table `pruned`. It says to each
    /// what a store would have said that holds what it may read.
    static func noteLost(_ connection: Connection) throws(StoreError) {
        let isOwn = "(g.may_write AND s.source = '\(Client.sourcePrefix)' || g.client)"
        try connection.run(
            """
            INSERT INTO lost(viewer, seq) SELECT viewer, number FROM (
                SELECT '\(Client.sourcePrefix)' || g.client AS viewer, max(p.number) AS number
                FROM granted AS g CROSS JOIN series AS s ON s.type = g.type AND s.subject = g.subject CROSS JOIN pruned AS p ON p.series = s.id
                WHERE p.start >= CASE WHEN \(isOwn) THEN \(Int64.min + 1) ELSE g.read_from END AND (s.kind NOT IN (\(askedByObject))
                    OR \(isOwn) OR EXISTS(SELECT 1 FROM granted_object AS o WHERE o.client = g.client
                        AND o.series = p.series AND o.start = p.start AND o.hash = p.hash))
                GROUP BY g.client
                UNION ALL SELECT s.subject, max(p.number) FROM series AS s CROSS JOIN pruned AS p ON p.series = s.id GROUP BY s.subject
            ) WHERE true ON CONFLICT(viewer) DO UPDATE SET seq = max(seq, excluded.seq)
            """)
    }

    static let askedByObject = ObjectType.kindsAskedByObject.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")

    /// The person as SQL has it; of a client nobody.
    private var person: String {
        guard case .person(let subject) = viewer else { return "NULL" }
        return "'\(subject.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''"))'"
    }

    /// The rows of a table that may be read. A series that may be read whole is walked from its first readable start on. Of another one only what is
    /// granted object by object is looked up, each by its key: what is hidden is never reached, so it costs nothing.
    ///
    /// - Parameters:
    ///   - columns: of the table.
    ///   - shown: SQL of columns that are not shown as they are.
    ///   - condition: SQL that a row `r` has to meet as well.
    private func rows(
        of table: String, _ columns: [String], shown: [String: String] = [:], where condition: String = "TRUE"
    ) -> String {
        func selected(_ key: String) -> String {
            columns.map { column in
                guard !["series", "start", "hash"].contains(column) else { return "\(key).\(column)" }
                return shown[column].map { "\($0) AS \(column)" } ?? "r.\(column)"
            }.joined(separator: ", ")
        }
        return """
            SELECT \(selected("r")) FROM readable AS v CROSS JOIN main.\(table) AS r ON r.series = v.id AND \(Self.isBehindSince)
            WHERE v.whole AND \(condition)
            UNION ALL
            SELECT \(selected("o")) FROM readable AS v CROSS JOIN readable_object AS o ON o.series = v.id
                CROSS JOIN main.\(table) AS r ON r.series = o.series AND r.start = o.start AND r.hash = o.hash
            WHERE NOT v.whole AND \(condition)
            """
    }

    /// Whole commits, as far as all of one may be read; of the others, those with something that may. What is granted object by object has an entry
    /// each.
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
            // What took its place may be another person's, or of a type that may not be read.
            rows(
                of: table, columns,
                shown: ["replaced_by": "CASE WHEN r.replaced_by IS NULL THEN NULL ELSE \(ToldNames.function)(r.replaced_by) END"])
        case "summary":
            // Weights hang on what came up to so long before, which has to be readable as well.
            """
            SELECT r.* FROM readable AS v CROSS JOIN main.summary AS r ON r.series = v.id
                AND likelihood(r.start >= v.since + \(Summaries.reach), 0.99)
            WHERE v.whole AND NOT EXISTS(SELECT 1 FROM main.setting WHERE name = 'pending')
            """
        case "link":
            """
            SELECT r.* FROM readable AS v CROSS JOIN main.link AS r ON r.series = v.id AND r.start >= v.since
            WHERE EXISTS(SELECT 1 FROM readable AS w WHERE w.id = r.of_series AND r.of_start >= w.since)
            """
        case "place", "reading_alias":
            // Lead to samples, which are looked up behind their own view.
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
