import HealthModel

extension SampleStore.Clients {
    /// The maximum lengths of a client's name, purpose and policy URL, in bytes.
    public static let maximumTextLength = (name: 64, purpose: 1000, policy: 1000)

    /// Adds a client without any permissions.
    ///
    /// - Parameter app: The id of the app if the client is a phone.
    /// - Throws: ``StoreError`` of the kind `invalid` if another client has the name, or if a text is empty, too long
    ///   or contains a control character.
    public func add(
        named name: String, purpose: String, policy: String? = nil, expires: Instant? = nil, app: String? = nil, at now: Instant
    ) throws -> Client {
        for (text, maximumLength) in [
            (name, Self.maximumTextLength.name), (purpose, Self.maximumTextLength.purpose),
            (policy ?? "-", Self.maximumTextLength.policy),
        ] {
            guard !text.isEmpty, text.utf8.count <= maximumLength,
                text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
            else {
                throw StoreError(
                    .invalid, "a client's name, purpose and policy are single lines of at most 64, 1000 and 1000 bytes")
            }
        }
        return try connection.transaction {
            guard try client(named: name) == nil else { throw StoreError(.invalid, "a client with this name already exists") }
            // An imported file can contain samples of another store's client. They belong to no client of this store.
            var id = (try connection.integer("SELECT max(seq) FROM sqlite_sequence WHERE name = 'client'") ?? 0) + 1
            while try connection.series.contains(source: ClientSource.id(of: id)) { id += 1 }
            try connection.run(
                "INSERT INTO client(id, name, purpose, policy, added, expires, app) VALUES(?, ?, ?, ?, ?, ?, ?)", .integer(id),
                .text(name), .text(purpose), .optional(policy), .integer(now.microseconds), .optional(expires?.microseconds),
                .optional(app))
            return Client(id: id, name: name, purpose: purpose, policy: policy, added: now, expires: expires, app: app)
        }
    }

    /// All clients, sorted by name.
    public func all() throws(StoreError) -> [Client] { try list("ORDER BY name", []) }

    /// The client with this name, if any.
    public func client(named name: String) throws(StoreError) -> Client? { try list("WHERE name = ?", [.text(name)]).first }

    /// Whether there is a client with this number.
    func contains(_ id: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM client WHERE id = ?", [.integer(id)])
    }

    /// The numbers of the clients in a store.
    static func ids(in connection: Connection) throws(StoreError) -> Set<Int64> {
        Set(try connection.list("SELECT id FROM client") { $0.integer(0) })
    }

    private func list(_ condition: String, _ bindings: [Value]) throws(StoreError) -> [Client] {
        try connection.list("SELECT id, name, purpose, policy, added, expires, app FROM client \(condition)", bindings) { row in
            Client(
                id: row.integer(0), name: row.text(1), purpose: row.text(2),
                policy: row.optionalText(3), added: Instant(microseconds: row.integer(4)),
                expires: row.optionalInteger(5).map { Instant(microseconds: $0) }, app: row.optionalText(6))
        }
    }

    /// Returns the ids of the types that a client requires, or `nil` if they were never set.
    func requiredTypeIDs(of client: Client) throws(StoreError) -> [String]? {
        try connection.text("SELECT required FROM main.client WHERE id = ? AND required IS NOT NULL", .integer(client.id))?
            .split(separator: ",").map(String.init)
    }

    func setRequiredTypeIDs(_ ids: [String], of client: Client) throws(StoreError) {
        try connection.run(
            "UPDATE client SET required = ? WHERE id = ?", .text(ids.joined(separator: ",")), .integer(client.id))
    }

    /// Removes a client with its tokens, grants, requests and read ledger. Open readers of the client return no more
    /// data.
    ///
    /// - Parameter description: The ledger entry for the deletion of the samples that the client wrote, or `nil` to
    ///   keep them.
    /// - Returns: The id of that entry and the number of deleted samples. The id is 0 if nothing changed.
    /// - Throws: ``StoreError`` of the kind `invalid` if there is no such client.
    @discardableResult
    public func remove(_ client: Client, deletingSamples description: IngestDescription? = nil) throws -> (
        ingest: Int64, count: Int
    ) {
        try connection.transaction {
            // Remove the permissions first, so that the client writes nothing in the meantime.
            try connection.grants.removeAll(of: client.id)
            try connection.writeBack.removeAll(of: client.id)
            for table in ["token", "widening", "asked", "read_by", "saved_answer"] {
                try connection.run("DELETE FROM \(table) WHERE client = ?", .integer(client.id))
            }
            try Epochs.forget(viewer: client.source, connection)
            try connection.run("DELETE FROM client WHERE id = ?", .integer(client.id))
            guard connection.changes > 0 else { throw StoreError(.invalid, "there is no such client") }
            guard let description else { return (0, 0) }
            return try store.samples.change(description) { ingest, deletion in
                // Reject the client's samples that are still in quarantine, so that they never become live samples.
                if try connection.quarantine.reject(profile: client.source, by: ingest) { deletion.changesMore() }
                try connection.quarantine.update(touchedBy: ingest)
                return try deletion.delete(try table.keys(ofSource: client.source))
            }
        }
    }
}
