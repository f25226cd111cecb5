import HealthModel

/// Finds quarantined readings that are repeated in another unit. Used inside a transaction.
///
/// Quarantined readings have no stored duplicates. The first one stays in quarantine, whatever a person decided about
/// it, and the repetition counts as a duplicate.
extension UnitRepeatSearch {
    /// A repetition of a quarantined reading.
    struct QuarantinedRepeat: Hashable {
        /// The number of the quarantined reading.
        var number: Int64
        /// The unit of the repetition.
        var unit: String
    }

    /// The maximum number of repetitions that are remembered for an import.
    private static let remembered = 10_000

    /// The nominal starts, between two times, of the current and former quarantined readings of a series.
    func quarantinedStarts(of series: Int64, from first: Int64, to last: Int64) throws(StoreError) -> Set<Int64> {
        let statement = try connection.statement(QuarantineTable.nominalStarts)
        defer { statement.reset() }
        try statement.bind([.text(Self.prefix(of: first) + "-"), .text(Self.prefix(of: last) + "."), .integer(series)])
        var instants: Set<Int64> = []
        while try statement.step() { instants.insert(statement.integer(0)) }
        return instants
    }

    /// The quarantined reading that a row repeats in another unit, as its number and state, or `nil` if there is no
    /// such reading.
    func quarantined(_ row: SampleRow, of type: SampleType) throws(StoreError) -> (number: Int64, state: String)? {
        let own = try relatedSeries.properties(row.context, of: type)
        let trace = own.trace(
            duration: row.duration, value: row.value, step: row.step, method: try relatedSeries.method(ofMetadata: row.metadata))
        let statement = try connection.statement(QuarantineTable.inOtherUnit)
        defer { statement.reset() }
        let prefix = Self.prefix(of: row.nominal)
        try statement.bind([
            .text(prefix + "-"), .text(prefix + "."), .integer(row.series), .integer(row.nominal), .text(own.unit),
        ])
        var best: (agreement: Agreement, number: Int64, state: String)?
        while try statement.step() {
            let number = statement.integer(6)
            if let known = quarantinedRepeats[QuarantinedRepeat(number: number, unit: own.unit)], known != row.key { continue }
            let other = try relatedSeries.properties(statement.integer(4), of: type)
                .trace(of: statement, method: relatedSeries.method(ofMetadata: statement.integer(8)))
            guard other.duration == trace.duration, let agreement = Agreement(trace, other, rule: .unit) else { continue }
            if let best, best.agreement <= agreement { continue }
            best = (agreement, number, statement.text(7))
        }
        guard let best else { return nil }
        if quarantinedRepeats.count >= Self.remembered { quarantinedRepeats.removeAll() }
        quarantinedRepeats[QuarantinedRepeat(number: best.number, unit: own.unit)] = row.key
        return (best.number, best.state)
    }

    /// The sample that a quarantined reading repeats in another unit, or `nil`.
    func repeatedSample(quarantined number: Int64) throws(StoreError) -> SampleKey? {
        let statement = try connection.statement(QuarantineTable.withSeries)
        defer { statement.reset() }
        try statement.bind([.integer(number)])
        guard try statement.step(), let type = SampleType(statement.text(7)) else { return nil }
        let own = try relatedSeries.properties(statement.integer(4), of: type)
        let series = statement.integer(6)
        let key = try SampleKey(series: series, start: statement.integer(0), hash: statement.blob(1))
        guard let origin = try connection.series.origin(ofSeries: series) else { return nil }
        let trace = try own.trace(of: statement, method: try relatedSeries.method(ofMetadata: statement.integer(10)))
        var report = Report(key: key, origin: origin, trace: trace, unit: own.unit, identity: key.identity(skew: 0))
        report.importID = statement.integer(9)
        let earlier = try readings(of: series, at: statement.integer(8), type)
        return try matched([key: report], with: earlier, of: origin).first?.of
    }

    /// The text prefix of all UUIDs whose nominal start is in the same millisecond. UUID texts are indexed.
    private static func prefix(of nominal: Int64) -> String {
        String(SampleIdentity(nominalStart: nominal, high: 0, low: 0).description.prefix(13))
    }
}
