import HealthModel

/// Filters references to other objects in data that a client or a person may read: the UUID of a deleted sample's replacement, the UUID of
/// a corrected sample, and the UUIDs of the objects in a correlation or workout. A reference is kept if the target may be read, or could be read before it was
/// deleted, and if ``ReferenceRule`` permits the reference in an object. Other references are removed, as if they had never existed.
enum ReadableReferences {
    /// The metadata key of a corrected sample. Its value is the UUID of the sample that was deleted for it.
    static let corrects = "corrects"

    /// The name of the SQL function that returns a UUID unchanged if it may be shown, or NULL if not.
    static let function = "readable_reference"

    /// Registers the SQL function with a connection.
    static func register(with connection: Connection) throws(StoreError) {
        // The connection retains the function.
        try connection.defineFilter(function) { [unowned connection] in try Self.isReadable($0, connection) }
    }

    /// Whether a restricted connection shows the object with this UUID, live or deleted.
    ///
    /// - Parameter rule: The rule of the object that contains the UUID, if one does.
    static func isReadable(_ name: String, by rule: ReferenceRule? = nil, _ connection: Connection) throws(StoreError) -> Bool {
        guard let uuid = SampleIdentity(name) else { return false }
        let low = Int64(uuid.milliseconds) * 1000
        let found = try connection.first(named, [.integer(low), .integer(low + 999), .blob(uuid.storedHash)]) {
            SampleKey(series: $0.integer(0), start: $0.integer(1), of: uuid)
        }
        guard let found, let rule else { return found != nil }
        return try connection.series.permits(found, by: rule)
    }

    /// SQL that finds a UUID among the readable rows.
    private static let named =
        ["sample", "deleted", "witness_row"].map { table in
            """
            SELECT r.series, r.start FROM readable AS v CROSS JOIN \(table) AS r
                ON r.series = v.id AND r.start BETWEEN max(?1, v.since) AND ?2 AND r.hash = ?3
            UNION ALL
            SELECT r.series, r.start FROM readable AS v CROSS JOIN main.place AS p ON p.series = v.id AND p.nominal BETWEEN ?1 AND ?2 AND p.hash = ?3
                CROSS JOIN \(table) AS r ON r.series = p.series AND r.start = p.start AND r.hash = p.hash
            """
        }.joined(separator: " UNION ALL ") + " LIMIT 1"

    /// Returns the body of a sample without the references that a client or a person may not see.
    static func shown(in sample: Sample, _ connection: Connection) throws(StoreError) -> SampleBody? {
        guard let body = sample.body, let type = sample.origin.kind.bodyType, type.referenceRole != .none,
            let object: any ObjectBody = try? body.decoded(as: type)
        else {
            return sample.body
        }
        let (names, rule) = (object.references, ReferenceRule(in: sample))
        var readable: [String] = []
        for name in names where try isReadable(name, by: rule, connection) { readable.append(name) }
        guard readable != names else { return body }
        guard let shown = try? body.with(references: readable, in: object) else {
            throw StoreError(.corrupt, "a body cannot be shown in part")
        }
        return shown
    }

    /// Returns metadata without the UUID of a corrected sample that a client or a person may not see.
    static func shown(in metadata: Metadata, _ connection: Connection) throws(StoreError) -> Metadata {
        guard case .string(let name)? = metadata[corrects], try !isReadable(name, connection) else { return metadata }
        return Metadata(metadata.entries.filter { $0.key != corrects }.map { ($0.key, $0.value) })
    }
}
