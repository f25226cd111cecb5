import HealthModel

extension SampleStore.Clients {
    /// The grants of a client, sorted by person and type.
    public func grants(of client: Client) throws(StoreError) -> [Grant] {
        try connection.grants.rows(of: client.id).compactMap { row in
            // Skip types of a newer version, which this version cannot grant.
            guard let type = ObjectType(row.type) else { return nil }
            var reading = Grant.Reading.none
            if let start = row.start {
                reading = type.isAskedByObject ? .objects(future: row.after != nil) : .from(Instant(microseconds: start))
            }
            return Grant(person: row.person, type: type, reading: reading, mayWrite: row.mayWrite)
        }
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
            let key = GrantTable.Key(client: client.id, person: grant.person, type: grant.type.id)
            let before = try grants(of: client).first { $0.person == grant.person && $0.type == grant.type }
            let table = connection.grants
            try table.add(key)
            if accesses.contains(.read) {
                let (from, after) = try columns(of: grant, objects)
                try table.setReading(key, from: from, after: after)
                let widening = try noteWidening(to: grant, objects, from: before, of: client)
                try table.setObjects(key, to: try keys(of: objects, grant), widening: widening)
            }
            if accesses.contains(.write) { try table.setWriting(key, to: grant.mayWrite) }
            try noteAnswer(to: accesses, of: grant, client, at: time)
        }
    }

    /// Returns the start from which a client may read a type of a person, or `nil` if it may not.
    func startOfReading(_ type: String, of person: String, _ client: Client) throws(StoreError) -> Instant? {
        try connection.grants.start(.init(client: client.id, person: person, type: type)).map { Instant(microseconds: $0) }
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
            return (.min, future ? try store.lastChange() : nil)
        }
    }

    /// Returns the places of objects of the grant's person and type.
    private func keys(of objects: [SampleIdentity], _ grant: Grant) throws(StoreError) -> [SampleKey] {
        let series = try store.samples.series(matching: SampleQuery(person: grant.person)).filter {
            ObjectType($0.type) == grant.type
        }
        var all: [SampleKey] = []
        for uuid in objects {
            var keys: [SampleKey] = []
            for one in series { keys += try table.keys(of: uuid, among: .live, ofSeries: one.id) }
            guard !keys.isEmpty else { throw StoreError(.invalid, "the person has no \(grant.type.id) \(uuid)") }
            all += keys
        }
        return all
    }

    /// Whether a client may write objects of a type for a person.
    public func mayWrite(_ type: ObjectType, of person: String, _ client: Client) throws(StoreError) -> Bool {
        guard !type.isReadOnly else { return false }
        return try connection.grants.mayWrite(.init(client: client.id, person: person, type: type.id))
    }
}
