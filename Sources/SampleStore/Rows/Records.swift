import HealthModel

/// Keeps one version of a record that its maker numbered. Used inside a transaction.
struct Records {
    let connection: Connection
    let ingest: Int64
    /// Whether a version of another device, of the same person, type and source, counts as well.
    var acrossDevices = false

    /// Puts a version, about to be stored, in place of the lower one; false where it gives way to an equal or higher one, deleted or not.
    func claim(
        _ record: RecordIdentifier, series: Int64, start: Int64, hash: [UInt8], identity: SampleIdentity
    ) throws(StoreError) -> Bool {
        let known = try connection.statement(
            acrossDevices
                ? """
                SELECT version, start, hash, record.series FROM series AS own JOIN series AS other ON other.type = own.type
                    AND other.subject = own.subject AND other.source = own.source
                CROSS JOIN record ON record.series = other.id AND record.id = ?2 WHERE own.id = ?1 ORDER BY version DESC
                """ : "SELECT version, start, hash, series FROM record WHERE series = ?1 AND id = ?2 ORDER BY version DESC")
        defer { known.reset() }
        try known.bind([.integer(series), .text(record.id)])
        var lower: [SampleKey] = []
        while try known.step() {
            guard known.integer(0) < record.version else { return false }
            try lower.append(SampleKey(series: known.integer(3), start: known.integer(1), hash: known.blob(2)))
        }
        if !lower.isEmpty { lower += try laterParts(of: record, series: series) }
        // A part of an edition that was replaced: the later one may have no such part.
        if let whole = record.whole {
            let newest = try connection.integer(
                "SELECT max(version) FROM record WHERE series = ? AND id = ?", .integer(series), .text(whole))
            if let newest, newest > record.version { return false }
        }
        let deletion = Deletion(connection: connection, ingest: ingest)
        // One at most is live, as it came or repaired.
        for lower in lower {
            guard let live = try Replacements(connection: connection).live(from: lower) else { continue }
            try deletion.delete(live, replacedBy: identity.description)
        }
        try connection.run(
            "INSERT INTO record(series, id, version, start, hash) VALUES(?, ?, ?, ?, ?)", .integer(series), .text(record.id),
            .integer(record.version), .integer(start), .blob(hash))
        return true
    }

    /// The later parts that a lower version of a record had: the new one may have fewer.
    private func laterParts(of record: RecordIdentifier, series: Int64) throws(StoreError) -> [SampleKey] {
        let ids = RecordIdentifier.parts(of: record.id)
        let statement = try connection.statement(
            "SELECT start, hash FROM record WHERE series = ? AND id >= ? AND id < ? AND version < ?")
        defer { statement.reset() }
        try statement.bind([
            .integer(series), .text(ids.lowerBound), .text(ids.upperBound), .integer(record.version),
        ])
        var parts: [SampleKey] = []
        while try statement.step() {
            try parts.append(SampleKey(series: series, start: statement.integer(0), hash: statement.blob(1)))
        }
        return parts
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
        // One of another device that took its place.
        let successor = try connection.text(
            "SELECT replaced_by FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten",
            .integer(place.series),
            .integer(place.start), .blob(place.hash))
        guard let successor, let uuid = SampleIdentity(successor) else { return false }
        for other in try Replacements.places(of: uuid, connection) where other.series != place.series {
            guard try replacements.live(from: other) != nil else { continue }
            let isRecord = try connection.integer(
                "SELECT 1 FROM record WHERE series = ? AND start = ? AND hash = ?", .integer(other.series), .integer(other.start),
                .blob(other.hash))
            if isRecord != nil { return true }
        }
        return false
    }
}
