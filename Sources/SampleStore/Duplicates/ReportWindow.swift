import HealthModel

/// Reads the reports that may be one measurement, directly or over others. Used inside a transaction.
final class ReportWindow {
    typealias Report = ReportGrouping<SampleKey>.Report

    /// A report with its state in the store.
    struct Member {
        var report: Report
        /// The ledger entry that brought it.
        var entry: Int64
        /// Whether the row of a sample exists, live or deleted.
        var isSample: Bool
        /// Whether it was found to be a duplicate.
        var isDuplicate: Bool
        /// The reports of its measurement, none if it just arrived.
        var group: Set<SampleKey>
    }

    /// The reports and those of other devices that agree with them.
    struct Content {
        var members: [SampleKey: Member] = [:]
        var linked: [SampleKey: Report] = [:]
    }

    private struct Path {
        var series: Int64
        var origin: Origin
        var coarsest: Int32
    }

    private let connection: Connection
    let reader: MeasurementReader
    private let relatedSeries: RelatedSeriesCache
    private var paths: [Int64: [Path]] = [:]
    /// Reports that just arrived. They are not of the measurement that they were found to duplicate until they are grouped.
    var arriving: Set<SampleKey> = []
    /// The imports whose readings are compared with no other source.
    private var exactImports: Set<Int64>?
    /// Reports of windows that are too large.
    private var large: Set<SampleKey> = []

    /// A window with more reports is not read: equal values of streams agree over many minutes.
    static let maximumReports = 96

    init(connection: Connection) {
        self.connection = connection
        reader = MeasurementReader(connection: connection)
        relatedSeries = RelatedSeriesCache(connection: connection)
    }

    /// Returns all reports that a report may be one measurement with, or `nil` if they stay as they are: there are too many of them, or a
    /// repair, a merge, a version of a record, a decision of a user, or an exact import concerns one.
    func content(around key: SampleKey) throws(StoreError) -> Content? {
        let paths = try self.paths(near: key.series)
        guard !large.contains(key) else { return nil }
        var content = Content()
        var queue = [key]
        while let next = queue.popLast() {
            guard content.members[next] == nil else { continue }
            guard content.members.count < Self.maximumReports else {
                large.formUnion(content.members.keys)
                return nil
            }
            guard let own = paths.first(where: { $0.series == next.series }),
                let report = try reports(of: own, from: next.start, through: next.start).first(where: { $0.key == next }),
                let member = try member(report)
            else { return nil }
            content.members[next] = member
            queue += member.group
            queue += try readings(like: member.report, of: own)
            for path in paths where path.series != own.series {
                let radius = Agreement.radius(.spot, timeResolution: max(own.coarsest, path.coarsest))
                for other in try reports(of: path, from: next.start &- radius, through: next.start &+ radius) {
                    guard let found = ReportGrouping.similarity(member.report, other) else { continue }
                    if found.verdict == .duplicate {
                        queue.append(other.key)
                    } else if try connection.samples.contains(other.key) {
                        content.linked[other.key] = other
                    }
                }
            }
        }
        for key in content.members.keys { content.linked[key] = nil }
        return content
    }

    /// The number of reports of a path in an interval, as far as it matters.
    func count(_ path: ReportPath, of key: SampleKey, from low: Int64, before high: Int64) throws(StoreError) -> Int {
        guard let series = try paths(near: key.series).first(where: { ReportPath($0.origin) == path })?.series else { return 0 }
        return try connection.samples.countReports(of: series, from: low, before: high, atMost: DenseStream.streamThreshold + 1)
    }

    func forget() { reader.forgetTraces() }

    /// The series of the person and type of a series, with their origins.
    private func paths(near series: Int64) throws(StoreError) -> [Path] {
        if let known = paths[series] { return known }
        var found: [Path] = []
        for related in try connection.series.related(toSeries: series) {
            guard let origin = try connection.series.origin(of: related) else { continue }
            found.append(Path(series: related.id, origin: origin, coarsest: related.coarsest))
        }
        for path in found { paths[path.series] = found }
        return found
    }

    /// The reports of a path that start between two times: samples, tombstones and duplicates.
    private func reports(of path: Path, from low: Int64, through high: Int64) throws(StoreError) -> [Report] {
        var found: [SampleKey: Report] = [:]
        var properties = SeriesProperties(relatedSeries, path.origin.type)
        for table in SampleTable.Rows.allCases {
            let rows = try connection.samples.scan(
                [.key, .value, .numeral, .context, .duration, .group, .metadata], of: path.series, from: low, through: high,
                among: table, table == .tombstones ? .remembered : .all, isRetained: false)
            while try rows.next() {
                let key = try rows.key
                guard found[key] == nil else { continue }
                let step = rows.step ?? Numeral(shortest: rows.value).step
                let trace = try properties.trace(
                    start: key.start, duration: rows.duration, value: rows.value, step: step, context: rows.context,
                    metadata: rows.metadata ?? 0)
                guard trace.timeResolution <= Agreement.coarsest else { continue }
                found[key] = Report(
                    key: key, origin: path.origin, trace: trace,
                    unit: try relatedSeries.properties(rows.context, of: path.origin.type).unit, identity: key.identity(skew: 0),
                    isGrouped: rows.group ?? 0 != 0)
            }
        }
        return found.values.sorted { ($0.key.start, $0.key.high, $0.key.low) < ($1.key.start, $1.key.high, $1.key.low) }
    }

    /// The reports of a path that may be one reading in several units.
    private func readings(like report: Report, of path: Path) throws(StoreError) -> [SampleKey] {
        var found: [SampleKey] = []
        for other in try connection.samples.reports(of: path.series, atNominal: report.nominalStart) where other.key != report.key
        {
            guard
                var candidate = try reports(of: path, from: other.key.start, through: other.key.start).first(where: {
                    $0.key == other.key
                })
            else { continue }
            candidate.nominalStart = report.nominalStart
            // Records are identified by their source.
            guard ReportGrouping.similarity(report, candidate) != nil, try connection.records.records(at: other.key).isEmpty
            else { continue }
            found.append(other.key)
        }
        return found
    }

    /// Returns a report with its state, or `nil` if it stays as it is.
    private func member(_ report: Report) throws(StoreError) -> Member? {
        var report = report
        let key = report.key
        let history = try reader.measurement(of: key).history
        guard history.repaired.isEmpty, history.versions.isEmpty, history.decisions.isEmpty,
            let own = history.reports.first(where: { $0.key == key })
        else { return nil }
        if exactImports == nil { exactImports = try connection.settings.exactImports() }
        let importID = try reader.importID(of: key, ingestedBy: own.entry)
        guard let exactImports, !exactImports.contains(importID) else { return nil }
        let duplicate = try connection.duplicates.duplicate(at: key)
        guard duplicate == nil || duplicate?.merge == nil else { return nil }
        let group = history.reports.filter { $0.group == own.group && !arriving.contains($0.key) }.map(\.key)
        report.counts = history.counts(key)
        report.importID = importID
        report.nominalStart = try connection.samples.nominalStart(at: key) ?? key.start
        return Member(
            report: report, entry: own.entry, isSample: try reader.row(at: key) != nil, isDuplicate: duplicate != nil,
            group: arriving.contains(key) ? [] : Set(group))
    }
}
