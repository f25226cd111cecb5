import HealthModel

/// Keeps one version of a record that its maker numbered. Used inside a transaction.
struct Records {
    let connection: Connection
    let ingest: Int64

    /// Puts a version, about to be stored, in place of the lower one; false where it gives way to an equal or higher one, deleted or not.
    func claim(
        _ record: RecordIdentifier, series: Int64, start: Int64, hash: [UInt8], identity: SampleIdentity
    ) throws(StoreError) -> Bool {
        let known = try connection.statement(
            "SELECT version, start, hash FROM record WHERE series = ? AND id = ? ORDER BY version DESC")
        defer { known.reset() }
        try known.bind([.integer(series), .text(record.id)])
        var lower: [(start: Int64, hash: [UInt8])] = []
        while try known.step() {
            guard known.integer(0) < record.version else { return false }
            lower.append((known.integer(1), Array(known.blob(2))))
        }
        let deletion = Deletion(connection: connection, ingest: ingest)
        // One at most is live, as it came or repaired.
        for lower in lower {
            let place = try SampleKey(series: series, start: lower.start, hash: lower.hash)
            guard let live = try Replacements(connection: connection).live(from: place) else { continue }
            try deletion.delete(live, replacedBy: identity.description)
        }
        try connection.run(
            "INSERT INTO record(series, id, version, start, hash) VALUES(?, ?, ?, ?, ?)", .integer(series), .text(record.id),
            .integer(record.version), .integer(start), .blob(hash))
        return true
    }

    /// Whether another version of the record that stands here is live, as it came or repaired.
    static func hasLiveVersion(_ connection: Connection, of place: SampleKey) throws(StoreError) -> Bool {
        let replacements = Replacements(connection: connection)
        let root = try replacements.root(of: place)
        let versions = try connection.statement(
            """
            SELECT other.start, other.hash FROM record AS own JOIN record AS other ON other.series = own.series AND other.id = own.id
            WHERE own.series = ? AND own.start = ? AND own.hash = ? AND other.version <> own.version
            """)
        defer { versions.reset() }
        try versions.bind([.integer(root.series), .integer(root.start), .blob(root.hash)])
        var others: [SampleKey] = []
        while try versions.step() {
            try others.append(SampleKey(series: root.series, start: versions.integer(0), hash: versions.blob(1)))
        }
        for other in others where try replacements.live(from: other) != nil { return true }
        return false
    }
}
