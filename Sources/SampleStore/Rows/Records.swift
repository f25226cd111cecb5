import HealthModel

/// Maintains the versions of records that have an id from their producer. Used inside a transaction.
struct Records {
    /// The table for a search by start. Without the index's name, SQLite reads every record of the series, because its primary key looks
    /// cheaper to the planner. A restricted store has a view instead of the table, and a view has no index.
    static func byPlace(_ connection: Connection) -> String {
        connection.isRestricted ? "record" : "record INDEXED BY record_by_start"
    }

    let connection: Connection
    let ingest: Int64
    /// Whether versions of other devices with the same person, type, and source count as well.
    var acrossDevices = false

    /// Registers a version that is about to be stored and retires the lower version. Returns false if an equal or higher version exists,
    /// deleted or not.
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
        // This is a part of an edition that was replaced. The later edition may not have this part.
        if let whole = record.whole {
            let newest = try connection.integer(
                "SELECT max(version) FROM record WHERE series = ? AND id = ?", .integer(series), .text(whole))
            if let newest, newest > record.version { return false }
        }
        try connection.run(
            "INSERT INTO record(series, id, version, start, hash, across) VALUES(?, ?, ?, ?, ?, ?)", .integer(series),
            .text(record.id), .integer(record.version), .integer(start), .blob(hash), .integer(acrossDevices ? 1 : 0))
        guard let next = lower.first else { return true }
        // The new version must be taken into account although its row does not exist yet.
        let deletion = Deletion(connection: connection, ingest: ingest)
        let settlement = Settlement(deletion)
        let place = try SampleKey(series: series, start: start, hash: hash)
        settlement.reader.arriving[place] = (ingest, identity)
        try settlement.settle([next])
        // The deletion is a decision of this ingest. While the ingest is active, parts that the new version does not have are deleted.
        try deletion.delete(try laterParts(of: record, series: series))
        try deletion.settleDerived()
        return true
    }

    /// Returns the later parts of lower versions of a record, which the new version may not have.
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
}
