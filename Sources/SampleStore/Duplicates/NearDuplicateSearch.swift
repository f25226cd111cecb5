import HealthModel

/// Finds the rows of a batch that are the same measurement as a sample that arrived over another path
/// (``DuplicateRule``).
///
/// Each sample gets at most one duplicate from each series. So two weighings within a minute, reported twice with
/// minute precision, stay two.
final class NearDuplicateSearch {
    /// A row and the sample that it matches.
    struct Match {
        /// The index of the row among the searched rows.
        var row: Int
        /// The original sample, even if a duplicate was promoted to replace it.
        var of: SampleKey
        /// Whether the matching sample was deleted, or its import was undone.
        var isOfTombstone = false
    }

    /// The result of a search.
    struct Matches {
        /// Rows that are the same measurement as a sample. They become duplicates.
        var witnesses: [Match] = []
        /// Rows that agree with a sample from another device. Both are kept and linked.
        var links: [Match] = []
    }

    /// A candidate that matches a row.
    private struct Finding {
        var likeness: Likeness
        var verdict: DuplicateRule.Verdict
        /// The index of the candidate's scan, and the candidate's index in that scan.
        var scan: Int
        var candidate: Int
    }

    private let connection: Connection
    private let relatedSeries: RelatedSeriesCache
    /// Whether the searched rows are stored samples. They are compared only with live samples.
    private let ofStored: Bool

    /// If an interval contains more samples than this, they are a stream. A value with minute precision is then not a
    /// copy of one of them.
    private static let crowd = 6

    init(connection: Connection, ofStored: Bool = false) {
        self.connection = connection
        self.ofStored = ofStored
        relatedSeries = RelatedSeriesCache(connection: connection)
    }

    func forget() { relatedSeries.forget() }

    /// Searches for duplicates of rows of one series, sorted by start.
    func search(_ rows: [SampleRow], of origin: Origin, series: Int64) throws(StoreError) -> Matches {
        var matches = Matches()
        guard let first = rows.first, let last = rows.last else { return matches }
        var lasting = first.duration > 0
        var rule = DuplicateRule.of(origin.type, lasting: lasting)
        guard rule != .none else { return matches }
        var (scans, radius) = try scans(of: origin, series: series, rule, first.start, last.start)
        guard !scans.isEmpty else { return matches }
        var telling = SeriesTelling(relatedSeries, origin.type)
        var found: [Finding] = []
        for index in rows.indices {
            let row = rows[index]
            if (row.duration > 0) != lasting {
                lasting.toggle()
                rule = DuplicateRule.of(origin.type, lasting: lasting)
            }
            let trace = try telling.trace(
                start: row.start, duration: row.duration, value: row.value, step: row.step, context: row.context,
                metadata: row.metadata)
            guard trace.timeResolution <= Likeness.coarsest else { continue }
            found.removeAll(keepingCapacity: true)
            for position in scans.indices {
                let verdict = rule.verdict(scans[position].related.kinship)
                let near = try scans[position].near(row.start &- radius, row.start &+ radius)
                guard verdict != .two, !near.isEmpty else { continue }
                if Self.isStream(scans[position].candidates[near], for: trace) {
                    // A minute value amid a stream of values per second is not a copy of one of them.
                    found.removeAll { scans[$0.scan].related.series == scans[position].related.series }
                    continue
                }
                scans[position].forEachLike(of: trace, among: near, rule) {
                    found.append(Finding(likeness: $0, verdict: verdict, scan: position, candidate: $1))
                }
            }
            guard !found.isEmpty else { continue }
            if found.count > 1 { found.sort { $0.likeness < $1.likeness } }
            if rule == .stream, let best = found.first,
                try isCrowded(rows, index, scans[best.scan].candidates[best.candidate].trace, trace)
            {
                continue
            }
            if let (place, table) = try Self.takeBest(found, of: &scans) {
                matches.witnesses.append(Match(row: index, of: place, isOfTombstone: table != .live))
                continue
            }
            // Link the best match from each other device.
            var linked: Set<Int64> = []
            for finding in found where finding.verdict == .linked && scans[finding.scan].table != .withdrawn {
                let place = scans[finding.scan].candidates[finding.candidate].place
                if linked.insert(place.series).inserted { matches.links.append(Match(row: index, of: place)) }
            }
        }
        return matches
    }

    /// Takes the best match that is the same measurement and has no duplicate yet from the row's series. Matches that
    /// were not undone come first.
    private static func takeBest(
        _ found: [Finding], of scans: inout [RelatedSeriesScan]
    ) throws(StoreError) -> (place: SampleKey, table: RelatedSeriesScan.Table)? {
        for isWithdrawn in [false, true] {
            for finding in found
            where finding.verdict == .duplicate && (scans[finding.scan].table == .withdrawn) == isWithdrawn {
                if let place = try scans[finding.scan].take(finding.candidate) { return (place, scans[finding.scan].table) }
            }
        }
        return nil
    }

    /// The scans of samples from other paths near rows that start between two times, and the radius to search.
    private func scans(
        of origin: Origin, series: Int64, _ rule: DuplicateRule, _ first: Int64, _ last: Int64
    ) throws(StoreError) -> (scans: [RelatedSeriesScan], radius: Int64) {
        let own = try connection.integer("SELECT coarsest FROM series WHERE id = ?", .integer(series)) ?? 1
        var present: [(related: RelatedSeries, table: RelatedSeriesScan.Table)] = []
        var radius: Int64 = 0
        for related in try relatedSeries.of(origin, series: series) where rule.verdict(related.kinship) != .two {
            let reach = Likeness.radius(rule, timeResolution: max(Int32(truncatingIfNeeded: own), related.coarsest))
            // If the other path has no samples in the interval, there is nothing to search.
            let (low, high) = (first &- reach, last &+ reach)
            let tables: [(RelatedSeriesScan.Table, String)] = [(.live, "sample"), (.deleted, "deleted"), (.withdrawn, "deleted")]
            for (table, name) in tables.prefix(ofStored ? 1 : tables.count)
            where try connection.integer(
                "SELECT 1 FROM \(name) WHERE series = ? AND start BETWEEN ? AND ? LIMIT 1", .integer(related.series),
                .integer(low), .integer(high)) != nil
            {
                present.append((related, table))
                radius = max(radius, reach)
            }
        }
        guard !present.isEmpty else { return ([], radius) }
        let witnessed = try WitnessedStretch(by: series, first &- radius, last &+ radius, connection: connection)
        let reader = MeasurementReader(connection: connection)
        // In most stores no duplicate was ever promoted, so this lookup is not needed.
        let hasStandIns = try connection.integer("SELECT 1 FROM setting WHERE name = 'standIns'") != nil
        var scans: [RelatedSeriesScan] = []
        for (related, table) in present {
            try scans.append(
                RelatedSeriesScan(
                    related, table, telling: SeriesTelling(relatedSeries, origin.type),
                    witnessed: witnessed, standIns: hasStandIns || table == .withdrawn ? reader : nil,
                    connection: connection))
        }
        return (scans, radius)
    }

    /// Whether many samples lie in the interval to which a reading's time was truncated.
    private static func isStream(_ near: ArraySlice<Candidate>, for trace: ReadingTrace) -> Bool {
        guard near.count > crowd, trace.timeResolution > 1 else { return false }
        let end = trace.start + Int64(trace.timeResolution) * 1_000_000
        return near.lazy.filter { $0.place.start >= trace.start && $0.place.start < end }.prefix(crowd + 1).count > crowd
    }

    /// Whether many rows of the row's own series lie in the interval that a candidate's time covers.
    private func isCrowded(
        _ rows: [SampleRow], _ index: Int, _ candidate: ReadingTrace, _ trace: ReadingTrace
    ) throws(StoreError) -> Bool {
        guard candidate.timeResolution > trace.timeResolution else { return false }
        let (low, high) = (candidate.start, candidate.start + Int64(candidate.timeResolution) * 1_000_000)
        var count = 0
        for row in rows[index...] {
            guard row.start < high, count <= Self.crowd else { break }
            count += 1
        }
        for row in rows[..<index].reversed() {
            guard row.start >= low, count <= Self.crowd else { break }
            count += 1
        }
        if count > Self.crowd { return true }
        let stored = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM sample WHERE series = ? AND start >= ? AND start < ? LIMIT ?)",
            .integer(rows[index].series), .integer(low), .integer(high), .integer(Int64(Self.crowd + 1)))
        // Stored rows are already included in `stored`.
        return (ofStored ? 0 : count) + Int(stored ?? 0) > Self.crowd
    }
}
