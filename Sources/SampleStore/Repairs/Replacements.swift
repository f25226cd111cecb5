import HealthModel

/// Follows the chain of repairs of a sample.
///
/// The table `repaired` maps a repaired sample to the one it replaced. While the repair is applied, it is also followed in the other
/// direction.
struct Replacements {
    let connection: Connection

    /// The maximum number of repairs of one reading. A longer chain is a cycle.
    static let longestChain = 1000

    /// Returns the sample that this one was made from, and the repair.
    func origin(of place: SampleKey) throws(StoreError) -> (place: SampleKey, migration: Int64)? {
        try connection.repairs.origin(of: place)
    }

    /// Whether this repair made the sample or one it was made from.
    func wasRepaired(_ place: SampleKey, by repair: String) throws(StoreError) -> Bool {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let origin = try origin(of: place) else { return false }
            if try connection.repairs.text(of: origin.migration) == repair { return true }
            place = origin.place
        }
        return false
    }

    /// Returns the reading as it was stored first.
    func root(of place: SampleKey) throws(StoreError) -> SampleKey {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let origin = try origin(of: place) else { break }
            place = origin.place
        }
        return place
    }

    /// Returns the final result of applied repairs, live or not, or the sample itself if there were none.
    func last(from place: SampleKey) throws(StoreError) -> SampleKey {
        var place = place
        for _ in 0..<Self.longestChain {
            guard let next = try connection.repairs.successor(of: place) else { break }
            place = next
        }
        return place
    }

    /// Returns the keys for a UUID, live or deleted. The nominal time finds rows and the hash confirms them.
    static func places(of uuid: SampleIdentity, _ connection: Connection) throws(StoreError) -> [SampleKey] {
        let hash = uuid.storedHash
        // The joins go series by series, because SQLite would otherwise scan the long tables of samples.
        let low = Int64(uuid.milliseconds) * 1000
        let statement = try connection.statement(
            """
            SELECT series.id, sample.start FROM series CROSS JOIN sample
                ON sample.series = series.id AND sample.start BETWEEN ?1 AND ?2 AND sample.hash = ?3
            UNION SELECT series.id, deleted.start FROM series CROSS JOIN deleted
                ON deleted.series = series.id AND deleted.start BETWEEN ?1 AND ?2 AND deleted.hash = ?3 AND NOT forgotten
            UNION SELECT series.id, place.start FROM series CROSS JOIN place
                ON place.series = series.id AND place.nominal BETWEEN ?1 AND ?2 AND place.hash = ?3
            """)
        defer { statement.reset() }
        try statement.bind([.integer(low), .integer(low + 999), .blob(hash)])
        var places: [SampleKey] = []
        while try statement.step() {
            try places.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: hash))
        }
        return places
    }
}
