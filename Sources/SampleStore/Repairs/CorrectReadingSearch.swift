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
            mayBeThere = try connection.integer("SELECT 1 FROM context WHERE unit = ? LIMIT 1", .text(unit.code)) != nil
        } else {
            mayBeThere = true
        }
    }

    /// Returns the identity, or `nil` if it equals the sample's own or cannot be determined.
    func identity(
        of sample: Sample, _ outcome: Repairer.Outcome, at place: SampleKey
    ) throws(StoreError) -> SampleIdentity? {
        func right(_ ordinal: UInt32) -> SampleIdentity? {
            let identity = SampleIdentity(
                series: outcome.origin.seriesKey, start: outcome.nominalStart,
                end: outcome.nominalStart + (outcome.end.microseconds - outcome.start.microseconds), numeral: outcome.numeral,
                unit: outcome.unit, ordinal: ordinal, method: sample.method)
            return identity == sample.identity ? nil : identity
        }
        if sample.ordinal == 0, sample.hasIdentity(ordinal: 0) { return right(0) }
        let root = try Replacements(connection: connection).root(of: place)
        if root != place {
            return right(try SampleTable(connection: connection).sample(at: root, among: .tombstones)?.identityOrdinal() ?? 0)
        }
        let record = try connection.statement(
            "SELECT id, version FROM \(Records.byPlace) WHERE series = ? AND start = ? AND hash = ? ORDER BY version DESC LIMIT 1"
        )
        defer { record.reset() }
        try record.bind([.integer(place.series), .integer(place.start), .blob(place.hash)])
        if try record.step() {
            let identity = SampleIdentity(
                series: outcome.origin.seriesKey, start: outcome.nominalStart,
                record: RecordIdentifier(id: record.text(0), version: record.integer(1)))
            return identity == sample.identity ? nil : identity
        }
        return sample.identityOrdinal().flatMap(right)
    }

    /// Returns the series of an origin, or `nil` if the store has none yet.
    func series(of origin: Origin) throws(StoreError) -> Int64? {
        if let known = series[ObjectIdentifier(origin)], known.id != nil { return known.id }
        let id = try connection.integer(
            "SELECT id FROM series WHERE type = ? AND subject = ? AND source = ? AND device = ?", .text(origin.type.id),
            .text(origin.subject), .text(origin.source.id), .text(origin.device?.key ?? ""))
        if series.count > 10_000 { series.removeAll() }
        series[ObjectIdentifier(origin)] = (origin, id)
        return id
    }

    /// Returns whether and how the store contains the reading under its correct identity.
    func find(_ identity: SampleIdentity, nominal: Int64, in series: Int64) throws(StoreError) -> Found {
        guard mayBeThere else { return .none }
        let hash = identity.storedHash
        var start = nominal
        let skewed = try connection.integer(
            "SELECT start FROM place WHERE series = ? AND nominal = ? AND hash = ?", .integer(series), .integer(nominal),
            .blob(hash))
        if let skewed { start = skewed }
        let place = SampleKey(series: series, start: start, of: identity)
        if try SampleTable(connection: connection).contains(place) { return .live(place) }
        let dead = try connection.statement(
            "SELECT 1 FROM deleted WHERE series = ? AND start = ? AND hash = ? AND NOT forgotten AND replaced_by IS NULL")
        defer { dead.reset() }
        try dead.bind([.integer(series), .integer(start), .blob(hash)])
        if try dead.step() { return .deleted(place) }
        let witness = try connection.integer(
            "SELECT 1 FROM witness_row WHERE series = ? AND start = ? AND hash = ?", .integer(series), .integer(start),
            .blob(hash))
        return witness == nil ? .none : .duplicate
    }
}
