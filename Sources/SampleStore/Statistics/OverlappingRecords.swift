import HealthModel

/// Records of one app and device that overlap, such as a walk that an app writes again each time it has become longer.
///
/// Health Connect merges them: the record that was modified last counts, and of the others the time that it leaves
/// (`MergeDataHelper.java` of platform_packages_modules_HealthFitness). Other sources do not repeat themselves like that.
struct OverlappingRecords {
    struct Row {
        var key: SampleKey
        var duration: Int64
        var value: Double
        /// The microseconds that the grid's clock is ahead.
        var shift: Int64
        var end: Int64 { key.start + duration }
    }

    private(set) var rows: [Row] = []
    /// The last end.
    private(set) var end: Int64?

    /// Whether the records of a series are merged.
    static func areMerged(in series: SeriesDescription) -> Bool { series.source.hasPrefix("file.health-connect.") }

    mutating func append(_ row: Row) {
        rows.append(row)
        end = max(end ?? row.end, row.end)
    }

    /// Returns the parts of each record that count.
    func parts(_ connection: Connection) throws(StoreError) -> [(row: Row, parts: [(start: Int64, end: Int64)])] {
        guard rows.count > 1 else { return rows.map { ($0, [($0.key.start, $0.end)]) } }
        var ranked: [(version: Int64, row: Row)] = []
        for row in rows { ranked.append((try connection.records.records(at: row.key).first?.version ?? 0, row)) }
        ranked.sort { ($0.version, $0.row.key.start, $0.row.duration) > ($1.version, $1.row.key.start, $1.row.duration) }
        let coverage = Coverage()
        var counted: [(row: Row, parts: [(start: Int64, end: Int64)])] = []
        for (_, row) in ranked {
            var cursor = 0
            counted.append((row, coverage.uncovered(row.key.start, row.end, from: &cursor)))
            coverage.add([(row.key.start, row.end)])
        }
        return counted.sorted { $0.row.key.start < $1.row.key.start }
    }
}
