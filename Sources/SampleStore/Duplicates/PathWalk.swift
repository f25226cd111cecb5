import HealthModel

/// Walks through the samples of other paths beside the rows of one series, and finds those that agree with each row.
///
/// It decides nothing. What a row and the samples are to each other is a matter of ``ReportGrouping`` and, as far as the row and one sample
/// suffice for this, of ``ArrivalMatching``.
final class PathWalk {
    /// A sample that agrees with a row.
    struct Partner {
        var agreement: Agreement
        var verdict: DuplicateRule.Verdict
        /// The index of the sample's scan, and the sample's index in that scan.
        var scan: Int
        var candidate: Int
        var isForm: Bool
    }

    /// A row, and what it is compared with.
    struct Step {
        /// The index of the row.
        var index: Int
        var trace: ReadingTrace
        var rule: DuplicateRule
        /// The time around the row in which a sample can agree with it, in microseconds.
        var radius: Int64
    }

    let connection: Connection
    let reader: MeasurementReader
    private let relatedSeries: RelatedSeriesCache
    /// Whether the rows are stored samples. They are compared only with live samples.
    private let ofStored: Bool

    init(connection: Connection, ofStored: Bool = false) {
        self.connection = connection
        self.ofStored = ofStored
        relatedSeries = RelatedSeriesCache(connection: connection)
        reader = MeasurementReader(connection: connection)
    }

    func forget() { relatedSeries.forget() }

    /// Calls `body` with each row and the samples that agree with it, the most alike first.
    ///
    /// - Parameter rows: The rows of one series, sorted by start.
    func forEachRow(
        _ rows: [SampleRow], of origin: Origin, series: Int64,
        _ body: (_ step: Step, _ partners: [Partner], _ scans: inout [RelatedSeriesScan]) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let first = rows.first, let last = rows.last else { return }
        var lasting = first.duration > 0
        var rule = DuplicateRule.of(origin.type, lasting: lasting)
        guard rule != .none else { return }
        var (scans, radius) = try scans(of: origin, series: series, rule, first.start, last.start)
        guard !scans.isEmpty else { return }
        var properties = SeriesProperties(relatedSeries, origin.type)
        var found: [Partner] = []
        for index in rows.indices {
            let row = rows[index]
            if (row.duration > 0) != lasting {
                lasting.toggle()
                rule = DuplicateRule.of(origin.type, lasting: lasting)
            }
            let trace = try properties.trace(
                start: row.start, duration: row.duration, value: row.value, step: row.step, context: row.context,
                metadata: row.metadata)
            guard trace.timeResolution <= Agreement.coarsest else { continue }
            found.removeAll(keepingCapacity: true)
            for position in scans.indices where scans[position].table != .duplicates {
                let verdict = rule.verdict(scans[position].related.relation)
                let near = try scans[position].near(row.start &- radius, row.start &+ radius)
                guard verdict != .two, !near.isEmpty else { continue }
                let count = found.count
                scans[position].forEachMatch(of: trace, among: near, rule) {
                    found.append(Partner(agreement: $0, verdict: verdict, scan: position, candidate: $1, isForm: false))
                }
                for key in count..<found.count { found[key].isForm = scans[position].candidates[found[key].candidate].isForm }
            }
            for key in found.indices.reversed() {
                let candidate = scans[found[key].scan].candidates[found[key].candidate]
                let isStream = try DenseStream.separates(trace, candidate.trace, found[key].agreement, rule, of: origin.type) {
                    (side, low, high) throws(StoreError) in
                    switch side {
                    case .one: try count(rows, index, from: low, before: high)
                    case .other: try stored(candidate.key.series, from: low, before: high)
                    }
                }
                if isStream { found.remove(at: key) }
            }
            if found.count > 1 { found.sort { ($0.isForm ? 1 : 0, $0.agreement) < ($1.isForm ? 1 : 0, $1.agreement) } }
            try body(Step(index: index, trace: trace, rule: rule, radius: radius), found, &scans)
        }
    }

    /// Returns the stored rows of one series, sorted by start, each with a live sample of another path that it agrees with.
    func pairs(of rows: [SampleRow], of origin: Origin, series: Int64) throws(StoreError) -> [(SampleKey, SampleKey)] {
        var pairs: [(SampleKey, SampleKey)] = []
        try forEachRow(rows, of: origin, series: series) { (step, partners, scans) throws(StoreError) in
            for partner in partners where partner.verdict == .duplicate {
                pairs.append((rows[step.index].key, scans[partner.scan].candidates[partner.candidate].key))
            }
        }
        return pairs
    }

    /// Whether the store has a report of the same measurement from another path, live or not.
    func hasReport(of trace: ReadingTrace, origin: Origin) throws(StoreError) -> Bool {
        let rule = DuplicateRule.of(origin.type, lasting: trace.duration > 0)
        // No series has the number 0: the reading has none yet.
        var (scans, radius) = try scans(of: origin, series: 0, rule, trace.start, trace.start)
        for position in scans.indices
        where scans[position].table != .duplicates && rule.verdict(scans[position].related.relation) == .duplicate {
            let near = try scans[position].near(trace.start &- radius, trace.start &+ radius)
            var isFound = false
            scans[position].forEachMatch(of: trace, among: near, rule) { _, _ in isFound = true }
            if isFound { return true }
        }
        return false
    }

    /// The scans of samples from other paths near rows that start between two times, and the radius to search.
    private func scans(
        of origin: Origin, series: Int64, _ rule: DuplicateRule, _ first: Int64, _ last: Int64
    ) throws(StoreError) -> (scans: [RelatedSeriesScan], radius: Int64) {
        let own = try connection.series.coarsest(of: series)
        let samples = connection.samples
        var present: [(related: RelatedSeries, table: RelatedSeriesScan.Table)] = []
        var radius: Int64 = 0
        for related in try relatedSeries.of(origin, series: series) where rule.verdict(related.relation) != .two {
            let reach = Agreement.radius(rule, timeResolution: max(Int32(truncatingIfNeeded: own), related.coarsest))
            // If the other path has no samples in the interval, there is nothing to search.
            let (low, high) = (first &- reach, last &+ reach)
            let tables: [RelatedSeriesScan.Table] = ofStored ? [.live] : [.live, .deleted, .withdrawn, .duplicates]
            for table in tables where try samples.start(of: related.series, from: low, through: high, among: table.rows) != nil {
                present.append((related, table))
                radius = max(radius, reach)
            }
        }
        guard !present.isEmpty else { return ([], radius) }
        reader.forgetTraces()
        let existingDuplicates = try DuplicateRange(by: series, first &- radius, last &+ radius, connection: connection)
        // In most stores no duplicate was ever promoted and nothing repaired, so this lookup is not needed.
        var isPlain = try connection.settings.integer("standIns") == nil
        if isPlain { isPlain = try connection.repairs.isEmpty() }
        var scans: [RelatedSeriesScan] = []
        for (related, table) in present {
            try scans.append(
                RelatedSeriesScan(
                    related, table, properties: SeriesProperties(relatedSeries, origin.type),
                    existingDuplicates: existingDuplicates,
                    measurements: isPlain && table == .live || table == .duplicates ? nil : reader,
                    connection: connection))
        }
        return (scans, radius)
    }

    /// The number of rows of the row's own series in an interval, in the batch or stored, as far as it matters.
    private func count(_ rows: [SampleRow], _ index: Int, from low: Int64, before high: Int64) throws(StoreError) -> Int {
        // If the searched rows are stored, they are counted there.
        if ofStored { return try stored(rows[index].series, from: low, before: high) }
        var count = 0
        for row in rows[index...] {
            guard row.start < high, count <= DenseStream.streamThreshold else { break }
            if row.start >= low { count += 1 }
        }
        for row in rows[..<index].reversed() {
            guard row.start >= low, count <= DenseStream.streamThreshold else { break }
            if row.start < high { count += 1 }
        }
        return count > DenseStream.streamThreshold ? count : count + (try stored(rows[index].series, from: low, before: high))
    }

    /// The number of stored samples and duplicates of a series in an interval, as far as it matters.
    private func stored(_ series: Int64, from low: Int64, before high: Int64) throws(StoreError) -> Int {
        try connection.samples.countReports(of: series, from: low, before: high, atMost: DenseStream.streamThreshold + 1)
    }
}
