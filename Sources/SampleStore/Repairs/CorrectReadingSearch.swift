import HealthModel

/// Finds the identity that an incorrectly read reading would have had if it had been read correctly. A corrected profile or app delivers
/// the same reading under that identity.
final class CorrectReadingSearch {
    enum Found {
        case none
        case live(SampleKey)
        /// A person deleted the reading.
        case deleted(SampleKey)
        /// The reading is a duplicate of another one and may replace it.
        case duplicate
    }

    private let connection: Connection
    /// Whether any sample can have such an identity.
    private let mayBeThere: Bool
    private var series: [ObjectIdentifier: (origin: Origin, id: Int64?)] = [:]

    init(connection: Connection, repair: Repair) throws(StoreError) {
        self.connection = connection
        if case .unit(let unit) = repair {
            mayBeThere = try connection.series.hasUnit(unit)
        } else {
            mayBeThere = true
        }
    }

    /// Returns the identity, or `nil` if it equals the sample's own or cannot be determined.
    func identity(
        of sample: Sample, _ outcome: Repairer.Outcome, at key: SampleKey
    ) throws(StoreError) -> SampleIdentity? {
        func right(_ ordinal: UInt32) -> SampleIdentity? {
            let identity = SampleIdentity(
                series: outcome.origin.seriesKey, start: outcome.nominalStart,
                end: outcome.nominalStart + (outcome.end.microseconds - outcome.start.microseconds), numeral: outcome.numeral,
                unit: outcome.unit, ordinal: ordinal, method: sample.method)
            return identity == sample.identity ? nil : identity
        }
        if sample.ordinal == 0, sample.hasIdentity(ordinal: 0) { return right(0) }
        let root = try connection.repairs.root(of: key)
        if root != key {
            return right(try connection.samples.sample(at: root, among: .tombstones)?.identityOrdinal() ?? 0)
        }
        if let record = try connection.records.records(at: key).first {
            let identity = SampleIdentity(
                series: outcome.origin.seriesKey, start: outcome.nominalStart, record: record, numeral: outcome.numeral,
                unit: outcome.unit)
            return identity == sample.identity ? nil : identity
        }
        return sample.identityOrdinal().flatMap(right)
    }

    /// Returns the series of an origin, or `nil` if the store has none yet.
    func series(of origin: Origin) throws(StoreError) -> Int64? {
        if let known = series[ObjectIdentifier(origin)], known.id != nil { return known.id }
        let id = try connection.series.id(of: origin)
        if series.count > 10_000 { series.removeAll() }
        series[ObjectIdentifier(origin)] = (origin, id)
        return id
    }

    /// Whether a live sample has the content of a repaired one. The identity of a record's version does not cover it.
    func isSame(_ outcome: Repairer.Outcome, at key: SampleKey) throws(StoreError) -> Bool {
        guard let other = try connection.samples.sample(at: key, among: .live) else { return false }
        return other.numeral.canonicalText == outcome.numeral.canonicalText && other.unit.code == outcome.unit.code
            && other.end.microseconds - other.start.microseconds == outcome.end.microseconds - outcome.start.microseconds
    }

    /// Returns whether and how the store contains the reading under its correct identity.
    func find(_ identity: SampleIdentity, nominal: Int64, in series: Int64) throws(StoreError) -> Found {
        guard mayBeThere else { return .none }
        let samples = connection.samples
        let start = try samples.start(ofNominal: nominal, identity, in: series) ?? nominal
        let key = SampleKey(series: series, start: start, of: identity)
        if try samples.contains(key) { return .live(key) }
        if let tombstone = try samples.tombstone(at: key) {
            if tombstone.replacedBy == nil { return .deleted(key) }
            // Another report represents it, unless a repair replaced it.
            var isRepaired = false
            for successor in try connection.repairs.successors(of: key) where successor.isActive { isRepaired = true }
            return isRepaired ? .none : .duplicate
        }
        return try connection.duplicates.contains(key) ? .duplicate : .none
    }
}
