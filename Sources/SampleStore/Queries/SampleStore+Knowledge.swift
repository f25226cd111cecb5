import HealthModel

extension SampleStore {
    /// Whether the store has a reading as a sample, tombstone, witness, or quarantined reading.
    public func knows(_ sample: Sample) throws(StoreError) -> Bool {
        let (origin, uuid) = (sample.origin, sample.identity)
        let series = try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(origin.type.id),
            .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""))
        guard let series else { return false }
        for table in ["sample", "witness", "deleted"] {
            for place in try places(of: uuid, in: table, ofSeries: series)
            where try self.sample(at: place, in: table) != nil { return true }
        }
        return try connection.quarantine.contains(uuid, inSeries: series)
    }

    /// Returns the start and value (in the canonical unit) of a person's samples of a type that start within a time range.
    ///
    /// - Parameter isDescending: Whether the latest come first.
    public func values(
        of type: SampleType, subject: String, in times: Range<Int64>, isDescending: Bool, limit: Int
    ) throws(StoreError) -> [(time: Int64, value: Double)] {
        let order = isDescending ? "DESC" : "ASC"
        let series = try connection.statement("SELECT id FROM series WHERE type = ? AND subject = ? ORDER BY id")
        defer { series.reset() }
        try series.bind([.text(type.id), .text(subject)])
        var found: [(time: Int64, value: Double)] = []
        while try series.step() {
            let rows = try connection.statement(
                "SELECT start, value FROM sample WHERE series = ? AND start >= ? AND start < ? ORDER BY start \(order) LIMIT ?")
            defer { rows.reset() }
            try rows.bind([
                .integer(series.integer(0)), .integer(times.lowerBound), .integer(times.upperBound), .integer(Int64(limit)),
            ])
            while try rows.step() { found.append((rows.integer(0), rows.real(1))) }
        }
        found.sort { isDescending ? $0.time > $1.time : $0.time < $1.time }
        return Array(found.prefix(limit))
    }

    /// Whether there are unassigned samples of the same source and type.
    public func hasUnassigned(like origin: Origin) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM series WHERE type = ? AND subject = ? AND source = ? LIMIT 1", .text(origin.type.id),
            .text(Origin.unassigned), .text(origin.source.id)) != nil
    }

    /// Returns the latest start of any sample of a device, by its key, or nil if it has none.
    public func lastStart(ofDevice key: String) throws(StoreError) -> Instant? {
        let statement = try connection.statement(
            "SELECT max((SELECT max(start) FROM sample WHERE series = series.id)) FROM series WHERE device = ?")
        defer { statement.reset() }
        try statement.bind([.text(key)])
        guard try statement.step() else { return nil }
        return statement.optionalInteger(0).map { Instant(microseconds: $0) }
    }
}
