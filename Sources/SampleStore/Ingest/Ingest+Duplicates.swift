import HealthModel
import Pipeline

/// The rows of a batch that other sources, or the same source in another unit, have reported.
extension Ingest {
    /// Stores rows that break a rule as duplicates if an existing sample reports the same reading in another unit. They
    /// need no review.
    func storeFlaggedAsDuplicates(
        _ batch: [GatedSample], _ shared: [Int64: Set<Int64>], _ outcomes: inout [SampleOutcome]
    ) throws {
        guard let unitRepeats else { return }
        for group in groups where !group.rows.isEmpty {
            guard let instants = shared[group.series] else { continue }
            let origin = batch[Int(group.rows[0].index)].sample.origin
            var rows = group.rows.filter {
                let gated = batch[Int($0.index)]
                return gated.rule != nil && gated.sample.record == nil && outcomes[Int($0.index)] == .stored
                    && instants.contains($0.nominal)
            }
            while !rows.isEmpty {
                let later = try unitRepeats.later(&rows, at: instants, of: origin.type)
                let table = connection.samples
                // Exclude samples that are not live, because a flagged row would become live without a review.
                let matches = try unitRepeats.search(rows, at: instants, of: origin, by: id).nearDuplicates
                    .filter { try table.contains($0.of) }
                try storeUnitRepeats(matches, among: rows, of: origin.type, &outcomes)
                rows = later
            }
        }
    }

    /// Stores rows as duplicates of readings that their path reported before in another unit.
    private func storeUnitRepeats(
        _ matches: [ArrivalMatching.Match], among rows: [SampleRow], of type: SampleType, _ outcomes: inout [SampleOutcome]
    ) throws {
        let writer = DuplicateWriter(connection: connection, batch: store.batch, ingest: id, type: type, rule: .unit)
        try writer.record(nearDuplicates: matches, among: rows, text: text)
        note(matches, among: rows, &outcomes)
    }

    /// Stores the rows except those that their path reported before in another unit. Returns the rows that have another
    /// unit than a row stored now at the same instant.
    func insertUnlessRepeated(
        _ groups: [SeriesRows], _ shared: [Int64: Set<Int64>], _ search: UnitRepeatSearch, _ batch: UnsafePointer<GatedSample>,
        _ outcomes: inout [SampleOutcome]
    ) throws -> [SeriesRows] {
        var waiting: [SeriesRows] = []
        var reports: [Report] = []
        for group in groups where !group.rows.isEmpty {
            guard let instants = shared[group.series] else { continue }
            let origin = batch[Int(group.rows[0].index)].sample.origin
            // Records are excluded, because their source identifies them.
            var rows = group.rows.filter { batch[Int($0.index)].sample.record == nil && instants.contains($0.nominal) }
            let later = try search.later(&rows, at: instants, of: origin.type)
            let matches = try search.search(rows, at: instants, of: origin, by: id)
            try storeUnitRepeats(matches.nearDuplicates, among: rows, of: origin.type, &outcomes)
            contested += matches.contested.map { rows[$0].key }
            reports += matches.nearDuplicates.map { Report($0, rows[$0.row]) }
            let removed = Set(matches.nearDuplicates.map { rows[$0.row].index } + later.map(\.index))
            if !removed.isEmpty { group.rows.removeAll { removed.contains($0.index) } }
            guard !later.isEmpty else { continue }
            let rest = SeriesRows(series: group.series)
            rest.rows = later
            waiting.append(rest)
        }
        try insertAll(groups, batch, &outcomes)
        // These readings may be the first active reports of their measurement.
        try update(reports)
        return waiting
    }

    /// A row that became a duplicate.
    private struct Report {
        let original: SampleKey
        /// Whether the original is known to stay the sample.
        let staysLive: Bool
        let row: SampleKey

        init(_ match: ArrivalMatching.Match, _ row: SampleRow) {
            (original, staysLive, self.row) = (match.of, match.staysLive, row.key)
        }
    }

    /// Recomputes the measurements whose sample may change: the original is not live or was restored, or the row is more precise.
    private func update(_ reports: [Report]) throws(StoreError) {
        let decisions = connection.decisions
        // A restored sample may be live without an active report, so a new report can take its place.
        let hasDecisions = try !decisions.isEmpty
        var open: [SampleKey] = []
        for report in reports where hasDecisions || !report.staysLive {
            var isOpen = !report.staysLive
            if !isOpen, hasDecisions { isOpen = try isRestored(report.original) }
            if isOpen { open.append(report.row) }
        }
        guard !open.isEmpty else { return }
        let deletion = deletion()
        try LiveSampleUpdate(deletion).update(open)
        try deletion.updateDerived()
        promotions += deletion.ownPromotions
    }

    /// Whether a sample was restored, or the one that repairs made it from.
    private func isRestored(_ sample: SampleKey) throws(StoreError) -> Bool {
        for key in try connection.repairs.origins(of: sample) where try connection.decisions.isRestored(key) { return true }
        return false
    }

    /// Stores the remaining rows of the batch. Readings that already arrived over another path become duplicates.
    func insertAll(
        _ groups: [SeriesRows], _ batch: UnsafePointer<GatedSample>, _ outcomes: inout [SampleOutcome]
    ) throws {
        guard let matching else { return try insert(groups) }
        var waiting: [SeriesRows] = []
        for group in groups where !group.rows.isEmpty {
            group.rows.sortIfNeeded { ($0.start, $0.high, $0.low) < ($1.start, $1.high, $1.low) }
            let origin = batch[Int(group.rows[0].index)].sample.origin
            // If a batch contains two paths, the rows of the first must be stored before the second is compared with
            // them.
            if waiting.contains(where: { $0.isRelated(to: origin, in: batch) }) {
                try insert(waiting)
                waiting.removeAll()
            }
            let matches = try matching.matches(of: group.rows, of: origin, series: group.series)
            let writer = DuplicateWriter(connection: connection, batch: store.batch, ingest: id, type: origin.type)
            try writer.record(links: matches.links, among: group.rows)
            linked += matches.links.count
            contested += matches.contested.map { group.rows[$0].key }
            if !matches.nearDuplicates.isEmpty {
                try writer.record(nearDuplicates: matches.nearDuplicates, among: group.rows, text: text)
                note(matches.nearDuplicates, among: group.rows, &outcomes)
                let rows = group.rows
                group.rows = Self.rows(rows, without: matches.nearDuplicates)
                provisional.formUnion(matches.nearDuplicates.lazy.filter(\.isProvisional).map { rows[$0.row].key })
                // These readings may be the first active reports of their measurement.
                try update(matches.nearDuplicates.filter { !$0.isProvisional }.map { Report($0, rows[$0.row]) })
            }
            waiting.append(group)
        }
        try insert(waiting)
    }

    /// - Parameter matches: Sorted by row, each row once.
    private static func rows(_ rows: [SampleRow], without matches: [ArrivalMatching.Match]) -> [SampleRow] {
        var left: [SampleRow] = []
        left.reserveCapacity(rows.count - matches.count)
        var first = 0
        for match in matches {
            left += rows[first..<match.row]
            first = match.row + 1
        }
        left += rows[first...]
        return left
    }

    private func insert(_ groups: [SeriesRows]) throws {
        try connection.samples.add(groups, text: text, through: store.batch, by: id)
    }

    private func note(_ matches: [ArrivalMatching.Match], among rows: [SampleRow], _ outcomes: inout [SampleOutcome]) {
        for match in matches {
            let row = rows[match.row]
            outcomes[Int(row.index)] = .duplicate
            nearDuplicates.append((row.key, row.index))
        }
    }

    /// Groups the contested rows of the batch with all reports around them. Marks the duplicates that became samples as stored.
    func regroup(_ outcomes: inout [SampleOutcome]) throws(StoreError) {
        if !contested.isEmpty {
            let deletion = deletion()
            try Regrouping(deletion).update(around: contested, arriving: Set(contested), provisional: provisional)
            try deletion.updateDerived()
            promotions += deletion.ownPromotions
        }
        guard !promotions.isEmpty else { return }
        var indices = Dictionary(nearDuplicates.map { ($0.key, $0.index) }) { $1 }
        defer { nearDuplicates = indices.map { ($0, $1) } }
        // A row that was a sample for a moment left a change, so it counts as stored.
        for key in promotions {
            if let index = indices.removeValue(forKey: key) {
                outcomes[Int(index)] = .stored
            } else {
                // An earlier batch of this import has counted it as a duplicate, or it became a sample again.
                try connection.ledger.promoteDuplicate(of: id)
            }
        }
    }
}
