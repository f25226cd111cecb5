import HealthModel

/// Filters references to other objects in data that a client may read: the UUID of a deleted sample's replacement, and
/// the UUIDs of the objects in a correlation or workout. A reference is kept if the client may read its target, or
/// could read it before the target was deleted. Other references are removed, as if they had never existed.
enum ReadableReferences {
    /// The name of the SQL function that returns a UUID unchanged if it may be shown, or NULL if not.
    static let function = "readable_reference"

    /// Registers the SQL function with a connection.
    static func register(with connection: Connection) throws(StoreError) {
        // The connection retains the function.
        try connection.defineFilter(function) { [unowned connection] in try Self.isReadable($0, connection) }
    }

    /// Whether a restricted connection shows the object with this UUID, live or deleted.
    static func isReadable(_ name: String, _ connection: Connection) throws(StoreError) -> Bool {
        guard let uuid = SampleIdentity(name) else { return false }
        let low = Int64(uuid.milliseconds) * 1000
        return try connection.integer(named, .integer(low), .integer(low + 999), .blob(uuid.storedHash)) != nil
    }

    /// SQL that finds a UUID among the readable rows.
    private static let named =
        ["sample", "deleted", "witness_row"].map { table in
            """
            SELECT 1 FROM readable AS v CROSS JOIN \(table) AS r
                ON r.series = v.id AND r.start BETWEEN max(?1, v.since) AND ?2 AND r.hash = ?3
            UNION ALL
            SELECT 1 FROM readable AS v CROSS JOIN main.place AS p ON p.series = v.id AND p.nominal BETWEEN ?1 AND ?2 AND p.hash = ?3
                CROSS JOIN \(table) AS r ON r.series = p.series AND r.start = p.start AND r.hash = p.hash
            """
        }.joined(separator: " UNION ALL ") + " LIMIT 1"

    /// Returns the body of a sample without the references that a client may not see.
    static func shown(_ body: SampleBody, of kind: SampleKind, _ connection: Connection) throws(StoreError) -> SampleBody {
        guard let type = kind.bodyType, type.referenceRole != .none, let object: any ObjectBody = try? body.decoded(as: type)
        else {
            return body
        }
        let names = object.references
        var readable: [String] = []
        for name in names where try isReadable(name, connection) { readable.append(name) }
        guard readable != names else { return body }
        guard let shown = try? body.with(references: readable, in: object) else {
            throw StoreError(.corrupt, "a body cannot be shown in part")
        }
        return shown
    }
}
