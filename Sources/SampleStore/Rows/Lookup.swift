import HealthModel

/// The result of a search by UUID.
public enum Lookup: Sendable {
    case live(StoredSample)
    /// The sample was deleted, or replaced by the sample with the given UUID.
    case deleted(StoredSample, replacedBy: String?)
}

extension SampleStore {
    /// Returns the live or deleted sample with this UUID, or `nil` if there is none.
    public func lookup(_ uuid: SampleIdentity) throws(StoreError) -> Lookup? {
        for (table, places) in [
            ("sample", try places(of: uuid, in: "sample")), ("deleted", try places(of: uuid, in: "deleted")),
        ] {
            let remembered = table == "deleted" ? " AND NOT forgotten" : ""
            let replaced = table == "deleted" ? ", replaced_by" : ""
            let statement = try connection.statement(
                "SELECT \(SampleDecoder.columns)\(replaced) FROM \(table) WHERE series = ? AND start = ? AND hash = ?\(remembered)"
            )
            defer { statement.reset() }
            // A forgotten row may have another start than a later row with the same UUID.
            for place in places {
                statement.reset()
                try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
                guard try statement.step() else { continue }
                let stored = try SampleDecoder(connection: connection).decode(statement, series: place.series)
                return table == "sample" ? .live(stored) : .deleted(stored, replacedBy: statement.optionalText(10))
            }
        }
        return nil
    }

    func places(of uuid: SampleIdentity, in table: String) throws(StoreError) -> [SampleKey] {
        var places: [SampleKey] = []
        for series in try series(matching: SampleQuery()) { places += try self.places(of: uuid, in: table, ofSeries: series.id) }
        return places
    }

    /// Finds rows by the nominal time and confirms them by the hash. The table `place` maps nominal times that differ from the start.
    func places(of uuid: SampleIdentity, in table: String, ofSeries series: Int64) throws(StoreError) -> [SampleKey] {
        let hash = uuid.storedHash
        let low = Int64(uuid.milliseconds) * 1000
        let statement = try connection.statement(
            """
            SELECT start FROM \(table) WHERE series = ?1 AND start BETWEEN ?2 AND ?3 AND hash = ?4
            UNION SELECT start FROM place WHERE series = ?1 AND nominal BETWEEN ?2 AND ?3 AND hash = ?4
            """)
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(low), .integer(low + 999), .blob(hash)])
        var places: [SampleKey] = []
        while try statement.step() { try places.append(SampleKey(series: series, start: statement.integer(0), hash: hash)) }
        return places
    }
}
