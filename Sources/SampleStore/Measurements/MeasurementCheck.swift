import HealthModel

/// The check of `store check --deep` that the live samples match the reports and decisions.
struct MeasurementCheck {
    let connection: Connection

    /// The number of rows that are read at a time.
    private static let chunk = 4096

    /// Queries for the samples that have more than a report, or whose state disagrees with their report. Samples that obviously agree are
    /// left out.
    private static let keys = [
        "SELECT series, start, hash FROM decided", "SELECT DISTINCT series, start, hash FROM derived",
        """
        SELECT series, start, hash FROM witness WHERE stands_in OR NOT withdrawn AND NOT parted AND NOT EXISTS(SELECT 1 FROM sample AS s
            WHERE (s.series, s.start, s.hash) = (of_series, of_start, of_hash))
        """,
        """
        SELECT series, start, hash FROM repaired AS r WHERE NOT merged AND (
            EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.old_series, r.old_start, r.old_hash))
            OR NOT EXISTS(SELECT 1 FROM sample AS s WHERE (s.series, s.start, s.hash) = (r.series, r.start, r.hash)))
        """,
        """
        SELECT series, start, hash FROM record AS own
        WHERE EXISTS(SELECT 1 FROM record AS other WHERE other.series = own.series AND other.id = own.id
            AND (other.version, other.entry) <> (own.version, own.entry))
        """,
        // Versions of other devices, and those that repairs moved from another person or type.
        """
        SELECT series, start, hash FROM record AS own WHERE across AND EXISTS(SELECT 1 FROM record AS other
            WHERE other.series IN \(SeriesTable.idsWithSameRecords(asSeries: "own.series")) AND other.id = own.id
                AND other.series <> own.series)
        """,
        """
        SELECT old_series, old_start, old_hash FROM repaired WHERE NOT merged AND series <> old_series AND EXISTS(
            SELECT 1 FROM record WHERE (record.series, record.start, record.hash) = (old_series, old_start, old_hash))
        """,
        """
        SELECT s.series, s.start, s.hash FROM ingest CROSS JOIN change ON change.ingest = ingest.id AND deletion = 0
            CROSS JOIN sample AS s ON s.series = change.series AND s.start BETWEEN low AND high AND s.seq BETWEEN first_seq AND last_seq
        WHERE ingest.state = 'undone'
        """,
        """
        SELECT series, start, hash FROM deleted WHERE NOT forgotten AND replaced_by IS NULL
            AND \(LedgerTable.state(of: SampleTable.ingestID)) <> 'undone'
            AND NOT EXISTS(SELECT 1 FROM decided AS d WHERE (d.series, d.start, d.hash) = (deleted.series, deleted.start, deleted.hash))
        """,
    ]

    func problems() throws(StoreError) -> [String] {
        let reader = MeasurementReader(connection: connection)
        var wrong: Set<SampleKey> = []
        for sql in Self.keys {
            var seen: Set<SampleKey> = []
            let statement = try Statement(connection, sql)
            while try statement.step() {
                let key = try SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2))
                guard !seen.contains(key) else { continue }
                if seen.count > Self.chunk { seen.removeAll(keepingCapacity: true) }
                let found = try reader.measurement(of: key)
                seen.formUnion(found.keys)
                let live = Set(found.history.live)
                for key in found.keys where live.contains(key) != (found.rows[key]??.isLive ?? false) {
                    wrong.insert(key)
                }
            }
        }
        guard !wrong.isEmpty else { return [] }
        return ["\(wrong.count) samples whose state contradicts the recorded reports and decisions"]
    }
}
