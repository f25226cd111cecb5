import HealthModel

/// Finds or inserts the rows that repaired samples share. For one transaction.
final class RepairRows {
    private let connection: Connection
    private let interner: Interner
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
        var type: SampleType
    }

    init(connection: Connection, interner: Interner) {
        self.connection = connection
        self.interner = interner
    }

    func series(of origin: Origin) throws(StoreError) -> Int64 { try interner.series(of: origin) }

    /// Returns the context of a repaired sample. It has the same origin as the old one, another unit, zone, or time, and no skew.
    func context(instead old: Int64, _ sample: Sample) throws(StoreError) -> Int64 {
        let key = ContextKey(context: old, unit: sample.unit, zone: sample.zone, timeOrigin: sample.timeOrigin)
        if let known = contexts[key] { return known }
        let id = try interner.context(like: old) { row in
            row.unit = sample.unit.code
            row.molarMass = sample.unit.molarMass
            row.zone = sample.zone.map { Int64($0.seconds) }
            row.timeOrigin = Int64(sample.timeOrigin.rawValue)
            row.skew = 0
            row.ordinal = nil
        }
        if contexts.count > 100_000 { contexts.removeAll() }
        contexts[key] = id
        return id
    }

    /// Whether the numeral can be derived from the value, so that it need not be stored.
    func isReported(_ numeral: Numeral, in unit: Unit, of type: SampleType) -> Bool {
        guard numeral.isImpliedByValue else { return false }
        let key = UnitKey(unit: unit, type: type)
        if let known = canonical[key] { return known }
        let isCanonical = Interner.Entry.isCanonical(unit, type)
        canonical[key] = isCanonical
        return isCanonical
    }

    /// Returns how the sample gets into the store. Samples of an undone repair are tombstones, which the same repair restores.
    func arrival(at key: SampleKey) throws(StoreError) -> Replacement.Arrival {
        let samples = connection.samples
        if try samples.contains(key, among: .tombstones, evenForgotten: true) { return .restored }
        return try samples.contains(key) ? .present : .made
    }
}
