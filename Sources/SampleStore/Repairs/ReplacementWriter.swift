import HealthModel

/// Writes replacements, some thousand at a time, with statements over sets. Used inside a transaction.
final class ReplacementWriter {
    private let connection: Connection
    private let table: ReplacementTable
    private let ingest: Int64
    private let repairID: Int64?
    private let samples: SampleTable
    private let changes: ChangeLog
    private var seq: Int64
    private(set) var made = 0
    private(set) var restored = 0
    private(set) var deleted = 0

    /// The maximum number of changes in one entry of the log, which a reader sorts at once.
    private static let entry = 1024

    /// - Parameter repairID: The repair that is made, or nil for an undo.
    init(_ store: SampleStore, ingest: Int64, repairID: Int64? = nil) throws(StoreError) {
        connection = store.connection
        table = store.replacements
        self.ingest = ingest
        self.repairID = repairID
        changes = ChangeLog(connection: connection, cause: ingest)
        samples = connection.samples
        seq = try samples.lastNumber()
    }

    /// Stores the number of the last change.
    func finish() throws(StoreError) {
        try samples.setLast(number: seq)
    }

    /// Writes a chunk. The numbers of each old sample's deletion and of the new sample's addition are consecutive.
    func write(_ chunk: [Replacement]) throws {
        var rows = chunk
        rows.sortIfNeeded {
            ($0.old.series, $0.new.series, $0.ingestID, $0.old.start, $0.order)
                < ($1.old.series, $1.new.series, $1.ingestID, $1.old.start, $1.order)
        }
        for index in rows.indices {
            // Each replacement uses two numbers, so deletions are odd and additions even within a run, or the reverse.
            seq += 2
            rows[index].seqs = (seq - 1, seq)
        }
        try log(rows)
        try table.with(rows) {
            try samples.tombstoneReplaced(by: ingest)
            try samples.addReplacements()
            if let repairID { try connection.repairs.addReplacements(by: repairID) }
        }
        try lengthen(rows)
        made += rows.count { $0.arrival == .made }
        restored += rows.count { $0.arrival == .restored }
        deleted += rows.count { $0.leaves }
    }

    /// Adds the changes to the log.
    private func log(_ rows: [Replacement]) throws(StoreError) {
        var first = 0
        for index in rows.indices where index - first >= Self.entry || !rows[first].isOfOneRun(with: rows[index]) {
            try log(rows[first..<index])
            first = index
        }
        try log(rows[first...])
    }

    /// The deletions and additions of a run are split at the same rows, because their numbers alternate.
    private func log(_ run: ArraySlice<Replacement>) throws(StoreError) {
        guard let series = run.first.map({ (old: $0.old.series, new: $0.new.series) }) else { return }
        var ends = try self.ends(in: run, series: series.old, among: .tombstones) { $0.leaves ? $0.old.start : nil }
        ends.formUnion(try self.ends(in: run, series: series.new, among: .live) { $0.arrival == .present ? nil : $0.new.start })
        var first = run.startIndex
        for end in ends.sorted() + [run.endIndex] where end > first {
            try writeChanges(run[first..<end])
            first = end
        }
    }

    /// Returns the indices at which to split the run. Other rows lie between the changed ones there, and a reader would scan them in vain.
    private func ends(
        in run: ArraySlice<Replacement>, series: Int64, among rows: SampleTable.Rows, start: (Replacement) -> Int64?
    ) throws(StoreError) -> Set<Int> {
        var (indices, starts): ([Int], [Int64]) = ([], [])
        for index in run.indices {
            guard let start = start(run[index]) else { continue }
            // If a repair changes the order of the samples, the run is not split.
            if let last = starts.last, start < last { return [] }
            indices.append(index)
            starts.append(start)
        }
        return Set(try changes.cuts(series: series, starts, among: rows).map { indices[$0] })
    }

    private func writeChanges(_ run: ArraySlice<Replacement>) throws(StoreError) {
        guard let first = run.first, let last = run.last else { return }
        let deleted = run.lazy.filter(\.leaves).map(\.old.start)
        if let low = deleted.min(), let high = deleted.max() {
            try changes.insert(
                series: first.old.series, seqs: first.seqs.old...last.seqs.new, low: low, high: high, deletion: true,
                ingest: ingest)
        }
        let come = run.lazy.filter { $0.arrival != .present }.map(\.new.start)
        if let low = come.min(), let high = come.max() {
            try changes.insert(
                series: first.new.series, seqs: first.seqs.new...last.seqs.new, low: low, high: high, deletion: false,
                ingest: first.ingestID)
        }
    }

    /// Updates the longest duration and the coarsest resolution of the series. Statistics and the search for near-duplicates depend on
    /// them.
    private func lengthen(_ rows: [Replacement]) throws(StoreError) {
        var maximumDuration: [SeriesPair: SeriesTable.DurationMaximum] = [:]
        for row in rows {
            let pair = SeriesPair(old: row.old.series, new: row.new.series)
            maximumDuration[pair, default: .init()].add(row.new.start, row.duration)
        }
        let series = connection.series
        for (pair, maximumDuration) in maximumDuration {
            try series.lengthen(pair.new, to: maximumDuration)
            try series.coarsen(pair.new, to: try series.coarsest(of: pair.old))
        }
    }

    private struct SeriesPair: Hashable {
        var old: Int64
        var new: Int64
    }
}

extension Replacement {
    /// Whether one entry of the change log can contain both.
    fileprivate func isOfOneRun(with other: Replacement) -> Bool {
        old.series == other.old.series && new.series == other.new.series && ingestID == other.ingestID
    }
}
