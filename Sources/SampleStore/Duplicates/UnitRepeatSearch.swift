import HealthModel

/// Finds rows that repeat, in another unit, a reading that the same path reported before. For example, an export
/// repeats readings after the phone's unit was changed. Used inside a transaction.
///
/// Only readings with the same series and nominal start are compared. Each import reports a reading once per unit. If
/// two readings at one instant are repeated, each repetition is matched to one of them, most similar first. Readings
/// that were only reported in the row's unit are not compared, because two values from one path in one unit are two
/// readings.
final class UnitRepeatSearch {
    let connection: Connection
    /// The maximum number of pairs that are compared at one instant. No sensor reports more, only a crafted file.
    private static let maximumPairs = 4_000_000
    let relatedSeries: RelatedSeriesCache
    /// Decodes samples and finds the import of a sample.
    private var decoder: SampleDecoder
    /// The row that repeated a quarantined reading in the current import, by the number of the reading and the unit of
    /// the row.
    var quarantinedRepeats: [QuarantinedRepeat: SampleKey] = [:]

    init(connection: Connection) {
        self.connection = connection
        relatedSeries = RelatedSeriesCache(connection: connection)
        decoder = SampleDecoder(connection: connection)
    }

    func forget() {
        relatedSeries.forget()
        decoder = SampleDecoder(connection: connection)
        quarantinedRepeats.removeAll()
    }

    /// Removes the rows whose unit differs from that of the first row at the same instant, and returns them. They are
    /// compared after the first row is written.
    func later(_ rows: inout [SampleRow], at instants: Set<Int64>, of type: SampleType) throws(StoreError) -> [SampleRow] {
        var units: [Int64: (index: Int32, unit: String)] = [:]
        for row in rows where instants.contains(row.nominal) {
            if let known = units[row.nominal], known.index < row.index { continue }
            units[row.nominal] = (row.index, try relatedSeries.properties(row.context, of: type).unit)
        }
        var (now, later): ([SampleRow], [SampleRow]) = ([], [])
        for row in rows {
            if let first = units[row.nominal], try relatedSeries.properties(row.context, of: type).unit != first.unit {
                later.append(row)
            } else {
                now.append(row)
            }
        }
        rows = now
        return later
    }

    /// Searches for readings that rows of one series and import repeat. Only rows whose nominal start is in `instants`
    /// are searched, and they have one unit at each instant.
    func search(
        _ rows: [SampleRow], at instants: Set<Int64>, of type: SampleType, by ingest: Int64
    ) throws(StoreError) -> [NearDuplicateSearch.Match] {
        var matches: [NearDuplicateSearch.Match] = []
        var rowsAt: [Int64: [Int]] = [:]
        for index in rows.indices where instants.contains(rows[index].nominal) {
            rowsAt[rows[index].nominal, default: []].append(index)
        }
        for (instant, indices) in rowsAt.sorted(by: { $0.key < $1.key }) {
            guard let context = indices.first.map({ rows[$0].context }) else { continue }
            let unit = try relatedSeries.properties(context, of: type).unit
            // A duplicate of a reading that arrives now is compared with the rows on its own.
            let arriving = Set(indices.map { rows[$0].key })
            let reported = Dictionary(grouping: try readings(of: rows[indices[0]].series, at: instant, type)) {
                arriving.contains($0.first) ? $0.key : $0.first
            }
            var candidateRows: [(row: Int, trace: ReadingTrace)] = []
            for index in indices.sorted(by: { rows[$0].index < rows[$1].index }) {
                let row = rows[index]
                let properties = try relatedSeries.properties(row.context, of: type)
                candidateRows.append(
                    (
                        index,
                        properties.trace(
                            duration: row.duration, value: row.value, step: row.step,
                            method: try relatedSeries.method(ofMetadata: row.metadata))
                    ))
            }
            matches += try matched(candidateRows, in: unit, by: ingest, with: reported).map { match in
                var match = match
                // It may belong to a pair, which is not parted.
                if rows[match.row].group != 0 { match.staysLive = false }
                return match
            }
        }
        return matches
    }

    /// Finds the earlier reading that each reading of one import repeats in another unit.
    ///
    /// - Parameter reported: The earlier reports at the same instant, grouped by the sample that they report.
    func matched(
        _ candidateRows: [(row: Int, trace: ReadingTrace)], in unit: String, by ingest: Int64,
        with reported: [SampleKey: [EarlierReading]]
    ) throws(StoreError) -> [NearDuplicateSearch.Match] {
        var open = reported.filter { $0.value.contains { $0.unit != unit } }
        guard !open.isEmpty, open.count * candidateRows.count <= Self.maximumPairs else { return [] }
        var found: [(agreement: Agreement, order: Int, of: SampleKey)] = []
        for order in candidateRows.indices {
            for (first, readings) in open {
                if let agreement = try agreement(candidateRows[order].trace, in: unit, by: ingest, readings) {
                    found.append((agreement, order, first))
                }
            }
        }
        found.sort {
            ($0.agreement, $0.order, $0.of.start, $0.of.high, $0.of.low)
                < ($1.agreement, $1.order, $1.of.start, $1.of.high, $1.of.low)
        }
        var matches: [NearDuplicateSearch.Match] = []
        var matched: Set<Int> = []
        for finding in found where !matched.contains(finding.order) && open[finding.of] != nil {
            matched.insert(finding.order)
            let precision = candidateRows[finding.order].trace.precision
            var staysLive =
                open[finding.of]?.contains { $0.isLive && $0.key == finding.of && $0.trace.precision < precision } ?? false
            // The precision of a repaired sample is that of the reading as it was reported.
            if staysLive { staysLive = try connection.repairs.origin(of: finding.of) == nil }
            open[finding.of] = nil
            matches.append(
                NearDuplicateSearch.Match(row: candidateRows[finding.order].row, of: finding.of, staysLive: staysLive))
        }
        return matches
    }

    /// The similarity of a reading to the least similar report of another one. All reports must match, so that rounding
    /// errors do not accumulate.
    private func agreement(
        _ trace: ReadingTrace, in unit: String, by ingest: Int64, _ readings: [EarlierReading]
    ) throws(StoreError) -> Agreement? {
        var worst: Agreement?
        for properties in readings {
            guard let agreement = properties.agreement(to: trace) else { return nil }
            if properties.unit == unit {
                // In the same unit, the same reading must have a different number of digits and come from another
                // import. Two readings of one import in one unit are two.
                guard properties.hasOtherDigits(than: trace), try ingestID(of: properties) != ingest else { return nil }
            }
            worst = worst.map { max($0, agreement) } ?? agreement
        }
        return worst
    }

    /// The import that reported a reading.
    func ingestID(of properties: EarlierReading) throws(StoreError) -> Int64 {
        switch properties.source {
        case .duplicate(let ingest): ingest
        case .row(let seq): try decoder.change(of: seq, series: properties.key.series).ingest
        }
    }

    /// The earlier readings of a series at an instant, earliest first: samples, deleted or undone samples, and
    /// duplicates.
    func readings(of series: Int64, at instant: Int64, _ type: SampleType) throws(StoreError) -> [EarlierReading] {
        var found: [EarlierReading] = []
        var known: [SampleKey: Int] = [:]
        // A record is identified by its source.
        let hasRecords = try connection.records.contains(series: series)
        for report in try connection.samples.reports(of: series, atNominal: instant) {
            let (key, duplicate) = (report.key, report.duplicate)
            // A promoted duplicate is a sample too.
            if let index = known[key] {
                if let duplicate { found[index].first = duplicate.original }
                continue
            }
            if hasRecords, try !connection.records.records(at: key).isEmpty { continue }
            known[key] = found.count
            let properties = try relatedSeries.properties(report.context, of: type)
            found.append(
                EarlierReading(
                    key: key, first: duplicate?.original ?? key, unit: properties.unit,
                    trace: properties.trace(
                        duration: report.duration, value: report.value, step: report.step,
                        method: try relatedSeries.method(ofMetadata: report.metadata)),
                    source: duplicate.map { .duplicate(ingest: $0.ingest) } ?? .row(seq: report.change), isLive: report.isLive))
        }
        return found
    }
}
