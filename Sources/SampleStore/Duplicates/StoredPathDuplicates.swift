import HealthModel

/// Finds live samples that are one measurement from two paths and were not compared by an import. A repair moved one
/// next to the other, which merges them, an undo restored one next to the other, or `import --exact` stored both.
///
/// They are compared with the rules of an import, and each sample is paired with at most one sample of each path.
final class StoredPathDuplicates {
    /// A sample and the one that remains if the two are merged. The repaired sample remains, so that its repair can
    /// still be undone. If neither or both were repaired, the earlier one remains.
    struct Pair {
        var sampleKey: SampleKey
        var first: SampleKey
        var type: SampleType
        var lasts: Bool
        /// The import of the sample.
        var ingestID: Int64
        /// Whether the sample is kept because others were compared with it, or because both samples were repaired.
        var isLeft: Bool
    }

    private let connection: Connection
    private let decoder: SampleDecoder
    private let near: NearDuplicateSearch
    private let reader: MeasurementReader
    /// The samples that are already in a pair, for the current chunk and the previous one.
    private var (paired, pairedBefore): (Set<SampleKey>, Set<SampleKey>) = ([], [])

    /// The number of rows read at a time.
    private static let chunk = 8192

    init(connection: Connection) {
        self.connection = connection
        decoder = SampleDecoder(connection: connection)
        near = NearDuplicateSearch(connection: connection, ofStored: true)
        reader = MeasurementReader(connection: connection)
    }

    /// Passes the pairs to `body`, some thousand at a time. `body` may merge them.
    ///
    /// - Parameter since: If not 0, only pairs are found in which a sample was added after this change number.
    func search(since: Int64 = 0, _ body: ([Pair]) throws(StoreError) -> Void) throws(StoreError) {
        for series in try self.series(since: since) {
            var position: (start: Int64, seq: Int64)? = (series.low, .min)
            while let last = position {
                let (rows, origin, next) = try read(series.id, after: last, through: series.high, since: since)
                position = next
                guard let origin else { continue }
                (pairedBefore, paired) = (paired, [])
                reader.forgetTraces()
                var pairs: [Pair] = []
                for match in try near.search(rows, of: origin, series: series.id).nearDuplicates {
                    if let pair = try pair(rows[match.row], match.of, origin.type) { pairs.append(pair) }
                }
                if !pairs.isEmpty { try body(pairs) }
            }
        }
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

    /// Decides which of two samples remains. Returns `nil` if they must not be merged.
    private func pair(_ row: SampleRow, _ other: SampleKey, _ type: SampleType) throws(StoreError) -> Pair? {
        let own = row.key
        let duplicates = connection.duplicates
        guard other.series != own.series, try connection.samples.contains(other), try !isDuplicate(own), try !isDuplicate(other)
        else {
            return nil
        }
        for key in [own, other] where paired.contains(key) || pairedBefore.contains(key) { return nil }
        let (ownImport, otherImport) = try (coming(own), coming(other))
        let (ownIsRepaired, otherIsRepaired) = try (isRepaired(own), isRepaired(other))
        let prefersOwn = ownIsRepaired == otherIsRepaired ? ownImport < otherImport : ownIsRepaired
        let (sampleKey, first) = prefersOwn ? (other, own) : (own, other)
        // One of them already has a report of the other's path.
        guard try !hasReport(in: sampleKey.series, of: first), try !hasReport(in: first.series, of: sampleKey) else { return nil }
        paired.formUnion([own, other])
        return Pair(
            sampleKey: sampleKey, first: first, type: type, lasts: row.duration > 0,
            ingestID: prefersOwn ? otherImport.ingest : ownImport.ingest,
            isLeft: try duplicates.hasDependents(sampleKey) || (ownIsRepaired && otherIsRepaired))
    }

    /// Whether a sample is a promoted duplicate, or one that a person separated from its original. A duplicate of an undone
    /// repair may be merged again.
    private func isDuplicate(_ sampleKey: SampleKey) throws(StoreError) -> Bool {
        guard let own = try connection.duplicates.duplicate(at: sampleKey) else { return false }
        guard let merge = own.merge, try connection.ledger.isUndone(merge) else { return true }
        return try connection.ledger.kind(of: merge) != .migrate
    }

    /// Whether a measurement has another report of a series that counts.
    private func hasReport(in series: Int64, of key: SampleKey) throws(StoreError) -> Bool {
        let history = try reader.measurement(of: key).history
        let own = history.root(of: key)
        let group = history.reports.first { $0.key == own }?.group
        return history.reports.contains { $0.key.series == series && $0.group == group && history.counts($0.key) }
    }

    /// The import of a sample and its change number.
    private func coming(_ sampleKey: SampleKey) throws(StoreError) -> (ingest: Int64, seq: Int64) {
        let seq = try connection.samples.number(at: sampleKey)?.number ?? 0
        return (try decoder.change(of: seq, series: sampleKey.series).ingest, seq)
    }

    private func isRepaired(_ sampleKey: SampleKey) throws(StoreError) -> Bool {
        try connection.repairs.origin(of: sampleKey) != nil
    }
}
