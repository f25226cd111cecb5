import HealthModel

/// The way to read samples, tombstones, and duplicates.
extension SampleTable {
    /// The table that a row is in.
    enum Rows: String, CaseIterable {
        /// The live samples.
        case live = "sample"
        /// The tombstones, which are whole rows.
        case tombstones = "deleted"
        /// The duplicates.
        case duplicates = "witness"

        /// The condition that a row is not forgotten.
        var isRemembered: String { self == .tombstones ? " AND NOT forgotten" : "" }

        /// The columns that ``SampleDecoder`` reads.
        var columns: String { self == .duplicates ? SampleDecoder.quarantineColumns : SampleDecoder.columns }

        func decode(_ row: Statement, of series: Int64, _ decoder: SampleDecoder) throws(StoreError) -> StoredSample {
            self == .duplicates ? try decoder.decodeQuarantined(row, series: series) : try decoder.decode(row, series: series)
        }
    }

    static let isHere = "series = ? AND start = ? AND hash = ?"

    // MARK: One row

    /// Returns a statement on the row with this key, or `nil` if there is none. It must be reset.
    ///
    /// - Parameter evenForgotten: Whether forgotten tombstones count.
    private func row(
        _ columns: String, at key: SampleKey, among rows: Rows = .live, evenForgotten: Bool = false
    ) throws(StoreError) -> Statement? {
        let statement = try connection.statement(
            "SELECT \(columns) FROM \(rows.rawValue) WHERE \(Self.isHere)\(evenForgotten ? "" : rows.isRemembered)")
        try statement.bind(key.values)
        if try statement.step() { return statement }
        statement.reset()
        return nil
    }

    /// Whether the row exists.
    func contains(_ key: SampleKey, among rows: Rows = .live, evenForgotten: Bool = false) throws(StoreError) -> Bool {
        let row = try row("1", at: key, among: rows, evenForgotten: evenForgotten)
        row?.reset()
        return row != nil
    }

    /// Returns the row as a sample, or `nil` if it does not exist.
    func stored(
        at key: SampleKey, among rows: Rows = .live, evenForgotten: Bool = false, _ decoder: SampleDecoder? = nil
    ) throws(StoreError) -> StoredSample? {
        guard let row = try row(rows.columns, at: key, among: rows, evenForgotten: evenForgotten) else { return nil }
        defer { row.reset() }
        return try rows.decode(row, of: key.series, decoder ?? SampleDecoder(connection: connection))
    }

    /// Returns a sample with its context, or `nil` if it does not exist.
    func whole(at key: SampleKey) throws(StoreError) -> (stored: StoredSample, context: Int64)? {
        guard let row = try row(SampleDecoder.columns, at: key) else { return nil }
        defer { row.reset() }
        let context = row.integer(4)
        return (try Rows.live.decode(row, of: key.series, SampleDecoder(connection: connection)), context)
    }

    /// Returns a sample, or a tombstone even if it is forgotten.
    func sample(at key: SampleKey, among rows: Rows) throws(StoreError) -> Sample? {
        try stored(at: key, among: rows, evenForgotten: true)?.sample
    }

    /// Returns the change number of a sample or tombstone, and whether it is live.
    func number(at key: SampleKey) throws(StoreError) -> (number: Int64, isLive: Bool)? {
        try connection.first(
            """
            SELECT seq, 1 FROM main.sample WHERE series = ?1 AND start = ?2 AND hash = ?3
            UNION ALL SELECT seq, 0 FROM main.deleted WHERE series = ?1 AND start = ?2 AND hash = ?3 AND NOT forgotten
            """, key.values
        ) { ($0.integer(0), $0.integer(1) != 0) }
    }

    /// The facts about the deletion of a sample.
    struct Tombstone {
        /// The ledger entry that deleted the sample.
        var ingest: Int64
        /// The change numbers of the sample and of its deletion.
        var number, deletion: Int64
        /// The UUID of the sample that replaced it.
        var replacedBy: String?
    }

    func tombstone(at key: SampleKey, evenForgotten: Bool = false) throws(StoreError) -> Tombstone? {
        guard
            let row = try row(
                "ingest, seq, deleted_seq, replaced_by", at: key, among: .tombstones, evenForgotten: evenForgotten)
        else { return nil }
        defer { row.reset() }
        return Tombstone(
            ingest: row.integer(0), number: row.integer(1), deletion: row.integer(2), replacedBy: row.optionalText(3))
    }

    /// Returns the UUID of a row, or `nil` if it does not exist. Forgotten tombstones count.
    func identity(at key: SampleKey, among tables: [Rows] = [.live, .tombstones, .duplicates]) throws(StoreError)
        -> SampleIdentity?
    {
        try skew(at: key, among: tables).map { key.identity(skew: $0) }
    }

    /// Returns the start that a row was reported with, or `nil` if it does not exist. Forgotten tombstones count.
    func nominalStart(at key: SampleKey) throws(StoreError) -> Int64? {
        try skew(at: key, among: [.live, .tombstones, .duplicates]).map { key.start &+ $0 }
    }

    private func skew(at key: SampleKey, among tables: [Rows]) throws(StoreError) -> Int64? {
        for rows in tables {
            guard let row = try row(SeriesTable.skew(of: "context"), at: key, among: rows, evenForgotten: true) else {
                continue
            }
            defer { row.reset() }
            guard !row.isNull(0) else { continue }
            return row.integer(0)
        }
        return nil
    }

    /// Returns how precise a report is, live or not, or `nil` if there is none.
    func precision(of key: SampleKey) throws(StoreError) -> ReportPrecision? {
        try connection.first(Self.precision, key.values) { row throws(StoreError) in
            let value = row.real(0)
            let numeral =
                row.isNull(1) ? Numeral(shortest: value) : (try? Numeral(parsing: row.blob(1))) ?? Numeral(shortest: value)
            let scale = Self.scale(ofUnit: row.text(2), molarMass: row.isNull(3) ? nil : row.real(3), type: row.text(6))
            let measure = ReportPrecision.Measure(
                start: key.start, timeResolution: Int32(truncatingIfNeeded: row.integer(4)),
                isArrival: row.integer(5) == Int64(TimeOrigin.receipt.rawValue), value: value,
                valueResolution: numeral.step * scale)
            return ReportPrecision(
                isGrouped: !row.isNull(8) && row.integer(8) != 0, measure,
                path: ReportPath(source: row.text(9), device: row.text(7)), identity: key.identity(skew: 0))
        }
    }

    private static let precision: String = {
        let tables = Rows.allCases.map { rows in
            "SELECT value, numeral, context, grp FROM main.\(rows.rawValue) WHERE series = ?1 AND start = ?2 AND hash = ?3"
        }
        return """
            SELECT value, numeral, unit, molar_mass, resolution, time_origin, type, device, grp, source
            FROM (\(tables.joined(separator: " UNION ALL ")) LIMIT 1) CROSS JOIN context ON context.id = context CROSS JOIN series ON series.id = ?1
            """
    }()

    /// Returns the unit of a report, live or not, or `nil` if there is none.
    func unit(at key: SampleKey) throws(StoreError) -> String? {
        for rows in Rows.allCases {
            guard let row = try row("context", at: key, among: rows) else { continue }
            let context = row.integer(0)
            row.reset()
            return try connection.series.context(context).unit
        }
        return nil
    }

    /// The size of one unit in the canonical unit of a type.
    private static func scale(ofUnit code: String, molarMass: Double?, type: String) -> Double {
        guard let type = SampleType(type), type.canonicalUnit.code != code, var unit = try? Unit(ucum: code) else { return 1 }
        if let molarMass { unit = unit.with(molarMass: molarMass) }
        guard let conversion = try? type.conversion(from: unit), !conversion.isIdentity else { return 1 }
        return abs(conversion(1) - conversion(0))
    }

    // MARK: By UUID

    /// Returns the keys of the rows of a series with this UUID. The nominal time finds them and the hash confirms them.
    func keys(of uuid: SampleIdentity, among rows: Rows, ofSeries series: Int64) throws(StoreError) -> [SampleKey] {
        let low = Int64(uuid.milliseconds) * 1000
        return try connection.sampleKeys(
            """
            SELECT ?1, start, ?4 FROM \(rows.rawValue) WHERE series = ?1 AND start BETWEEN ?2 AND ?3 AND hash = ?4
            UNION SELECT ?1, start, ?4 FROM place WHERE series = ?1 AND nominal BETWEEN ?2 AND ?3 AND hash = ?4
            """, [.integer(series), .integer(low), .integer(low + 999), .blob(uuid.storedHash)])
    }

    /// Returns the keys of the samples and tombstones with this UUID in all series.
    func keys(of uuid: SampleIdentity) throws(StoreError) -> [SampleKey] {
        // The joins go series by series, because SQLite would otherwise scan the long tables of samples.
        let low = Int64(uuid.milliseconds) * 1000
        return try connection.sampleKeys(
            """
            SELECT series.id, sample.start, ?3 FROM series CROSS JOIN sample
                ON sample.series = series.id AND sample.start BETWEEN ?1 AND ?2 AND sample.hash = ?3
            UNION SELECT series.id, deleted.start, ?3 FROM series CROSS JOIN deleted
                ON deleted.series = series.id AND deleted.start BETWEEN ?1 AND ?2 AND deleted.hash = ?3 AND NOT forgotten
            UNION SELECT series.id, place.start, ?3 FROM series CROSS JOIN place
                ON place.series = series.id AND place.nominal BETWEEN ?1 AND ?2 AND place.hash = ?3
            """, [.integer(low), .integer(low + 999), .blob(uuid.storedHash)])
    }

    /// Returns the start of the row with a nominal start and hash, if the two differ.
    func start(ofNominal nominal: Int64, _ identity: SampleIdentity, in series: Int64) throws(StoreError) -> Int64? {
        try connection.integer(
            "SELECT start FROM place WHERE series = ? AND nominal = ? AND hash = ?", .integer(series), .integer(nominal),
            .blob(identity.storedHash))
    }

    /// Whether a measurement has another sample in a series than one with this UUID.
    func hasOther(than identity: SampleIdentity, in series: Int64, at start: Int64, group: Int64) throws(StoreError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM sample WHERE series = ? AND start = ? AND grp = ? AND hash <> ? LIMIT 1",
            [.integer(series), .integer(start), .integer(group), .blob(identity.storedHash)])
    }

    /// Returns samples of a person.
    func keys(ofPerson person: String, limit: Int) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM sample WHERE series IN \(SeriesTable.ids(ofPerson: "?")) LIMIT ?",
            [.text(person), .integer(Int64(limit))])
    }

    /// Returns the samples of a source in the order of arrival.
    func keys(ofSource source: String) throws(StoreError) -> [SampleKey] {
        try connection.sampleKeys(
            "SELECT series, start, hash FROM sample WHERE series IN \(SeriesTable.ids(ofSource: "?")) ORDER BY seq",
            [.text(source)])
    }

    // MARK: Ranges

    /// A report of a series at an instant.
    struct Report {
        var key: SampleKey
        /// The original and the ledger entry of a duplicate, or `nil`.
        var duplicate: (original: SampleKey, ingest: Int64)?
        var value: Double
        /// The value of the numeral's last digit.
        var step: Double
        var context: Int64
        /// The duration in microseconds.
        var duration: Int64
        /// The number of the change that added the sample, 0 for a duplicate.
        var change: Int64
        var isLive: Bool
        var metadata: Int64
    }

    /// Returns the samples, tombstones, and duplicates of a series with a nominal start, earliest first.
    func reports(of series: Int64, atNominal instant: Int64) throws(StoreError) -> [Report] {
        try connection.list(Self.atInstant, [.integer(series), .integer(instant)]) { row throws(StoreError) in
            let value = row.real(2)
            let numeral = row.isNull(3) ? Numeral(shortest: value) : try? Numeral(parsing: row.blob(3))
            return Report(
                key: try SampleKey(series: series, start: row.integer(0), hash: row.blob(1)),
                duplicate: row.isNull(6) ? nil : (try SampleKey(row, at: 6), row.integer(9)), value: value,
                step: numeral?.step ?? 0, context: row.integer(4), duration: row.integer(5), change: row.integer(10),
                isLive: row.integer(11) != 0, metadata: row.integer(12))
        }
    }

    /// Selects the rows whose start is the nominal start, and those that the table `key` leads to.
    private static let atInstant: String = {
        let tables = [
            (Rows.live, "NULL, NULL, NULL, 0, told.seq, 1, told.metadata"),
            (.tombstones, "NULL, NULL, NULL, 0, told.seq, 0, told.metadata"),
            (.duplicates, "of_series, of_start, of_hash, told.ingest, 0, 0, told.metadata"),
        ]
        let selects = tables.flatMap { rows, first in
            let columns = "told.start, told.hash, value, numeral, context, coalesce(duration, 0), \(first)"
            return [
                """
                SELECT \(columns) FROM \(rows.rawValue) AS told CROSS JOIN context ON context.id = told.context
                WHERE told.series = ?1 AND told.start = ?2 AND skew = 0\(rows.isRemembered)
                """,
                """
                SELECT \(columns) FROM place CROSS JOIN \(rows.rawValue) AS told
                    ON told.series = place.series AND told.start = place.start AND told.hash = place.hash
                WHERE place.series = ?1 AND place.nominal = ?2\(rows.isRemembered)
                """,
            ]
        }
        return selects.joined(separator: " UNION ALL ") + " ORDER BY 10, 2"
    }()

    /// Passes on the keys and UUIDs of all tombstones. `body` may run other statements.
    func forEachTombstone(_ body: (SampleKey, SampleIdentity) throws(StoreError) -> Void) throws(StoreError) {
        let rows = try Statement(
            connection, "SELECT series, start, hash, \(SeriesTable.skew(of: "gone.context")) FROM deleted AS gone")
        while try rows.step() {
            let key = try SampleKey(rows, at: 0)
            try body(key, key.identity(skew: rows.integer(3)))
        }
    }

    /// Returns the starts of the first and last sample of a series, or `nil` if there is none.
    func extent(of series: Int64) throws(StoreError) -> (first: Int64, last: Int64)? {
        guard let first = try start(of: series), let last = try start(of: series, isLast: true) else { return nil }
        return (first, last)
    }

    /// Whether a series has such rows.
    func contains(_ rows: Rows, of series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM \(rows.rawValue) WHERE series = ? LIMIT 1", [.integer(series)])
    }

    /// Whether a series has rows whose nominal start is not their start.
    func hasSkewed(_ series: Int64) throws(StoreError) -> Bool {
        try connection.exists("SELECT 1 FROM place WHERE series = ? LIMIT 1", [.integer(series)])
    }

    // MARK: Counts and sums

    /// Returns the number of rows that are not forgotten.
    func count(_ rows: Rows, evenForgotten: Bool = false) throws(StoreError) -> Int64 {
        let condition = evenForgotten ? "" : rows.isRemembered
        return try connection.integer("SELECT count(*) FROM \(rows.rawValue) WHERE TRUE\(condition)") ?? 0
    }

    /// Returns the number of samples of a series and the starts of the first and last one, or `nil` if there is none.
    func count(of series: Int64) throws(StoreError) -> (count: Int, first: Int64, last: Int64)? {
        let counted = try connection.first(
            "SELECT count(*), min(start), max(start) FROM sample WHERE series = ?", [.integer(series)]
        ) { (count: Int($0.integer(0)), first: $0.integer(1), last: $0.integer(2)) }
        return counted.flatMap { $0.count > 0 ? $0 : nil }
    }

    /// Returns the number of rows that start in a range, or the limit if there are more.
    func count(_ rows: Rows, of series: Int64, from low: Int64, before high: Int64, atMost limit: Int) throws(StoreError) -> Int {
        let count = try connection.integer(
            "SELECT count(*) FROM (SELECT 1 FROM \(rows.rawValue) WHERE series = ? AND start >= ? AND start < ? LIMIT \(limit))",
            .integer(series), .integer(low), .integer(high))
        return Int(count ?? 0)
    }

    /// Returns the number of samples and duplicates of a series that start in a range, or the limit or more if there are more.
    func countReports(of series: Int64, from low: Int64, before high: Int64, atMost limit: Int) throws(StoreError) -> Int {
        let count = try count(.live, of: series, from: low, before: high, atMost: limit)
        return count < limit ? count + (try self.count(.duplicates, of: series, from: low, before: high, atMost: limit)) : count
    }

    /// Returns the lowest and highest value of a series in a range, or `nil` if it has no samples there.
    func values(of series: Int64, from low: Int64, through high: Int64) throws(StoreError) -> (low: Double, high: Double)? {
        let values = try connection.first(
            "SELECT min(value), max(value) FROM sample WHERE series = ? AND start BETWEEN ? AND ?",
            [.integer(series), .integer(low), .integer(high)]
        ) { (low: $0.real(0), high: $0.real(1), isEmpty: $0.isNull(0)) }
        return values.flatMap { $0.isEmpty ? nil : ($0.low, $0.high) }
    }

    /// Returns the last end of the rows of a series in a range, and their longest duration, or `nil` if there are none.
    func end(
        of series: Int64, from low: Int64, through high: Int64, among rows: Rows
    ) throws(StoreError) -> (last: Int64, maximumDuration: Int64)? {
        let ends = try connection.first(
            """
            SELECT max(start + coalesce(duration, 0)), max(coalesce(duration, 0)) FROM \(rows.rawValue)
            WHERE series = ? AND start BETWEEN ? AND ?
            """, [.integer(series), .integer(low), .integer(high)]
        ) { (last: $0.integer(0), maximumDuration: $0.integer(1), isEmpty: $0.isNull(0)) }
        return ends.flatMap { $0.isEmpty ? nil : ($0.last, $0.maximumDuration) }
    }

    /// Returns the longest duration of the samples of a series, in microseconds.
    func maximumDuration(of series: Int64) throws(StoreError) -> Int64 {
        try connection.integer("SELECT coalesce(max(duration), 0) FROM sample WHERE series = ?", .integer(series)) ?? 0
    }

    /// Returns how many whole intervals of a length the longer samples of a series cover in a range, in total.
    func shares(of series: Int64, length: Int64, from low: Int64, to high: Int64) throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT coalesce(sum(max(0, min(start + duration, ?2) - max(start, ?3)) / ?4), 0)
            FROM sample WHERE series = ?1 AND duration > ?4 AND start < ?2
            """, .integer(series), .integer(high), .integer(low), .integer(length)) ?? 0
    }
}
