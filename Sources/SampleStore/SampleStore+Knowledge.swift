import HealthModel

extension SampleStore {
    /// Whether a reading was ever taken: it is a sample, a tombstone, a witness, or in quarantine.
    public func knows(_ sample: QuantitySample) throws(StoreError) -> Bool {
        let (origin, uuid) = (sample.origin, sample.identity)
        let series = try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(origin.type.id),
            .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""))
        guard let series else { return false }
        for table in ["sample", "witness", "deleted"] {
            for place in try places(of: uuid, in: table, ofSeries: series)
            where try self.sample(at: place, in: table) != nil { return true }
        }
        let hash = uuid.storedHash
        return try connection.integer("SELECT 1 FROM quarantine WHERE series = ? AND hash = ?", .integer(series), .blob(hash))
            != nil
    }

    /// Whether there are samples of nobody's from the same source, of the same type.
    public func hasUnassigned(like origin: Origin) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM series WHERE type = ? AND subject = ? AND source = ? LIMIT 1", .text(origin.type.id),
            .text(Origin.unassigned), .text(origin.source.id)) != nil
    }
}
