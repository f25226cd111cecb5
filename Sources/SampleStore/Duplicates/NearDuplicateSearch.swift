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
        /// Whether the original is known to be live and at least as precise as the row, so that it stays the sample.
        var staysLive = false
        /// Whether the original already has a duplicate of the row's path.
        var isProvisional = false
    }

    /// The result of a search.
    struct Matches {
        /// Rows that are the same measurement as a sample, each once and sorted. They become duplicates.
        var nearDuplicates: [Match] = []
        /// Rows that agree with a sample from another device. Both are kept and linked.
        var links: [Match] = []
        /// Rows whose measurement depends on more than one other report (``Regrouping``).
        var contested: [Int] = []
    }

    /// A candidate that matches a row.
    private struct Finding {
        var agreement: Agreement
        var verdict: DuplicateRule.Verdict
        /// The index of the candidate's scan, and the candidate's index in that scan.
        var scan: Int
        var candidate: Int
        var isForm: Bool
    }

    private let connection: Connection
    private let relatedSeries: RelatedSeriesCache
    private let reader: MeasurementReader
    /// Whether the searched rows are stored samples. They are compared only with live samples.
    private let ofStored: Bool

    init(connection: Connection, ofStored: Bool = false) {
        self.connection = connection
        self.ofStored = ofStored
        relatedSeries = RelatedSeriesCache(connection: connection)
        reader = MeasurementReader(connection: connection)
    }

    func forget() { relatedSeries.forget() }

    /// Searches for duplicates of rows of one series, sorted by start.
    func search(_ rows: [SampleRow], of origin: Origin, series: Int64) throws(StoreError) -> Matches {
        var matches = Matches()
        var taken: Set<SampleKey> = []
        try forEachRow(rows, of: origin, series: series) { (index, trace, found, scans, rule, radius) throws(StoreError) in
            if !found.isEmpty, taken.isEmpty { taken.reserveCapacity(rows.count) }
            let best = try Self.takeBest(found, of: &scans, for: trace, in: series, isGrouped: rows[index].group != 0, &taken)
            // Equal values of a stream agree with many others, so each is compared with what is there.
            if rule != .stream, try isContested(trace, rows, index, found, best, &scans, rule, radius) {
                matches.contested.append(index)
                if best == nil, let first = found.first(where: { $0.verdict == .duplicate }) {
                    let original = scans[first.scan].candidates[first.candidate].first
                    matches.nearDuplicates.append(Match(row: index, of: original, isProvisional: true))
                }
            }
            if let best {
                matches.nearDuplicates.append(Match(row: index, of: best.first, staysLive: best.staysLive))
                // A row that may become the sample is linked as well.
                if best.staysLive { return }
            }
            // Link the best match from each other device.
            var linked: Set<Int64> = []
            for finding in found where finding.verdict == .linked && scans[finding.scan].table != .withdrawn {
                let key = scans[finding.scan].candidates[finding.candidate].key
                if linked.insert(key.series).inserted { matches.links.append(Match(row: index, of: key)) }
            }
        }
        return matches
    }

    /// Returns the stored rows of one series, sorted by start, each with a live sample of another path that it agrees with.
    func agreeing(with rows: [SampleRow], of origin: Origin, series: Int64) throws(StoreError) -> [(SampleKey, SampleKey)] {
        var pairs: [(SampleKey, SampleKey)] = []
        try forEachRow(rows, of: origin, series: series) { (index, _, found, scans, _, _) throws(StoreError) in
            for finding in found where finding.verdict == .duplicate {
                pairs.append((rows[index].key, scans[finding.scan].candidates[finding.candidate].key))
            }
        }
        return pairs
    }

    /// Calls `body` with each row and the samples that agree with it, the most alike first.
    private func forEachRow(
        _ rows: [SampleRow], of origin: Origin, series: Int64,
        _ body: (
            _ index: Int, _ trace: ReadingTrace, _ found: [Finding], _ scans: inout [RelatedSeriesScan], _ rule: DuplicateRule,
            _ radius: Int64
        ) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard let first = rows.first, let last = rows.last else { return }
        var lasting = first.duration > 0
        var rule = DuplicateRule.of(origin.type, lasting: lasting)
        guard rule != .none else { return }
        var (scans, radius) = try scans(of: origin, series: series, rule, first.start, last.start)
        guard !scans.isEmpty else { return }
        var properties = SeriesProperties(relatedSeries, origin.type)
        var found: [Finding] = []
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
                    found.append(Finding(agreement: $0, verdict: verdict, scan: position, candidate: $1, isForm: false))
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
            try body(index, trace, found, &scans, rule, radius)
        }
    }

    /// Whether the measurement of a row is not determined by the row and its best partner alone: another partner is as alike or of another
    /// path, the best one has a report of the row's path, or the row may be a better partner of other reports.
    ///
    /// - Parameter found: The samples that agree with the row, the most alike first.
    private func isContested(
        _ trace: ReadingTrace, _ rows: [SampleRow], _ index: Int, _ found: [Finding],
        _ best: (first: SampleKey, staysLive: Bool)?,
        _ scans: inout [RelatedSeriesScan], _ rule: DuplicateRule, _ radius: Int64
    ) throws(StoreError) -> Bool {
        if let best, best.staysLive, found.count == 1 { return false }
        var joinsLive = false
        var first: Finding?
        for finding in found where finding.verdict == .duplicate && scans[finding.scan].table != .withdrawn {
            let (scan, candidate) = (scans[finding.scan], scans[finding.scan].candidates[finding.candidate])
            let original = candidate.first
            if scan.table == .live, original == best?.first,
                !scan.mayBeBetter(trace, isGrouped: rows[index].group != 0, than: candidate.trace)
            {
                joinsLive = true
            }
            guard let best, let chosen = first else {
                guard original == best?.first else { return true }
                first = finding
                continue
            }
            let isOfOtherPath = scan.related.series != scans[chosen.scan].related.series
            if original != best.first, isOfOtherPath || finding.agreement == chosen.agreement { return true }
        }
        // A less precise report than the sample changes nothing but itself.
        if joinsLive { return false }
        if try agreesWithDuplicate(trace, except: best?.first, &scans, rule, radius) { return true }
        guard let best, first != nil else { return false }
        return try !joinsAlone(trace, rows, index, found, best.first, &scans, rule, radius)
    }

    /// Whether a row agrees with all reports of a measurement, and nothing else is near, so that all of them remain one measurement.
    private func joinsAlone(
        _ trace: ReadingTrace, _ rows: [SampleRow], _ index: Int, _ found: [Finding], _ first: SampleKey,
        _ scans: inout [RelatedSeriesScan], _ rule: DuplicateRule, _ radius: Int64
    ) throws(StoreError) -> Bool {
        let members = Set(try connection.duplicates.duplicates(of: first).map(\.key) + [first])
        guard members.count > 1 else { return true }
        let (low, high) = (trace.start &- radius, trace.start &+ radius)
        guard try isAlone(rows, index, from: low, through: high) else { return false }
        var agreeing: Set<SampleKey> = []
        for finding in found where finding.verdict == .duplicate {
            agreeing.insert(scans[finding.scan].candidates[finding.candidate].key)
        }
        for position in scans.indices {
            let near = try scans[position].near(low, high)
            for candidate in scans[position].candidates[near] {
                let original = scans[position].table == .duplicates ? try reader.first(of: candidate.key) : candidate.first
                guard original == first else { return false }
            }
            guard scans[position].table == .duplicates else { continue }
            var matching: [Int] = []
            scans[position].forEachMatch(of: trace, among: near, rule) { matching.append($1) }
            for index in matching { agreeing.insert(scans[position].candidates[index].key) }
        }
        return members.isSubset(of: agreeing)
    }

    /// Whether no other reading of a row's series, in the batch or stored, starts in an interval.
    private func isAlone(
        _ rows: [SampleRow], _ index: Int, from low: Int64, through high: Int64
    ) throws(StoreError) -> Bool {
        if index > 0, rows[index - 1].start >= low { return false }
        if index + 1 < rows.count, rows[index + 1].start <= high { return false }
        let samples = connection.samples
        for table in SampleTable.Rows.allCases
        where try samples.start(of: rows[index].series, from: low, through: high, among: table) != nil {
            return false
        }
        return true
    }

    /// Whether a row agrees with a duplicate of another sample than its own.
    private func agreesWithDuplicate(
        _ trace: ReadingTrace, except first: SampleKey?, _ scans: inout [RelatedSeriesScan], _ rule: DuplicateRule,
        _ radius: Int64
    ) throws(StoreError) -> Bool {
        for position in scans.indices where scans[position].table == .duplicates {
            guard rule.verdict(scans[position].related.relation) == .duplicate else { continue }
            let near = try scans[position].near(trace.start &- radius, trace.start &+ radius)
            var agreeing: [Int] = []
            scans[position].forEachMatch(of: trace, among: near, rule) { agreeing.append($1) }
            for index in agreeing where try reader.first(of: scans[position].candidates[index].key) != first { return true }
        }
        return false
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

    /// Takes the best match that is the same measurement and has no duplicate yet from the row's series. Matches that
    /// were not undone come first.
    private static func takeBest(
        _ found: [Finding], of scans: inout [RelatedSeriesScan], for trace: ReadingTrace, in series: Int64, isGrouped: Bool,
        _ taken: inout Set<SampleKey>
    ) throws(StoreError) -> (first: SampleKey, staysLive: Bool)? {
        for isWithdrawn in [false, true] {
            for finding in found
            where finding.verdict == .duplicate && (scans[finding.scan].table == .withdrawn) == isWithdrawn {
                let scan = scans[finding.scan]
                let candidate = scan.candidates[finding.candidate]
                guard candidate.first.series != series, !taken.contains(candidate.first),
                    try !scan.hasDuplicate(candidate.first)
                else { continue }
                taken.insert(candidate.first)
                let isSame = scan.table == .live && candidate.first == candidate.key && !finding.isForm
                return (candidate.first, isSame && !scan.mayBeBetter(trace, isGrouped: isGrouped, than: candidate.trace))
            }
        }
        return nil
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
