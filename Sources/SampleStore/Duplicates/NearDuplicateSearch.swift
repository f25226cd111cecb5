import HealthModel
import Pipeline

/// Finds which rows of a batch are the same measurement as a sample that came over another path (``DuplicateRule``).
///
/// Each sample takes one witness of each series at most: two weighings within a minute, told twice to the minute, stay two.
final class NearDuplicateSearch {
    /// A row and the sample that it is like.
    struct Match {
        /// Of the rows that were searched.
        var row: Int
        var of: SamplePlace
        var rule: DuplicateRule
    }

    /// A candidate that a row is like.
    private struct Finding {
        var likeness: Likeness
        var verdict: DuplicateRule.Verdict
        /// Where it is among the scans and what they hold.
        var scan: Int
        var candidate: Int
    }

    private let connection: Connection
    private let siblings: Siblings
    /// The same measurement: the rows become witnesses.
    private(set) var witnesses: [Match] = []
    /// Another device's: both are kept.
    private(set) var links: [Match] = []

    /// A stretch that holds more samples than this is a stream; a value told to the minute is then no copy of one of them.
    private static let crowd = 6

    init(connection: Connection) {
        self.connection = connection
        siblings = Siblings(connection: connection)
    }

    func forget() { siblings.forget() }

    /// Searches for rows of one series, sorted by start, and leaves what it found in ``witnesses`` and ``links``.
    func search(_ rows: [SampleRow], of origin: Origin, series: Int64, in batch: UnsafePointer<GatedSample>) throws(StoreError) {
        witnesses.removeAll(keepingCapacity: true)
        links.removeAll(keepingCapacity: true)
        guard let first = rows.first, let last = rows.last else { return }
        var lasting = first.duration > 0
        var rule = DuplicateRule.of(origin.type, lasting: lasting)
        guard rule != .none else { return }
        var (scans, radius) = try scans(of: origin, series: series, rule, first.start, last.start)
        guard !scans.isEmpty else { return }
        var witnessed: [WitnessedStretch] = []
        for scan in scans {
            try witnessed.append(
                WitnessedStretch(
                    of: scan.sibling.series, by: series, first.start &- radius, last.start &+ radius, connection: connection))
        }
        var found: [Finding] = []
        for index in rows.indices {
            let row = rows[index]
            if (row.duration > 0) != lasting {
                lasting.toggle()
                rule = DuplicateRule.of(origin.type, lasting: lasting)
            }
            let trace = trace(of: row, batch + Int(row.index), origin.type)
            guard trace.timeResolution <= Likeness.coarsest else { continue }
            found.removeAll(keepingCapacity: true)
            for position in scans.indices {
                let verdict = rule.verdict(scans[position].sibling.kinship)
                let near = try scans[position].near(row.start &- radius, row.start &+ radius)
                guard verdict != .two, !near.isEmpty else { continue }
                if Self.isStream(scans[position].candidates[near], for: trace) {
                    // A minute's value among a stream of seconds is no copy of one of them.
                    found.removeAll { scans[$0.scan].sibling.series == scans[position].sibling.series }
                    continue
                }
                try compare(trace, scans[position].candidates, near, rule, origin.type) {
                    found.append(Finding(likeness: $0, verdict: verdict, scan: position, candidate: $1))
                }
            }
            guard !found.isEmpty else { continue }
            found.sort { $0.likeness < $1.likeness }
            if rule == .stream, let best = found.first,
                try isCrowded(rows, index, scans[best.scan].candidates[best.candidate], trace, origin.type)
            {
                continue
            }
            if let best = try firstFree(found, scans, witnessed) {
                scans[best.scan].candidates[best.candidate].isTaken = true
                witnesses.append(Match(row: index, of: scans[best.scan].candidates[best.candidate].place, rule: rule))
                continue
            }
            // The best of each other device's.
            var linked: Set<Int64> = []
            for finding in found where finding.verdict == .linked {
                let place = scans[finding.scan].candidates[finding.candidate].place
                if linked.insert(place.series).inserted { links.append(Match(row: index, of: place, rule: rule)) }
            }
        }
    }

    /// The best that is the same measurement and has no witness yet.
    private func firstFree(
        _ found: [Finding], _ scans: [SiblingScan], _ witnessed: [WitnessedStretch]
    ) throws(StoreError) -> Finding? {
        for finding in found where finding.verdict == .duplicate {
            let candidate = scans[finding.scan].candidates[finding.candidate]
            if candidate.isTaken { continue }
            if try !witnessed[finding.scan].contains(candidate.place) { return finding }
        }
        return nil
    }

    /// The samples of other paths that lie around rows which start between two times, and how far around.
    private func scans(
        of origin: Origin, series: Int64, _ rule: DuplicateRule, _ first: Int64, _ last: Int64
    ) throws(StoreError) -> (scans: [SiblingScan], radius: Int64) {
        let own = try connection.integer("SELECT coarsest FROM series WHERE id = ?", .integer(series)) ?? 1
        var scans: [SiblingScan] = []
        var radius: Int64 = 0
        for sibling in try siblings.of(origin, series: series) where rule.verdict(sibling.kinship) != .two {
            let reach = Likeness.radius(rule, timeResolution: max(Int32(truncatingIfNeeded: own), sibling.coarsest))
            // Where the other path has nothing in the stretch, there is nothing to search.
            let (low, high) = (first &- reach, last &+ reach)
            for (table, name) in [(SiblingScan.Table.live, "sample"), (.deleted, "deleted")]
            where try connection.integer(
                "SELECT 1 FROM \(name) WHERE series = ? AND start BETWEEN ? AND ? LIMIT 1", .integer(sibling.series),
                .integer(low), .integer(high)) != nil
            {
                scans.append(try SiblingScan(sibling, table, connection: connection))
                radius = max(radius, reach)
            }
        }
        return (scans, radius)
    }

    private func trace(of row: SampleRow, _ gated: UnsafePointer<GatedSample>, _ type: QuantityType) -> ReadingTrace {
        let isCanonical = gated.pointee.sample.unit == type.canonicalUnit
        let step = gated.pointee.sample.numeral.step
        return ReadingTrace(
            start: row.start, duration: row.duration, timeResolution: gated.pointee.sample.timeResolution,
            isArrival: gated.pointee.sample.timeOrigin == .receipt, value: row.value,
            valueResolution: isCanonical ? step : step * Siblings.scale(of: gated.pointee.sample.unit, type),
            isCanonical: isCanonical)
    }

    /// Whether there are many within what the time of a reading was cut to.
    private static func isStream(_ near: ArraySlice<Candidate>, for trace: ReadingTrace) -> Bool {
        guard near.count > crowd, trace.timeResolution > 1 else { return false }
        let end = trace.start + Int64(trace.timeResolution) * 1_000_000
        return near.lazy.filter { $0.place.start >= trace.start && $0.place.start < end }.prefix(crowd + 1).count > crowd
    }

    /// Hands over the candidates of one sibling that a row is like, by their position.
    private func compare(
        _ trace: ReadingTrace, _ candidates: [Candidate], _ near: Range<Int>, _ rule: DuplicateRule, _ type: QuantityType,
        _ found: (Likeness, Int) -> Void
    ) throws(StoreError) {
        guard let first = near.first else { return }
        // Neighbouring samples mostly share their context.
        var context = candidates[first].context
        var telling = try siblings.telling(context, of: type)
        for position in near {
            let candidate = candidates[position]
            if candidate.context != context {
                context = candidate.context
                telling = try siblings.telling(context, of: type)
            }
            // A step is a whole unit at most, so most of what differs is told apart without its digits.
            let most = max(trace.valueResolution, (candidate.step >= 0 ? candidate.step : 1) * telling.scale)
            guard abs(candidate.value - trace.value) <= most else { continue }
            let other = ReadingTrace(
                start: candidate.place.start, duration: candidate.duration, timeResolution: telling.timeResolution,
                isArrival: telling.isArrival, value: candidate.value,
                valueResolution: (candidate.step >= 0 ? candidate.step : SiblingScan.step(of: candidate.value)) * telling.scale,
                isCanonical: telling.isCanonical)
            if let likeness = Likeness(trace, other, rule: rule) { found(likeness, position) }
        }
    }

    /// Whether the row is one of many of its own series within the time that the candidate stands for.
    private func isCrowded(
        _ rows: [SampleRow], _ index: Int, _ candidate: Candidate, _ trace: ReadingTrace, _ type: QuantityType
    ) throws(StoreError) -> Bool {
        let resolution = Int64(try siblings.telling(candidate.context, of: type).timeResolution)
        guard resolution > Int64(trace.timeResolution) else { return false }
        let (low, high) = (candidate.place.start, candidate.place.start + resolution * 1_000_000)
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
        return count + Int(stored ?? 0) > Self.crowd
    }
}
