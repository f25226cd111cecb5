import HealthModel

/// The tables `granted` (the permissions of clients, by person and type) and `granted_object` (the objects that were granted one by one).
struct GrantTable {
    let connection: Connection

    /// The row of a client's permissions for a person and type.
    struct Key {
        var client: Int64
        var person: String
        var type: String

        fileprivate var values: [Value] { [.integer(client), .text(person), .text(type)] }
    }

    /// The kinds of objects that are granted one by one.
    static let kindsAskedByObject: Set<SampleKind> = [.clinicalRecord, .document]
    /// SQL for whether a series has one of these kinds.
    static func isAskedByObject(_ kind: String) -> String {
        "\(kind) IN (\(kindsAskedByObject.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")))"
    }

    /// SQL for whether the request of the row `asked` is granted now.
    static let isGranted = """
        EXISTS(SELECT 1 FROM granted AS g WHERE (g.client, g.subject, g.type) = (asked.client, asked.subject, asked.type)
            AND CASE access WHEN 'read' THEN read_from IS NOT NULL ELSE may_write END)
        """

    /// SQL for whether the client `?1` was ever granted data of the person `?2`.
    static let hasGrants = "EXISTS(SELECT 1 FROM granted WHERE client = ?1 AND subject = ?2)"

    /// SQL for whether a client may read the sample of a series with this start, if it is of this person. Types that are granted one by one
    /// are not included.
    static func mayRead(series: String, start: String, client: String, person: String) -> String {
        """
        EXISTS(SELECT 1 FROM series AS s JOIN granted AS g ON g.client = \(client) AND g.subject = s.subject AND g.type = s.type
            WHERE s.id = \(series) AND s.subject = \(person) AND g.read_from <= \(start))
        """
    }

    /// SQL for the clients that have grants of a person.
    static func clients(ofPerson person: String) -> String { "(SELECT client FROM granted WHERE subject = \(person))" }

    private static let isKey = "client = ?1 AND subject = ?2 AND type = ?3"

    // MARK: Permissions

    /// The permissions of a client for a person and type.
    struct Row: Hashable {
        var person: String
        var type: String
        /// The start from which objects may be read, in microseconds since 1970, or `nil` if none may be read.
        var start: Int64?
        /// The number of the change after which objects may be read without being granted one by one, or `nil` if there are none.
        var after: Int64?
        var mayWrite: Bool
    }

    /// Returns the permissions of a client, sorted by person and type.
    func rows(of client: Int64) throws(StoreError) -> [Row] {
        try connection.list(
            "SELECT subject, type, read_from, after, may_write FROM granted WHERE client = ? ORDER BY subject, type",
            [.integer(client)]
        ) {
            Row(
                person: $0.text(0), type: $0.text(1), start: $0.optionalInteger(2), after: $0.optionalInteger(3),
                mayWrite: $0.integer(4) != 0)
        }
    }

    /// Returns the start from which a client may read, or `nil` if it may not read.
    func start(_ key: Key) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT read_from FROM main.granted WHERE client = ? AND subject = ? AND type = ? AND read_from IS NOT NULL",
            .integer(key.client), .text(key.person), .text(key.type))
    }

    func mayWrite(_ key: Key) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM main.granted WHERE \(Self.isKey) AND may_write", key.values)
    }

    /// Adds a row without permissions unless there is one.
    func add(_ key: Key) throws(StoreError) {
        try connection.run("INSERT OR IGNORE INTO granted(client, subject, type) VALUES(?, ?, ?)", key.values)
    }

    func setReading(_ key: Key, from start: Int64?, after: Int64?) throws(StoreError) {
        try connection.run(
            "UPDATE granted SET read_from = ?4, after = ?5 WHERE \(Self.isKey)",
            key.values + [.optional(start), .optional(after)])
    }

    func setWriting(_ key: Key, to mayWrite: Bool) throws(StoreError) {
        try connection.run(
            "UPDATE granted SET may_write = ?4 WHERE \(Self.isKey)", key.values + [.integer(mayWrite ? 1 : 0)])
    }

    // MARK: Objects

    /// Replaces the granted objects. An object that was granted before keeps the number of its widening.
    func setObjects(_ key: Key, to keys: [SampleKey], widening: Int64) throws(StoreError) {
        let own = "client = ?1 AND series IN \(SeriesTable.ids(ofPerson: "?2", type: "?3"))"
        // Negative numbers mark the objects granted before. No widening has a negative number.
        try connection.run("UPDATE granted_object SET widening = -1 - widening WHERE \(own)", key.values)
        for sampleKey in keys {
            try connection.run(
                """
                INSERT INTO granted_object(client, series, start, hash, widening) VALUES(?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET widening = CASE WHEN widening < 0 THEN -1 - widening ELSE widening END
                """, [.integer(key.client)] + sampleKey.values + [.integer(widening)])
        }
        try connection.run("DELETE FROM granted_object WHERE \(own) AND widening < 0", key.values)
    }

    /// Grants added samples, object by object, to clients that may read later objects of their type.
    ///
    /// - Parameters:
    ///   - starts: The range of the samples' starts.
    ///   - number: The change number of the first sample.
    func addObjects(of series: Int64, _ starts: ClosedRange<Int64>, from number: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO granted_object(client, series, start, hash) SELECT g.client, r.series, r.start, r.hash
            FROM series AS s CROSS JOIN granted AS g ON g.subject = s.subject AND g.type = s.type AND g.after IS NOT NULL
                CROSS JOIN sample AS r ON r.series = s.id AND r.start BETWEEN ?2 AND ?3 AND r.seq >= ?4
            WHERE s.id = ?1 AND \(Self.isAskedByObject("s.kind"))
            """, .integer(series), .integer(starts.lowerBound), .integer(starts.upperBound), .integer(number))
    }

    /// Returns the objects that were granted with widenings after a number.
    func objects(of client: Int64, after widening: Int64) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM main.granted_object WHERE client = ? AND widening > ?",
            [.integer(client), .integer(widening)])
    }

    // MARK: Removing

    /// Removes all permissions of a client.
    func removeAll(of client: Int64) throws(StoreError) {
        try connection.run("DELETE FROM granted WHERE client = ?", .integer(client))
        try connection.run("DELETE FROM granted_object WHERE client = ?", .integer(client))
    }

    /// Removes the permissions of a client that it does not have in another state of the store.
    ///
    /// - Returns: Whether there were any.
    func limit(_ client: Int64, to other: GrantTable) throws(StoreError) -> Bool {
        let others = try other.rows(of: client)
        var hasChanged = false
        for row in try rows(of: client) {
            let found = others.first { $0.person == row.person && $0.type == row.type }
            var limited = row
            limited.start = if let own = row.start, let start = found?.start { max(own, start) } else { nil }
            limited.after = found?.after == nil ? nil : row.after
            limited.mayWrite = row.mayWrite && found?.mayWrite ?? false
            guard limited != row else { continue }
            hasChanged = true
            let key = Key(client: client, person: row.person, type: row.type)
            try setReading(key, from: limited.start, after: limited.after)
            try setWriting(key, to: limited.mayWrite)
        }
        let objects = Set(try other.objects(of: client, after: .min))
        for key in try self.objects(of: client, after: .min) where !objects.contains(key) {
            hasChanged = true
            try connection.run(
                "DELETE FROM granted_object WHERE client = ? AND series = ? AND start = ? AND hash = ?",
                [.integer(client)] + key.values)
        }
        return hasChanged
    }

    /// Removes the grants of the rows in the table `pruned`.
    func removePruned() throws(StoreError) {
        try connection.run("DELETE FROM granted_object WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned)")
    }
}
