import HealthModel

/// Decides which rows of a batch are the same measurement as one sample that arrived over another path.
///
/// An import of a million rows cannot read the surroundings of each. If a row and one sample have nothing else near, the two are one
/// measurement. Of everything else, this only says that ``ReportGrouping`` must decide it (``Regrouping``). Each sample gets at most one
/// duplicate from each series, so two weighings within a minute, reported twice with minute precision, stay two.
final class ArrivalMatching {
    /// A row and the sample that it matches.
    struct Match {
        /// The index of the row.
        var row: Int
        /// The original sample, even if a duplicate was promoted to replace it.
        var of: SampleKey
        /// Whether the original is known to be live and at least as precise as the row, so that it stays the sample.
        var staysLive = false
        /// Whether the original already has a duplicate of the row's path.
        var isProvisional = false
    }

    /// What becomes of the rows.
    struct Matches {
        /// Rows that are the same measurement as a sample, each once and sorted. They become duplicates.
        var nearDuplicates: [Match] = []
        /// Rows that agree with a sample from another device. Both are kept and linked.
        var links: [Match] = []
        /// Rows whose measurement depends on more than one other report (``Regrouping``).
        var contested: [Int] = []
    }

    private let walk: PathWalk

    init(connection: Connection) { walk = PathWalk(connection: connection) }

    func forget() { walk.forget() }

    /// Matches rows of one series, sorted by start.
    func matches(of rows: [SampleRow], of origin: Origin, series: Int64) throws(StoreError) -> Matches {
        var matches = Matches()
        var taken: Set<SampleKey> = []
        try walk.forEachRow(rows, of: origin, series: series) { (step, partners, scans) throws(StoreError) in
            if !partners.isEmpty, taken.isEmpty { taken.reserveCapacity(rows.count) }
            let best = try Self.takeBest(
                partners, of: &scans, for: step.trace, in: series, isGrouped: rows[step.index].group != 0, &taken)
            // Equal values of a stream agree with many others, so each is compared with what is there.
            if step.rule != .stream, try isContested(step, rows, partners, best, &scans) {
                matches.contested.append(step.index)
                if best == nil, let first = partners.first(where: { $0.verdict == .duplicate }) {
                    let original = scans[first.scan].candidates[first.candidate].first
                    matches.nearDuplicates.append(Match(row: step.index, of: original, isProvisional: true))
                }
            }
            if let best {
                matches.nearDuplicates.append(Match(row: step.index, of: best.first, staysLive: best.staysLive))
                // A row that may become the sample is linked as well.
                if best.staysLive { return }
            }
            // Link the best match from each other device.
            var linked: Set<Int64> = []
            for partner in partners where partner.verdict == .linked && scans[partner.scan].table != .withdrawn {
                let key = scans[partner.scan].candidates[partner.candidate].key
                if linked.insert(key.series).inserted { matches.links.append(Match(row: step.index, of: key)) }
            }
        }
        return matches
    }

    /// Whether the measurement of a row is not determined by the row and its best partner alone: it has another partner, agrees with a report
    /// of another measurement, or may be a better partner of other reports.
    ///
    /// - Parameter partners: The samples that agree with the row, the most alike first.
    private func isContested(
        _ step: PathWalk.Step, _ rows: [SampleRow], _ partners: [PathWalk.Partner], _ best: (first: SampleKey, staysLive: Bool)?,
        _ scans: inout [RelatedSeriesScan]
    ) throws(StoreError) -> Bool {
        // A less precise report than the sample changes nothing but itself.
        if let best, best.staysLive, partners.count == 1 { return false }
        var isCounted = false
        for partner in partners where partner.verdict == .duplicate && scans[partner.scan].table != .withdrawn {
            guard scans[partner.scan].candidates[partner.candidate].first == best?.first else { return true }
            isCounted = true
        }
        if try agreesWithDuplicate(step, except: best?.first, &scans) { return true }
        guard let best, isCounted else { return false }
        return try !joinsAlone(step, rows, partners, best.first, &scans)
    }

    /// Whether a row agrees with all reports of a measurement, and nothing else is near, so that all of them remain one measurement.
    private func joinsAlone(
        _ step: PathWalk.Step, _ rows: [SampleRow], _ partners: [PathWalk.Partner], _ first: SampleKey,
        _ scans: inout [RelatedSeriesScan]
    ) throws(StoreError) -> Bool {
        let members = Set(try walk.connection.duplicates.duplicates(of: first).map(\.key) + [first])
        guard members.count > 1 else { return true }
        let (low, high) = (step.trace.start &- step.radius, step.trace.start &+ step.radius)
        guard try isAlone(rows, step.index, from: low, through: high) else { return false }
        var agreeing: Set<SampleKey> = []
        for partner in partners where partner.verdict == .duplicate {
            agreeing.insert(scans[partner.scan].candidates[partner.candidate].key)
        }
        for position in scans.indices {
            let near = try scans[position].near(low, high)
            for candidate in scans[position].candidates[near] {
                let original = scans[position].table == .duplicates ? try walk.reader.first(of: candidate.key) : candidate.first
                guard original == first else { return false }
            }
            guard scans[position].table == .duplicates else { continue }
            var matching: [Int] = []
            scans[position].forEachMatch(of: step.trace, among: near, step.rule) { matching.append($1) }
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
        let samples = walk.connection.samples
        for table in SampleTable.Rows.allCases
        where try samples.start(of: rows[index].series, from: low, through: high, among: table) != nil {
            return false
        }
        return true
    }

    /// Whether a row agrees with a duplicate of another sample than its own.
    private func agreesWithDuplicate(
        _ step: PathWalk.Step, except first: SampleKey?, _ scans: inout [RelatedSeriesScan]
    ) throws(StoreError) -> Bool {
        for position in scans.indices where scans[position].table == .duplicates {
            guard step.rule.verdict(scans[position].related.relation) == .duplicate else { continue }
            let near = try scans[position].near(step.trace.start &- step.radius, step.trace.start &+ step.radius)
            var agreeing: [Int] = []
            scans[position].forEachMatch(of: step.trace, among: near, step.rule) { agreeing.append($1) }
            for index in agreeing where try walk.reader.first(of: scans[position].candidates[index].key) != first { return true }
        }
        return false
    }

    /// Takes the best match that is the same measurement and has no duplicate yet from the row's series. Matches that
    /// were not undone come first.
    private static func takeBest(
        _ partners: [PathWalk.Partner], of scans: inout [RelatedSeriesScan], for trace: ReadingTrace, in series: Int64,
        isGrouped: Bool,
        _ taken: inout Set<SampleKey>
    ) throws(StoreError) -> (first: SampleKey, staysLive: Bool)? {
        for isWithdrawn in [false, true] {
            for partner in partners
            where partner.verdict == .duplicate && (scans[partner.scan].table == .withdrawn) == isWithdrawn {
                let scan = scans[partner.scan]
                let candidate = scan.candidates[partner.candidate]
                guard candidate.first.series != series, !taken.contains(candidate.first),
                    try !scan.hasDuplicate(candidate.first)
                else { continue }
                taken.insert(candidate.first)
                let isSame = scan.table == .live && candidate.first == candidate.key && !partner.isForm
                return (candidate.first, isSame && !scan.mayBeBetter(trace, isGrouped: isGrouped, than: candidate.trace))
            }
        }
        return nil
    }
}
