import HealthModel

/// Finds samples that repeat an earlier sample in another unit. `import --exact` stores both.
///
/// The readings of a series at one instant are compared in the order of arrival, as during an import, but only with
/// live samples. If a person deleted one report, the other may be the one to keep.
struct StoredUnitDuplicates {
    /// A sample and the earlier sample that it repeats.
    struct Pair {
        var key: SampleKey
        var first: SampleKey
        /// The import of the sample.
        var ingestID: Int64
        /// Whether the sample is kept because other readings are its duplicates or are linked with it.
        var isLeft: Bool
    }

    private struct Row {
        var reported: EarlierReading
        var ingestID: Int64
        var seq: Int64
    }

    private let connection: Connection
    private let unitRepeats: UnitRepeatSearch

    init(connection: Connection) {
        self.connection = connection
        unitRepeats = UnitRepeatSearch(connection: connection)
    }

    /// Passes each pair to `body`, which must not write to the store.
    func search(_ body: (Pair, SampleType) throws(StoreError) -> Void) throws(StoreError) {
        var last: (series: Int64, type: SampleType?)?
        for (series, instant) in try connection.duplicates.sharedInstants() {
            if last?.series != series {
                last = (series, try connection.series.type(of: series))
            }
            guard let type = last?.type else { continue }
            for pair in try pairs(of: series, at: instant, type) { try body(pair, type) }
        }
    }

    private func pairs(of series: Int64, at instant: Int64, _ type: SampleType) throws(StoreError) -> [Pair] {
        let all = try unitRepeats.readings(of: series, at: instant, type)
        guard Set(all.map(\.unit)).count > 1 else { return [] }
        var rows: [Row] = []
        for reported in all where reported.isLive {
            // Repaired samples are left to their repair.
            guard try !connection.repairs.contains(reported.key), case .row(let seq) = reported.source else {
                continue
            }
            try rows.append(Row(reported: reported, ingestID: unitRepeats.ingestID(of: reported), seq: seq))
        }
        rows.sort { ($0.ingestID, $0.seq) < ($1.ingestID, $1.seq) }
        // The duplicates of a sample at this instant are added when it is that sample's turn.
        let own = Set(rows.map(\.reported.first))
        var known: [SampleKey: [EarlierReading]] = [:]
        var duplicates: [(reported: EarlierReading, ingestID: Int64)] = []
        for reported in all where !reported.isLive && reported.first != reported.key {
            try duplicates.append((reported, unitRepeats.ingestID(of: reported)))
            guard !own.contains(reported.first) else { continue }
            if try connection.samples.contains(reported.first) { known[reported.first] = [] }
        }
        var pairs: [Pair] = []
        while let next = rows.first {
            let turn = rows.filter { $0.ingestID == next.ingestID && $0.reported.unit == next.reported.unit }
            rows.removeAll { $0.ingestID == next.ingestID && $0.reported.unit == next.reported.unit }
            var comparable: [(row: Int, trace: ReadingTrace)] = []
            for index in turn.indices where try isComparable(turn[index].reported) {
                comparable.append((index, turn[index].reported.trace))
            }
            // Compare only with earlier readings. Two readings in one unit had no reading in another unit before them
            // when the second one arrived.
            var before = known
            for (reported, ingestID) in duplicates
            where ingestID < next.ingestID || (ingestID == next.ingestID && reported.unit == next.reported.unit) {
                before[reported.first]?.append(reported)
            }
            var merged: Set<Int> = []
            for match in try unitRepeats.matched(comparable, in: next.reported.unit, by: next.ingestID, with: before) {
                let reported = turn[match.row].reported
                let pair = Pair(
                    key: reported.key, first: match.of, ingestID: next.ingestID,
                    isLeft: try connection.duplicates.hasDependents(reported.key))
                pairs.append(pair)
                guard !pair.isLeft else { continue }
                merged.insert(match.row)
                known[match.of, default: []].append(reported)
            }
            for index in turn.indices where !merged.contains(index) {
                let reported = turn[index].reported
                known[reported.first, default: []].append(reported)
            }
        }
        return pairs
    }

    /// Whether a sample may be merged. Records are identified by their source. Promoted duplicates, and those that a
    /// person separated, are kept.
    private func isComparable(_ reported: EarlierReading) throws(StoreError) -> Bool {
        guard reported.first == reported.key else { return false }
        return try connection.records.records(at: reported.key).isEmpty
    }
}
