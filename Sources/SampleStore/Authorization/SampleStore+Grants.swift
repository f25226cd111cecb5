import HealthModel

extension SampleStore {
    /// The grants of a client, sorted by person and type.
    public func grants(of client: Client) throws(StoreError) -> [Grant] {
        let statement = try connection.statement(
            "SELECT subject, type, read_from, after, may_write FROM granted WHERE client = ? ORDER BY subject, type")
        defer { statement.reset() }
        try statement.bind([.integer(client.id)])
        var grants: [Grant] = []
        while try statement.step() {
            // Skip types of a newer version, which this version cannot grant.
            guard let type = ObjectType(statement.text(1)) else { continue }
            var reading = Grant.Reading.none
            if let from = statement.optionalInteger(2) {
                reading = type.isAskedByObject ? .objects(future: !statement.isNull(3)) : .from(Instant(microseconds: from))
            }
            grants.append(
                Grant(subject: statement.text(0), type: type, reading: reading, mayWrite: statement.integer(4) != 0))
        }
        return grants
    }

    /// Replaces a client's read permission, write permission, or both with a person's decision. All readers of the
    /// client follow it from its commit on.
    ///
    /// - Parameters:
    ///   - objects: The objects that may be read, for a type that is granted object by object.
    ///   - accesses: The permissions that the person decided on. The others keep their value and stay unanswered.
    ///   - time: The time of the person's answer.
    /// - Throws: ``StoreError`` of the kind `invalid` if there is no such client or object, if a type is granted as a
    ///   whole that is granted only object by object, or if writing is granted for a read-only type.
    public func set(
        _ grant: Grant, objects: [SampleIdentity] = [], accesses: Set<Grant.Access> = Set(Grant.Access.allCases),
        of client: Client,
        at time: Instant
    ) throws {
        guard !accesses.isEmpty else { return }
        guard !grant.mayWrite || !grant.type.isReadOnly else {
            throw StoreError(.invalid, "\(grant.type.id) is read-only: clients cannot write it")
        }
        try connection.transaction {
            guard try self.client(named: client.name)?.id == client.id else {
                throw StoreError(.invalid, "there is no such client")
            }
            let key: [Value] = [.integer(client.id), .text(grant.subject), .text(grant.type.id)]
            let before = try grants(of: client).first { $0.subject == grant.subject && $0.type == grant.type }
            try connection.run("INSERT OR IGNORE INTO granted(client, subject, type) VALUES(?, ?, ?)", key[0], key[1], key[2])
            if accesses.contains(.read) {
                let (from, after) = try columns(of: grant, objects)
                try connection.run(
                    "UPDATE granted SET read_from = ?4, after = ?5 WHERE client = ?1 AND subject = ?2 AND type = ?3", key[0],
                    key[1],
                    key[2], .optional(from), .optional(after))
                let widening = try noteWidening(to: grant, objects, from: before, of: client)
                try replaceObjects(by: objects, grant, of: client, widening: widening)
            }
            if accesses.contains(.write) {
                try connection.run(
                    "UPDATE granted SET may_write = ?4 WHERE client = ?1 AND subject = ?2 AND type = ?3", key[0], key[1], key[2],
                    .integer(grant.mayWrite ? 1 : 0))
            }
            try noteAnswer(to: accesses, of: grant, client, at: time)
        }
    }

    /// SQL for whether the request of the row `asked` is granted now.
    static let isGranted = """
        EXISTS(SELECT 1 FROM granted AS g WHERE (g.client, g.subject, g.type) = (asked.client, asked.subject, asked.type)
            AND CASE access WHEN 'read' THEN read_from IS NOT NULL ELSE may_write END)
        """

    /// SQL for whether the client `?1` was ever granted data of the person `?2`.
    static let hasGrants = "EXISTS(SELECT 1 FROM granted WHERE client = ?1 AND subject = ?2)"

    /// Returns the start from which a client may read a type of a person, or `nil` if it may not.
    func startOfReading(_ type: String, of subject: String, _ client: Client) throws(StoreError) -> Instant? {
        try connection.integer(
            "SELECT read_from FROM main.granted WHERE client = ? AND subject = ? AND type = ? AND read_from IS NOT NULL",
            .integer(client.id), .text(subject), .text(type)
        ).map { Instant(microseconds: $0) }
    }

    private func columns(of grant: Grant, _ objects: [SampleIdentity]) throws(StoreError) -> (from: Int64?, after: Int64?) {
        switch grant.reading {
        case .none:
            guard objects.isEmpty else { throw StoreError(.invalid, "objects are listed, but read access is not granted") }
            return (nil, nil)
        case .from(let start):
            guard !grant.type.isAskedByObject, objects.isEmpty else {
                throw StoreError(.invalid, "\(grant.type.id) is granted for each object separately")
            }
            return (start.microseconds, nil)
        case .objects(let future):
            guard grant.type.isAskedByObject else {
                throw StoreError(.invalid, "\(grant.type.id) is granted as a whole, not object by object")
            }
            return (.min, future ? try lastChange() : nil)
        }
    }

    /// Replaces the granted objects. An object that was granted before keeps its widening number.
    private func replaceObjects(
        by objects: [SampleIdentity], _ grant: Grant, of client: Client, widening: Int64
    ) throws(StoreError) {
        let own = "client = ?1 AND series IN (SELECT id FROM series WHERE subject = ?2 AND type = ?3)"
        let key: [Value] = [.integer(client.id), .text(grant.subject), .text(grant.type.id)]
        // Negative numbers mark the objects granted before. No widening has a negative number.
        try connection.run("UPDATE granted_object SET widening = -1 - widening WHERE \(own)", key[0], key[1], key[2])
        for object in objects { try grantObject(object, grant, to: client, widening: widening) }
        try connection.run("DELETE FROM granted_object WHERE \(own) AND widening < 0", key[0], key[1], key[2])
    }

    private func grantObject(_ uuid: SampleIdentity, _ grant: Grant, to client: Client, widening: Int64) throws(StoreError) {
        let series = try series(matching: SampleQuery(subject: grant.subject)).filter { ObjectType($0.type) == grant.type }
        var isFound = false
        for one in series {
            for place in try places(of: uuid, in: "sample", ofSeries: one.id) {
                isFound = true
                try connection.run(
                    """
                    INSERT INTO granted_object(client, series, start, hash, widening) VALUES(?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET widening = CASE WHEN widening < 0 THEN -1 - widening ELSE widening END
                    """, .integer(client.id), .integer(place.series), .integer(place.start), .blob(place.hash), .integer(widening)
                )
            }
        }
        guard isFound else { throw StoreError(.invalid, "the person has no \(grant.type.id) \(uuid)") }
    }

    /// Returns the objects that were granted with widenings after a number.
    func grantedObjects(to client: Client, after widening: Int64) throws(StoreError) -> [(start: Int64, hash: [UInt8])] {
        let statement = try connection.statement("SELECT start, hash FROM main.granted_object WHERE client = ? AND widening > ?")
        defer { statement.reset() }
        try statement.bind([.integer(client.id), .integer(widening)])
        var objects: [(start: Int64, hash: [UInt8])] = []
        while try statement.step() { objects.append((statement.integer(0), Array(statement.blob(1)))) }
        return objects
    }

    /// Removes the grants of objects that the table `pruned` names.
    func forgetGrantsOfPruned() throws(StoreError) {
        try connection.run("DELETE FROM granted_object WHERE (series, start, hash) IN (SELECT series, start, hash FROM pruned)")
    }

    /// Whether a client may write objects of a type for a person.
    public func mayWrite(_ type: ObjectType, of subject: String, _ client: Client) throws(StoreError) -> Bool {
        guard !type.isReadOnly else { return false }
        return try connection.integer(
            "SELECT 1 FROM main.granted WHERE client = ? AND subject = ? AND type = ? AND may_write", .integer(client.id),
            .text(subject), .text(type.id)) != nil
    }
}
