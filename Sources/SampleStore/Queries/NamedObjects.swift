import HealthModel

/// What a correlation or a workout names, as it stands today: under a UUID of its own where a repair made another sample of it, or where
/// another path had told the same measurement first.
struct NamedObjects {
    let connection: Connection

    /// Where what is named so stands; `nil` where it was deleted, or never came.
    func place(of uuid: SampleIdentity) throws(StoreError) -> SampleKey? {
        for place in try Replacements.places(of: uuid, connection) {
            if let standing = try standing(from: place) { return standing }
        }
        return try first(witnessedBy: uuid)
    }

    /// Where what a sample names stands, in its order and once.
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

    /// The sample of which what is named so is a witness.
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
    /// The sample that stands today for what a correlation or a workout names by a UUID: itself, what a repair made of it, or what another
    /// path had told first; `nil` where there is none.
    public func object(named uuid: SampleIdentity) throws(StoreError) -> StoredSample? {
        guard let place = try NamedObjects(connection: connection).place(of: uuid) else { return nil }
        return try sample(at: place, in: SampleTable.Rows.live.rawValue)
    }
}
