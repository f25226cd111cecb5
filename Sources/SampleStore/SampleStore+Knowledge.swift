import HealthModel

extension SampleStore {
    /// Whether a reading was ever taken: it is a sample, a tombstone, a witness, or in quarantine.
    public func knows(_ uuid: SampleIdentity) throws(StoreError) -> Bool {
        if try explain(uuid) != nil { return true }
        return try connection.integer("SELECT 1 FROM quarantine WHERE uuid = ?", .text(uuid.description)) != nil
    }

    /// Whether there are samples of nobody's from the same source, of the same type.
    public func hasUnassigned(like origin: Origin) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT 1 FROM series WHERE type = ? AND subject = ? AND source = ? LIMIT 1", .text(origin.type.id),
            .text(Origin.unassigned), .text(origin.source.id)) != nil
    }
}
