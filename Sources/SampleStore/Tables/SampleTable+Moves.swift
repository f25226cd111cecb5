import HealthModel

/// Bulk moves of samples to tombstones and back.
extension SampleTable {
    /// A sample that becomes a tombstone.
    struct TombstoneMove {
        var key: SampleKey
        /// The sample that replaces it, if any.
        var successor: SampleIdentity?
    }

    /// A tombstone that becomes a sample again.
    struct RestorationMove {
        var key: SampleKey
        /// The ingest that brought the sample.
        var ingestID: Int64
        /// The change number it had before. It preserves the order of samples that have the same start.
        var number: Int64
    }

    /// Turns samples into tombstones.
    ///
    /// - Parameter ingest: The ingest that deletes them.
    /// - Returns: The number of samples that existed.
    func moveToTombstones(_ tombstones: [TombstoneMove], by ingest: Int64) throws(StoreError) -> Int {
        let sorted = tombstones.sorted { ($0.key.series, $0.key.start) < ($1.key.series, $1.key.start) }
        let copy = try connection.statement(
            """
            INSERT OR REPLACE INTO deleted(\(Self.columns), seq, deleted_seq, ingest, replaced_by, forgotten)
            SELECT \(Self.columns), seq, ?, ?, ?, 0 FROM sample WHERE series = ? AND start = ? AND hash = ?
            """)
        let log = ChangeLog(connection: connection, cause: ingest)
        var number = try lastNumber()
        let first = number
        var keys: [ChangeLog.Place] = []
        for index in sorted.indices {
            let (key, hash) = (sorted[index].key, sorted[index].key.hash)
            copy.reset()
            try copy.bind([
                .integer(number + 1), .integer(ingest), .optional(sorted[index].successor?.description), .integer(key.series),
                .integer(key.start), .blob(hash),
            ])
            _ = try copy.step()
            if connection.changes > 0 {
                number += 1
                keys.append(ChangeLog.Place(start: key.start, seq: number))
                try connection.run(
                    "DELETE FROM sample WHERE series = ? AND start = ? AND hash = ?", .integer(key.series),
                    .integer(key.start), .blob(hash))
            }
            guard index + 1 == sorted.count || sorted[index + 1].key.series != key.series, !keys.isEmpty else { continue }
            try log.add(series: key.series, keys, ingest: ingest, deletion: true)
            keys.removeAll(keepingCapacity: true)
        }
        copy.reset()
        if number > first { try setLast(number: number) }
        return Int(number - first)
    }

    /// Restores samples from their tombstones. The samples still belong to the ingests that brought them.
    ///
    /// - Parameter ingest: The ingest that restores them.
    /// - Returns: The number of tombstones that existed.
    func restore(_ restorations: [RestorationMove], by ingest: Int64) throws(StoreError) -> Int {
        let sorted = restorations.sorted {
            ($0.key.series, $0.ingestID, $0.key.start, $0.number) < ($1.key.series, $1.ingestID, $1.key.start, $1.number)
        }
        let copy = try connection.statement(
            """
            INSERT OR IGNORE INTO sample(\(Self.columns), seq)
            SELECT \(Self.columns), ? FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten
            """)
        let log = ChangeLog(connection: connection, cause: ingest)
        var number = try lastNumber()
        let first = number
        var keys: [ChangeLog.Place] = []
        for index in sorted.indices {
            let (key, hash) = (sorted[index].key, sorted[index].key.hash)
            copy.reset()
            try copy.bind([.integer(number + 1), .integer(key.series), .integer(key.start), .blob(hash)])
            _ = try copy.step()
            if connection.changes > 0 {
                number += 1
                keys.append(ChangeLog.Place(start: key.start, seq: number))
                try connection.run(
                    "DELETE FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(key.series),
                    .integer(key.start), .blob(hash))
            }
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            guard next?.key.series != key.series || next?.ingestID != sorted[index].ingestID, !keys.isEmpty else { continue }
            try log.add(series: key.series, keys, ingest: sorted[index].ingestID)
            try connection.grants.addObjects(of: key.series, keys[0].start...key.start, from: keys[0].seq)
            keys.removeAll(keepingCapacity: true)
        }
        copy.reset()
        if number > first { try setLast(number: number) }
        return Int(number - first)
    }
}
