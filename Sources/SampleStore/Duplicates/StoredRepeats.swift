import HealthModel

/// Finds live samples that are one measurement (``ReportGrouping``) and were not compared by an import: a repair moved one next to the other,
/// which merges them, an undo restored one next to the other, or `import --exact` stored both.
final class StoredRepeats {
    /// A sample and the one that remains if the two are merged. The repaired sample remains, so that its repair can still be undone. If
    /// neither or both were repaired, the earlier one remains.
    struct Pair {
        var key: SampleKey
        var first: SampleKey
        var rule: DuplicateRule
        /// The import of the sample.
        var ingestID: Int64
        /// Whether the sample is kept because others were compared with it, or because both samples were repaired.
        var isLeft: Bool
    }

    private typealias Report = ReportGrouping<SampleKey>.Report

    private let connection: Connection
    private let decoder: SampleDecoder
    private let walk: PathWalk
    private let unitRepeats: UnitRepeatSearch
    private let reader: MeasurementReader

    /// The number of rows read at a time.
    private static let chunk = 8192

    init(connection: Connection) {
        self.connection = connection
        decoder = SampleDecoder(connection: connection)
        walk = PathWalk(connection: connection, ofStored: true)
        unitRepeats = UnitRepeatSearch(connection: connection)
        reader = MeasurementReader(connection: connection)
    }

    /// Passes the pairs to `body`, some thousand at a time. `body` may merge them.
    ///
    /// - Parameter since: If not 0, only pairs of two sources are found in which a sample was added after this change number.
    func search(since: Int64 = 0, _ body: ([Pair]) throws(StoreError) -> Void) throws(StoreError) {
        if since == 0 { try searchUnits(body) }
        for series in try self.series(since: since) {
            var position: (start: Int64, seq: Int64)? = (series.low, .min)
            while let last = position {
                let (rows, origin, next) = try read(series.id, after: last, through: series.high, since: since)
                position = next
                guard let origin else { continue }
                reader.forgetTraces()
                var pairs: [Pair] = []
                for keys in Self.components(try walk.pairs(of: rows, of: origin, series: series.id)) {
                    var reports: [Report] = []
                    for key in keys { if let report = try report(key) { reports.append(report) } }
                    for pair in try self.pairs(reports) where try !isFoundBefore(pair, series.id, since) { pairs.append(pair) }
                }
                if !pairs.isEmpty { try body(pairs) }
            }
        }
    }

    // MARK: Candidates

    /// The readings of one series at the same time in several units.
    private func searchUnits(_ body: ([Pair]) throws(StoreError) -> Void) throws(StoreError) {
        var last: (series: Int64, origin: Origin?)?
        for (series, instant) in try connection.duplicates.sharedInstants() {
            if last?.series != series {
                last = (series, try connection.series.origin(ofSeries: series))
            }
            guard let origin = last?.origin else { continue }
            let readings = try unitRepeats.readings(of: series, at: instant, origin.type)
            guard Set(readings.map(\.unit)).count > 1, readings.count <= ReportWindow.maximumReports else { continue }
            var (compared, originals): ([EarlierReading], [SampleKey: SampleKey]) = ([], [:])
            for reading in readings {
                // Records are identified by their source, and repaired samples are left to their repair.
                if reading.isLive {
                    guard reading.first == reading.key, try connection.records.records(at: reading.key).isEmpty else { continue }
                    guard try !connection.repairs.contains(reading.key) else { continue }
                } else {
                    guard reading.first != reading.key, try connection.samples.contains(reading.first) else { continue }
                    originals[reading.key] = reading.first
                }
                compared.append(reading)
            }
            let reports = try unitRepeats.reports(compared, of: origin)
            let pairs = try self.pairs(reports, originals: originals, isUnit: true)
            if !pairs.isEmpty { try body(pairs) }
        }
    }

    private func report(_ key: SampleKey) throws(StoreError) -> Report? {
        guard let sample = try connection.samples.sample(at: key, among: .live) else { return nil }
        var report = Report(
            key: key, origin: sample.origin, trace: ReadingTrace(sample), unit: sample.unit.code, identity: key.identity(skew: 0),
            isGrouped: sample.group != nil)
        report.nominalStart = sample.nominalStart
        return report
    }

    /// The samples that agree with each other, directly or over others.
    private static func components(_ edges: [(SampleKey, SampleKey)]) -> [[SampleKey]] {
        var root: [SampleKey: Int] = [:]
        var members: [[SampleKey]] = []
        for (one, other) in edges {
            let first = root[one] ?? members.count
            if first == members.count { members.append([one]) }
            root[one] = first
            guard let second = root[other] else {
                root[other] = first
                members[first].append(other)
                continue
            }
            guard second != first else { continue }
            for key in members[second] { root[key] = first }
            members[first] += members[second]
            members[second] = []
        }
        return members.filter { $0.count > 1 }
    }

    /// Whether the search of an earlier series has found the pair.
    private func isFoundBefore(_ pair: Pair, _ series: Int64, _ since: Int64) throws(StoreError) -> Bool {
        for key in [pair.key, pair.first] where key.series < series {
            if try connection.samples.number(at: key)?.number ?? 0 > since { return true }
        }
        return false
    }

    /// The series that have related series of the same person and type, with the time range of the changes after `since`.
    private func series(since: Int64) throws(StoreError) -> [(id: Int64, low: Int64, high: Int64)] {
        let all = try connection.series.idsWithRelated()
        guard since > 0 else { return all.map { ($0, .min, .max) } }
        var changed: [Int64: ClosedRange<Int64>] = [:]
        for entry in try connection.changeTable.starts(after: since) { changed[entry.series] = entry.starts }
        return all.compactMap { id in changed[id].map { (id, $0.lowerBound, $0.upperBound) } }
    }

    /// The next rows of a series, sorted by start, and the position after them. The position is `nil` at the end of the
    /// series.
    private func read(
        _ series: Int64, after last: (start: Int64, seq: Int64), through high: Int64, since: Int64
    ) throws(StoreError) -> (rows: [SampleRow], origin: Origin?, next: (start: Int64, seq: Int64)?) {
        let found = try connection.samples.scan(
            .whole, of: series, from: last.start, through: high, .page(after: last.seq, in: since.shifted(by: 1) ... .max),
            order: .startAndArrival, limit: Self.chunk)
        var rows: [SampleRow] = []
        var origin: Origin?
        while try found.next() {
            let sample = try found.stored(decoder).sample
            if origin == nil { origin = sample.origin }
            rows.append(
                SampleRow(
                    series: series, start: sample.start.microseconds, nominal: sample.nominalStart, low: sample.identity.low,
                    high: sample.identity.high, value: sample.value, step: sample.numeral.step, context: found.context,
                    duration: sample.end.microseconds - sample.start.microseconds, received: .min, group: 0,
                    metadata: found.metadata ?? 0, seq: found.change, numeral: 0..<0, index: Int32(rows.count)))
        }
        return (rows, origin, rows.count < Self.chunk ? nil : rows.last.map { ($0.start, $0.seq) })
    }

    // MARK: Pairs

    /// - Parameters:
    ///   - originals: The samples of those reports that are duplicates.
    ///   - isUnit: Whether all are of one source.
    private func pairs(
        _ reports: [Report], originals: [SampleKey: SampleKey] = [:], isUnit: Bool = false
    ) throws(StoreError) -> [Pair] {
        var (pairs, left): ([Pair], [Report]) = ([], reports)
        var isChanging = true
        while isChanging, left.count > 1 {
            isChanging = false
            for group in try grouping(left).groups where !group.others.isEmpty {
                let members = try self.members([group.representative] + group.others, originals)
                guard let first = members.first else { continue }
                for other in members.dropFirst() {
                    var isReported = try self.isReported(other.key, in: first.key, isUnit)
                    if !isReported { isReported = try self.isReported(first.key, in: other.key, isUnit) }
                    guard !isReported else {
                        // The next best sample may have no report of this source.
                        let count = left.count
                        left.removeAll { (originals[$0.key] ?? $0.key) == first.key }
                        if left.count < count { isChanging = true }
                        continue
                    }
                    left.removeAll { [first.key, other.key].contains(originals[$0.key] ?? $0.key) }
                    pairs.append(try pair(other, first, reports[0].origin.type, isUnit))
                }
            }
        }
        return pairs
    }

    private func grouping(_ reports: [Report]) throws(StoreError) -> ReportGrouping<SampleKey> {
        try ReportGrouping(reports) { (path: ReportPath, low: Int64, high: Int64) throws(StoreError) -> Int in
            guard let report = reports.first(where: { $0.precision.path == path }) else { return 0 }
            return try connection.samples.countReports(
                of: report.key.series, from: low, before: high, atMost: DenseStream.streamThreshold + 1)
        }
    }

    /// A sample with what decides whether it remains.
    private struct Member {
        var key: SampleKey
        var isRepaired: Bool
        var ingest: Int64
        var seq: Int64
    }

    /// The samples of a group, the one that remains first.
    private func members(_ keys: [SampleKey], _ originals: [SampleKey: SampleKey]) throws(StoreError) -> [Member] {
        var members: [Member] = []
        for key in keys {
            let isOriginal = originals[key] != nil
            let key = originals[key] ?? key
            if members.contains(where: { $0.key == key }) { continue }
            if !isOriginal, try isDuplicate(key) { continue }
            let seq = try connection.samples.number(at: key)?.number ?? 0
            members.append(
                Member(
                    key: key, isRepaired: try connection.repairs.origin(of: key) != nil,
                    ingest: try decoder.change(of: seq, series: key.series).ingest, seq: seq))
        }
        return members.sorted { ($0.isRepaired ? 0 : 1, $0.ingest, $0.seq) < ($1.isRepaired ? 0 : 1, $1.ingest, $1.seq) }
    }

    private func pair(_ other: Member, _ first: Member, _ type: SampleType, _ isUnit: Bool) throws(StoreError) -> Pair {
        let lasts = try connection.samples.sample(at: other.key, among: .live).map { $0.end > $0.start } ?? false
        var isLeft = first.isRepaired && other.isRepaired
        if !isLeft { isLeft = try connection.duplicates.hasDependents(other.key) }
        return Pair(
            key: other.key, first: first.key, rule: isUnit ? .unit : .of(type, lasting: lasts),
            ingestID: other.ingest,
            isLeft: isLeft)
    }

    /// Whether a sample is a promoted duplicate, or one that a person separated from its original. A duplicate of an undone
    /// repair may be merged again.
    private func isDuplicate(_ key: SampleKey) throws(StoreError) -> Bool {
        guard let own = try connection.duplicates.duplicate(at: key) else { return false }
        guard let merge = own.merge, try connection.ledger.isUndone(merge) else { return true }
        return try connection.ledger.kind(of: merge) != .migrate
    }

    /// Whether the measurement of a sample has a report that counts of the source of another sample, and of its unit.
    private func isReported(_ other: SampleKey, in key: SampleKey, _ isUnit: Bool) throws(StoreError) -> Bool {
        let history = try reader.measurement(of: key).history
        let own = history.root(of: key)
        let group = history.reports.first { $0.key == own }?.group
        for report in history.reports where report.key.series == other.series && report.group == group && report.key != other {
            guard history.counts(report.key) else { continue }
            guard isUnit else { return true }
            if try connection.samples.unit(at: report.key) == connection.samples.unit(at: other) { return true }
        }
        return false
    }
}
