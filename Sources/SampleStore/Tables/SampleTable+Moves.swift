import HealthModel

/// Bulk moves of samples to tombstones and back.
extension SampleTable {
    /// A sample that becomes a tombstone.
    struct Burial {
        var place: SampleKey
        /// The sample that replaces it, if any.
        var successor: SampleIdentity?
    }

    /// A tombstone that becomes a sample again.
    struct Revival {
        var place: SampleKey
        /// The ingest that brought the sample.
        var bringer: Int64
        /// The change number it had before. It preserves the order of samples that have the same start.
        var number: Int64
    }

    /// Turns samples into tombstones.
    ///
    /// - Parameter ingest: The ingest that deletes them.
    /// - Returns: The number of samples that existed.
    func bury(_ burials: [Burial], by ingest: Int64) throws(StoreError) -> Int {
        let sorted = burials.sorted { ($0.place.series, $0.place.start) < ($1.place.series, $1.place.start) }
        let copy = try connection.statement(
            """
            INSERT OR REPLACE INTO deleted(\(Self.columns), seq, deleted_seq, ingest, replaced_by, forgotten)
            SELECT \(Self.columns), seq, ?, ?, ?, 0 FROM sample WHERE series = ? AND start = ? AND hash = ?
            """)
        let log = ChangeLog(connection: connection, cause: ingest)
        var number = try lastNumber()
        let first = number
        var places: [ChangeLog.Place] = []
        for index in sorted.indices {
            let (place, hash) = (sorted[index].place, sorted[index].place.hash)
            copy.reset()
            try copy.bind([
                .integer(number + 1), .integer(ingest), .optional(sorted[index].successor?.description), .integer(place.series),
                .integer(place.start), .blob(hash),
            ])
            _ = try copy.step()
            if connection.changes > 0 {
                number += 1
                places.append(ChangeLog.Place(start: place.start, seq: number))
                try connection.run(
                    "DELETE FROM sample WHERE series = ? AND start = ? AND hash = ?", .integer(place.series),
                    .integer(place.start), .blob(hash))
            }
            guard index + 1 == sorted.count || sorted[index + 1].place.series != place.series, !places.isEmpty else { continue }
            try log.add(series: place.series, places, ingest: ingest, deletion: true)
            places.removeAll(keepingCapacity: true)
        }
        copy.reset()
        if number > first { try setLast(number: number) }
        return Int(number - first)
    }

    /// Restores samples from their tombstones. The samples still belong to the ingests that brought them.
    ///
    /// - Parameter ingest: The ingest that restores them.
    /// - Returns: The number of tombstones that existed.
    func revive(_ revivals: [Revival], by ingest: Int64) throws(StoreError) -> Int {
        let sorted = revivals.sorted {
            ($0.place.series, $0.bringer, $0.place.start, $0.number) < ($1.place.series, $1.bringer, $1.place.start, $1.number)
        }
        let copy = try connection.statement(
            """
            INSERT OR IGNORE INTO sample(\(Self.columns), seq)
            SELECT \(Self.columns), ? FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten
            """)
        let log = ChangeLog(connection: connection, cause: ingest)
        var number = try lastNumber()
        let first = number
        var places: [ChangeLog.Place] = []
        for index in sorted.indices {
            let (place, hash) = (sorted[index].place, sorted[index].place.hash)
            copy.reset()
            try copy.bind([.integer(number + 1), .integer(place.series), .integer(place.start), .blob(hash)])
            _ = try copy.step()
            if connection.changes > 0 {
                number += 1
                places.append(ChangeLog.Place(start: place.start, seq: number))
                try connection.run(
                    "DELETE FROM deleted WHERE series = ? AND start = ? AND hash = ?", .integer(place.series),
                    .integer(place.start), .blob(hash))
            }
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            guard next?.place.series != place.series || next?.bringer != sorted[index].bringer, !places.isEmpty else { continue }
            try log.add(series: place.series, places, ingest: sorted[index].bringer)
            try connection.grants.addObjects(of: place.series, places[0].start...place.start, from: places[0].seq)
            places.removeAll(keepingCapacity: true)
        }
        copy.reset()
        if number > first { try setLast(number: number) }
        return Int(number - first)
    }
}
