import HealthModel

/// Finds rows that repeat, in another unit, a reading that the same path reported before. For example, an export
/// repeats readings after the phone's unit was changed. Used inside a transaction.
///
/// Only readings with the same series and nominal start are compared.
final class UnitRepeatSearch {
    typealias Report = ReportGrouping<SampleKey>.Report

    let connection: Connection
    /// The maximum number of reports that are compared at one instant. No sensor has more, only a crafted file.
    private static let maximumReports = 2000
    let relatedSeries: RelatedSeriesCache
    private var reader: MeasurementReader
    /// The row that repeated a quarantined reading in the current import, by the number of the reading and the unit of
    /// the row.
    var quarantinedRepeats: [QuarantinedRepeat: SampleKey] = [:]

    init(connection: Connection) {
        self.connection = connection
        relatedSeries = RelatedSeriesCache(connection: connection)
        reader = MeasurementReader(connection: connection)
    }

    func forget() {
        relatedSeries.forget()
        reader = MeasurementReader(connection: connection)
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
        _ rows: [SampleRow], at instants: Set<Int64>, of origin: Origin, by ingest: Int64
    ) throws(StoreError) -> ArrivalMatching.Matches {
        var matches = ArrivalMatching.Matches()
        var rowsAt: [Int64: [Int]] = [:]
        for index in rows.indices where instants.contains(rows[index].nominal) {
            rowsAt[rows[index].nominal, default: []].append(index)
        }
        for (instant, indices) in rowsAt.sorted(by: { $0.key < $1.key }) {
            var arriving: [SampleKey: (row: Int, report: Report)] = [:]
            for index in indices {
                let row = rows[index]
                let properties = try relatedSeries.properties(row.context, of: origin.type)
                let trace = properties.trace(
                    duration: row.duration, value: row.value, step: row.step,
                    method: try relatedSeries.method(ofMetadata: row.metadata))
                var report = Report(
                    key: row.key, origin: origin, trace: trace, unit: properties.unit, identity: row.key.identity(skew: 0))
                report.importID = ingest
                arriving[row.key] = (index, report)
            }
            let earlier = try readings(of: rows[indices[0]].series, at: instant, origin.type)
            for match in try matched(arriving.mapValues(\.report), with: earlier, of: origin) {
                guard let row = arriving[match.key]?.row else { continue }
                matches.nearDuplicates.append(
                    // It may belong to a pair, which is not parted.
                    ArrivalMatching.Match(row: row, of: match.of, staysLive: match.staysLive && rows[row].group == 0))
                if match.isContested { matches.contested.append(row) }
            }
        }
        return matches
    }

    /// A reading that repeats an earlier one in another unit.
    struct Match {
        var key: SampleKey
        /// The original of the earlier one.
        var of: SampleKey
        var staysLive: Bool
        /// Whether the earlier reports are no longer one measurement.
        var isContested: Bool
    }

    /// Finds the earlier reading that each of these repeats in another unit (``ReportGrouping/readings(of:)``).
    ///
    /// - Parameter earlier: The earlier reports of the path at the same instant.
    func matched(
        _ arriving: [SampleKey: Report], with earlier: [EarlierReading], of origin: Origin
    ) throws(StoreError) -> [Match] {
        guard let unit = arriving.values.first?.unit, earlier.contains(where: { $0.unit != unit }),
            arriving.count + earlier.count <= Self.maximumReports
        else { return [] }
        var reports = Array(arriving.values)
        for reading in earlier where arriving[reading.key] == nil { reports.append(report(reading, origin)) }
        // Most readings have one report in each unit.
        if Set(reports.map(\.unit)).count < reports.count { try setImports(&reports, of: earlier) }
        // A duplicate of a reading that arrives now is compared with it on its own.
        let measurements = Dictionary(grouping: earlier) { arriving[$0.first] == nil ? $0.first : $0.key }
        var originals: [SampleKey: SampleKey] = [:]
        for (original, members) in measurements { for member in members { originals[member.key] = original } }
        var matches: [Match] = []
        for keys in ReportGrouping.readings(of: reports) where keys.count > 1 {
            guard let key = keys.first(where: { arriving[$0] != nil }), let report = arriving[key],
                let first = keys.compactMap({ originals[$0] }).first, let members = measurements[first]
            else { continue }
            // The precision of a repaired sample is that of the reading as it was reported.
            var staysLive = members.contains { $0.isLive && $0.key == first && $0.trace.precision < report.trace.precision }
            if staysLive { staysLive = try connection.repairs.origin(of: first) == nil }
            let isContested = Set(members.map(\.key)) != Set(keys).subtracting([key])
            matches.append(Match(key: key, of: first, staysLive: staysLive && !isContested, isContested: isContested))
        }
        return matches
    }

    /// The reports of a path at one instant, with their imports.
    func reports(_ readings: [EarlierReading], of origin: Origin) throws(StoreError) -> [Report] {
        var reports = readings.map { report($0, origin) }
        try setImports(&reports, of: readings)
        return reports
    }

    private func report(_ reading: EarlierReading, _ origin: Origin) -> Report {
        Report(
            key: reading.key, origin: origin, trace: reading.trace, unit: reading.unit, identity: reading.key.identity(skew: 0))
    }

    private func setImports(_ reports: inout [Report], of readings: [EarlierReading]) throws(StoreError) {
        let readings = Dictionary(readings.map { ($0.key, $0) }) { first, _ in first }
        for index in reports.indices where reports[index].importID == nil {
            guard let reading = readings[reports[index].key] else { continue }
            let ingest =
                switch reading.source {
                case .duplicate(let ingest): ingest
                case .row(let seq): try reader.ingestID(of: seq, in: reading.key.series)
                }
            reports[index].importID = try reader.importID(of: reading.key, ingestedBy: ingest)
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
