import HealthModel

/// Finds, or makes, the rows that repaired samples share. For one transaction.
final class RepairRows {
    private let connection: Connection
    private var contexts: [ContextKey: Int64] = [:]
    private var canonical: [UnitKey: Bool] = [:]

    private struct ContextKey: Hashable {
        var context: Int64
        var unit: Unit
        var zone: ZoneOffset?
        var timeOrigin: TimeOrigin
    }

    private struct UnitKey: Hashable {
        var unit: Unit
        var type: QuantityType
    }

    init(connection: Connection) { self.connection = connection }

    func series(of origin: Origin) throws(StoreError) -> Int64 {
        let values: [Value] = [
            .text(origin.type.id), .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""),
        ]
        let find = try connection.statement("SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?")
        defer { find.reset() }
        try find.bind(values)
        if try find.step() { return find.integer(0) }
        let insert = try connection.statement("INSERT INTO series(type, subject, source, device) VALUES(?, ?, ?, ?)")
        defer { insert.reset() }
        try insert.bind(values)
        _ = try insert.step()
        return connection.lastInsertedRow
    }

    /// The context of a sample instead of its old one: the same origin, another unit, zone or time, and no skew.
    func context(instead old: Int64, _ sample: QuantitySample) throws(StoreError) -> Int64 {
        let key = ContextKey(context: old, unit: sample.unit, zone: sample.zone, timeOrigin: sample.timeOrigin)
        if let known = contexts[key] { return known }
        let values: [Value] = [
            .integer(old), .text(sample.unit.code), sample.unit.molarMass.map { .real($0) } ?? .null,
            .optional(sample.zone.map { Int64($0.seconds) }), .integer(Int64(sample.timeOrigin.rawValue)),
        ]
        let find = try connection.statement(
            """
            SELECT id FROM context WHERE origin = (SELECT origin FROM context WHERE id = ?1) AND unit = ?2 AND molar_mass IS ?3
                AND zone IS ?4 AND time_origin = ?5 AND skew = 0 AND resolution = (SELECT resolution FROM context WHERE id = ?1)
            """)
        defer { find.reset() }
        try find.bind(values)
        var id = try find.step() ? find.integer(0) : 0
        if id == 0 {
            let insert = try connection.statement(
                """
                INSERT INTO context(origin, unit, molar_mass, zone, time_origin, skew, resolution)
                SELECT origin, ?2, ?3, ?4, ?5, 0, resolution FROM context WHERE id = ?1
                """)
            defer { insert.reset() }
            try insert.bind(values)
            _ = try insert.step()
            id = connection.lastInsertedRow
        }
        if contexts.count > 100_000 { contexts.removeAll() }
        contexts[key] = id
        return id
    }

    /// Whether the value alone tells the numeral, so that it need not be stored.
    func isTold(_ numeral: Numeral, in unit: Unit, of type: QuantityType) -> Bool {
        guard numeral.isToldByItsValue else { return false }
        let key = UnitKey(unit: unit, type: type)
        if let known = canonical[key] { return known }
        let isCanonical = Interner.Entry.isCanonical(unit, type)
        canonical[key] = isCanonical
        return isCanonical
    }

    /// A repair that was undone left its samples as tombstones, and they are what the same repair makes again.
    func arrival(at place: SamplePlace) throws(StoreError) -> Replacement.Arrival {
        let statement = try connection.statement(
            """
            SELECT 1 FROM deleted WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT 2 FROM sample WHERE series = ?1 AND start = ?2 AND hash = ?3
            """)
        defer { statement.reset() }
        try statement.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        guard try statement.step() else { return .made }
        return statement.integer(0) == 1 ? .restored : .present
    }
}
