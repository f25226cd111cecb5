import HealthModel

/// Reads the change log in the order of its numbers.
///
/// An entry's changes are loaded and sorted when the entry's first number is due. So only entries with overlapping
/// numbers are in memory at a time, such as a few minutes of some devices, or one batch of a file.
final class ChangeReader {
    private let connection: Connection
    /// The series to report.
    private let series: [Int64: SeriesDescription]
    private let decoder: SampleDecoder
    /// The entries that are loaded but not yet reported completely.
    private var runs: [Run] = []

    init(connection: Connection, series: [Int64: SeriesDescription]) {
        self.connection = connection
        self.series = series
        decoder = SampleDecoder(connection: connection)
    }

    /// The changes of one entry, in the order of their numbers.
    private struct Run {
        var changes: [SampleChange]
        var next = 0
        var seq: Int64 { changes[next].seq }
    }

    private struct Entry {
        var series: Int64
        var seqs: (first: Int64, last: Int64)
        /// The kind of the entry: 0 for additions, 1 for deletions, 2 for a pruning.
        var kind: Int64
        var ingest: Int64
        var times: (low: Int64, high: Int64)
    }

    /// The number of changes in memory.
    var bufferedCount: Int { runs.reduce(0) { $0 + $1.changes.count - $1.next } }

    /// Passes every change after `anchor` to `body` exactly once.
    ///
    /// - Parameter pruned: Called with each pruning, in the same order.
    func read(
        after anchor: Int64, pruned: (Pruning) throws -> Void = { _ in }, _ body: (SampleChange) throws -> Void
    ) throws {
        let statement = try Statement(connection, ChangeTable.after)
        try statement.bind([.integer(anchor)])
        while try statement.step() {
            guard let described = series[statement.integer(0)] else { continue }
            let entry = Entry(
                series: described.id,
                seqs: (max(anchor &+ 1, statement.integer(1)), statement.integer(2)), kind: statement.integer(3),
                ingest: statement.integer(6), times: (statement.integer(4), statement.integer(5)))
            try forEachLoaded(before: entry.seqs.first, body)
            guard entry.kind != 2 else {
                try pruned(pruning(of: described, entry))
                continue
            }
            let changes = try changes(of: entry)
            if !changes.isEmpty { runs.append(Run(changes: changes)) }
        }
        try forEachLoaded(before: .max, body)
    }

    /// Reports the loaded changes before a number, each time from the entry whose next number is the lowest.
    private func forEachLoaded(before limit: Int64, _ body: (SampleChange) throws -> Void) throws {
        while let index = runs.indices.min(by: { runs[$0].seq < runs[$1].seq }), runs[index].seq < limit {
            let others = runs.indices.lazy.filter { $0 != index }.map { self.runs[$0].seq }.min()
            let end = min(limit, others ?? .max)
            while runs[index].next < runs[index].changes.count, runs[index].seq < end {
                let change = runs[index].changes[runs[index].next]
                runs[index].next += 1
                try body(change)
            }
            if runs[index].next == runs[index].changes.count { runs.remove(at: index) }
        }
    }

    private func changes(of entry: Entry) throws(StoreError) -> [SampleChange] {
        var changes = try entry.kind == 1 ? deletions(of: entry) : additions(of: entry)
        changes.sortIfNeeded { $0.seq < $1.seq }
        return changes
    }

    /// Looks up the samples that are left within the bounds of a pruning. Their later changes follow in the log.
    private func pruning(of series: SeriesDescription, _ entry: Entry) throws(StoreError) -> Pruning {
        let rows = try connection.samples.scan(
            [.key, .duration, .change, .skew], of: series.id, from: entry.times.low, through: entry.times.high - 1)
        var retained: [SampleIdentity] = []
        while try rows.next() {
            guard rows.change < entry.seqs.first, rows.start + rows.duration < entry.times.high else { continue }
            retained.append(try rows.key.identity(skew: rows.skew ?? 0))
        }
        return Pruning(
            of: (series.person, series.type, series.source, series.device), from: Instant(microseconds: entry.times.low),
            before: Instant(microseconds: entry.times.high), retained: retained, ingest: entry.ingest, seq: entry.seqs.first)
    }

    private func additions(of entry: Entry) throws(StoreError) -> [SampleChange] {
        let rows = try connection.samples.scanLogged(
            of: entry.series, from: entry.times.low, through: entry.times.high, addedIn: entry.seqs.first...entry.seqs.last)
        var changes: [SampleChange] = []
        while try rows.next() { changes.append(.added(try rows.stored(decoder))) }
        return changes
    }

    private func deletions(of entry: Entry) throws(StoreError) -> [SampleChange] {
        let rows = try connection.samples.scan(
            [.whole, .deletion], of: entry.series, from: entry.times.low, through: entry.times.high, among: .tombstones,
            .deleted(in: entry.seqs.first...entry.seqs.last), order: .unordered)
        var changes: [SampleChange] = []
        while try rows.next() {
            let tombstone = rows.tombstone
            changes.append(
                .deleted(
                    StoredDeletion(
                        sample: try rows.stored(decoder).sample, replacedBy: tombstone.replacedBy, ingest: tombstone.ingest,
                        seq: tombstone.deletion)))
        }
        return changes
    }
}
