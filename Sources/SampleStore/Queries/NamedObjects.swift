import HealthModel

/// Finds the current samples that a correlation or a workout refers to. A sample has another UUID if a repair replaced it or if it is a
/// duplicate of another one.
struct NamedObjects {
    let connection: Connection

    /// Returns the key of the current sample for a UUID, or `nil` if it was deleted or never stored.
    func place(of uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for place in try Replacements.places(of: uuid, connection) {
            if let standing = try standing(from: place) { return standing }
        }
        return try first(witnessedBy: uuid)
    }

    /// Returns the keys of the current samples that a sample refers to, in order and without repetition.
    func places(namedBy sample: Sample) throws(StoreError) -> [SampleKey] {
        var found: [SampleKey] = []
        for uuid in OwnedObjects.named(by: sample) {
            if let place = try place(of: uuid), !found.contains(place) { found.append(place) }
        }
        return found
    }

    private func standing(from place: SampleKey) throws(StoreError) -> SampleKey? {
        let last = try Replacements(connection: connection).last(from: place)
        return try SampleTable(connection: connection).contains(last, among: .live) ? last : nil
    }

    /// Returns the original of the witness with this UUID.
    private func first(witnessedBy uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        let statement = try connection.statement(
            """
            SELECT of_series, of_start, of_hash FROM series CROSS JOIN witness ON witness.series = series.id
                AND (witness.start BETWEEN ?1 AND ?2 OR witness.start IN
                    (SELECT start FROM place WHERE place.series = series.id AND nominal BETWEEN ?1 AND ?2 AND place.hash = ?3))
                AND witness.hash = ?3 AND NOT stands_in AND NOT withdrawn AND NOT parted
            """)
        defer { statement.reset() }
        let low = Int64(uuid.milliseconds) * 1000
        try statement.bind([.integer(low), .integer(low + 999), .blob(uuid.storedHash)])
        while try statement.step() {
            let first = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
            if let standing = try standing(from: first) { return standing }
        }
        return nil
    }
}

extension SampleStore {
    /// Returns the current sample for a UUID that a correlation or a workout refers to: the sample itself, its repaired form, or the
    /// original it duplicates. Returns `nil` if there is none.
    public func object(named uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        guard let place = try NamedObjects(connection: connection).place(of: uuid) else { return nil }
        return try sample(at: place, in: SampleTable.Rows.live.rawValue)
    }
}
