import HealthModel

/// Many samples that become tombstones, and tombstones that become samples again.
extension SampleTable {
    /// A sample that becomes a tombstone.
    struct Burial {
        var place: SampleKey
        /// What takes its place.
        var successor: SampleIdentity?
    }

    /// A tombstone that becomes the sample that it was.
    struct Revival {
        var place: SampleKey
        /// The ingest that brought the sample.
        var bringer: Int64
        /// The number it had before: samples of one start stay in their order.
        var number: Int64
    }

    /// Makes samples tombstones.
    ///
    /// - Parameter ingest: what deletes them.
    /// - Returns: how many there were.
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

    /// Makes tombstones the samples that they were. The samples still belong to the ingests that brought them.
    ///
    /// - Parameter ingest: what brings them back.
    /// - Returns: how many there were.
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
            try show(series: place.series, places[0].start...place.start, from: places[0].seq)
            places.removeAll(keepingCapacity: true)
        }
        copy.reset()
        if number > first { try setLast(number: number) }
        return Int(number - first)
    }
}
