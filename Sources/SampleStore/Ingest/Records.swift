import HealthModel

/// Maintains the versions of records that have an id from their producer. Used inside a transaction.
struct Records {
    let connection: Connection
    let ingest: Int64
    /// Whether versions of other devices with the same person, type, and source count as well.
    var acrossDevices = false

    /// Registers a version that is about to be stored and retires the lower version. Returns false if an equal or higher version exists,
    /// deleted or not.
    func claim(
        _ received: RecordIdentifier, series: Int64, start: Int64, hash: [UInt8], identity: SampleIdentity
    ) throws(StoreError) -> Bool {
        var record = received
        let table = connection.records
        let lower =
            try acrossDevices
            ? table.versions(of: record.id, besideSeries: series) : table.versions(of: record.id, in: series)
        // An equal reading would have been found before. So this one has another value, and the later import wins.
        if let highest = lower.last, let next = record.following(highest.number) { record = next }
        if let highest = lower.last, highest.number >= record.version { return false }
        // This is a part of an edition that was replaced. The later edition may not have this part.
        if let whole = record.whole, let newest = try table.newest(of: whole, in: series), newest > record.version {
            return false
        }
        let place = try SampleKey(series: series, start: start, hash: hash)
        try table.add(record, at: place, isAcross: acrossDevices)
        guard let next = lower.last?.place else { return true }
        // The new version must be taken into account although its row does not exist yet.
        let deletion = Deletion(connection: connection, ingest: ingest)
        let settlement = Settlement(deletion)
        settlement.reader.arriving[place] = (ingest, identity)
        try settlement.settle([next])
        // The deletion is a decision of this ingest. While the ingest is active, parts that the new version does not have are deleted.
        try deletion.delete(
            try table.places(ofIDs: RecordIdentifier.parts(of: record.id), in: series, below: record.version))
        try deletion.settleDerived()
        return true
    }
}
