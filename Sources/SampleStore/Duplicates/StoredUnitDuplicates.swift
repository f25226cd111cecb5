import HealthModel

/// Finds samples that repeat an earlier sample in another unit. `import --exact` stores both.
///
/// The readings of a series at one instant are compared in the order of arrival, as during an import, but only with
/// live samples. If a person deleted one report, the other may be the one to keep.
struct StoredUnitDuplicates {
    /// A sample and the earlier sample that it repeats.
    struct Pair {
        var place: SampleKey
        var first: SampleKey
        /// The import of the sample.
        var bringer: Int64
        /// Whether the sample is kept because other readings are its duplicates or are linked with it.
        var isLeft: Bool
    }

    private struct Row {
        var told: EarlierReading
        var bringer: Int64
        var seq: Int64
    }

    private let connection: Connection
    private let retellings: RetellingSearch

    init(connection: Connection) {
        self.connection = connection
        retellings = RetellingSearch(connection: connection)
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
        let all = try retellings.readings(of: series, at: instant, type)
        guard Set(all.map(\.unit)).count > 1 else { return [] }
        var rows: [Row] = []
        for told in all where told.isLive {
            // Repaired samples are left to their repair.
            guard try !connection.repairs.contains(told.place), case .row(let seq) = told.source else {
                continue
            }
            try rows.append(Row(told: told, bringer: retellings.bringer(of: told), seq: seq))
        }
        rows.sort { ($0.bringer, $0.seq) < ($1.bringer, $1.seq) }
        // The duplicates of a sample at this instant are added when it is that sample's turn.
        let own = Set(rows.map(\.told.first))
        var known: [SampleKey: [EarlierReading]] = [:]
        var witnesses: [(told: EarlierReading, bringer: Int64)] = []
        for told in all where !told.isLive && told.first != told.place {
            try witnesses.append((told, retellings.bringer(of: told)))
            guard !own.contains(told.first) else { continue }
            if try connection.samples.contains(told.first) { known[told.first] = [] }
        }
        var pairs: [Pair] = []
        while let next = rows.first {
            let turn = rows.filter { $0.bringer == next.bringer && $0.told.unit == next.told.unit }
            rows.removeAll { $0.bringer == next.bringer && $0.told.unit == next.told.unit }
            var comparable: [(row: Int, trace: ReadingTrace)] = []
            for index in turn.indices where try isComparable(turn[index].told) {
                comparable.append((index, turn[index].told.trace))
            }
            // Compare only with earlier readings. Two readings in one unit had no reading in another unit before them
            // when the second one arrived.
            var before = known
            for (told, bringer) in witnesses
            where bringer < next.bringer || (bringer == next.bringer && told.unit == next.told.unit) {
                before[told.first]?.append(told)
            }
            var merged: Set<Int> = []
            for match in try retellings.matched(comparable, in: next.told.unit, by: next.bringer, with: before) {
                let told = turn[match.row].told
                let pair = Pair(
                    place: told.place, first: match.of, bringer: next.bringer,
                    isLeft: try connection.duplicates.isLeanedOn(told.place))
                pairs.append(pair)
                guard !pair.isLeft else { continue }
                merged.insert(match.row)
                known[match.of, default: []].append(told)
            }
            for index in turn.indices where !merged.contains(index) {
                let told = turn[index].told
                known[told.first, default: []].append(told)
            }
        }
        return pairs
    }

    /// Whether a sample may be merged. Records are identified by their source. Promoted duplicates, and those that a
    /// person separated, are kept.
    private func isComparable(_ told: EarlierReading) throws(StoreError) -> Bool {
        guard told.first == told.place else { return false }
        return try connection.records.records(at: told.place).isEmpty
    }
}
