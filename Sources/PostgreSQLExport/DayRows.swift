import HealthModel
import Pipeline

/// The statistics of days, one row for each person, local date, and type, which the views read. They are those of `stats` with `--own-zone`
/// (``DayComputing``).
///
/// A delivery marks the days that it has changed in the table `day_due`, in its own transaction. Afterwards the days are computed from their
/// rows (``refresh(_:_:)``). Until then their earlier statistics are shown. So a block of a few readings does not read the whole day, and
/// the days of a long backlog are computed once. Marks are written and removed under the lock of the person (``WriterLocks``).
struct DayRows {
    let schema: String

    /// Returns the statements that create the tables:
    ///
    /// - `day`: the statistics. `source_id` is empty for all sources together. `hubs` are those whose readings a row was computed from.
    /// - `day_due`: the days to compute. `number` is the transaction that has marked a day last.
    /// - `day_longest`: the longest duration of a person's samples of a type, in microseconds.
    static func creation(in schema: String) -> String {
        """
        CREATE TABLE \(schema).day(
            date date NOT NULL, subject text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL,
            source_id text COLLATE "C" NOT NULL DEFAULT '', count bigint NOT NULL, sum double precision, average double precision,
            minimum double precision, maximum double precision, latest double precision, hubs integer[] NOT NULL,
            made timestamptz NOT NULL DEFAULT now(), PRIMARY KEY(date, subject, type, source_id));
        CREATE INDEX day_subject ON \(schema).day(subject, date);
        CREATE TABLE \(schema).day_due(
            subject text COLLATE "C" NOT NULL, date date NOT NULL, type text COLLATE "C" NOT NULL,
            number bigint NOT NULL DEFAULT txid_current(), made timestamptz NOT NULL DEFAULT now(), PRIMARY KEY(subject, date, type));
        CREATE INDEX day_due_made ON \(schema).day_due(made);
        CREATE TABLE \(schema).day_longest(
            subject text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL, duration bigint NOT NULL, PRIMARY KEY(subject, type));
        """
    }

    static let tables = ["day", "day_due", "day_longest"]

    /// Whether days of a type are computed: all that add up, and those with a column in the view of days.
    static func has(_ type: SampleType) -> Bool {
        type.kind == .quantity && (type.aggregation == .cumulative || daily.contains(type.id))
    }

    private static let daily = Set(SummaryViews.dailyTypes)

    /// How far a reading has an effect on others, in microseconds: the time for which a value is held, and the distance of duplicates.
    static let margin = max(
        AggregationStyle.maximumValueDuration, Agreement.radius(.spot, timeResolution: Agreement.coarsest))
    /// The maximum number of days that one sample marks. A longer one is not the total of a day.
    static let maximumDays: Int64 = 400

    // MARK: Marks

    /// The days that are computed or are to be. A day that is being computed for the first time has only a mark, which must change, because
    /// its computation has read what was valid before.
    static func known(in schema: String) -> String {
        "(SELECT subject, date, type FROM \(schema).day UNION SELECT subject, date, type FROM \(schema).day_due)"
    }

    static let again = "ON CONFLICT(subject, date, type) DO UPDATE SET number = excluded.number"

    /// Marks the days of new samples, and notes the longest durations. Each person's marks are written in one order, so that two writers never
    /// wait for each other in a circle.
    func write(_ marks: DayMarks, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        guard !marks.days.isEmpty else { return }
        let statement = """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT s, '1970-01-01'::date + d, t
                FROM unnest($1::text[], $2::integer[], $3::text[]) AS u(s, d, t) \(Self.again)
            """
        guard !marks.durations.isEmpty else {
            try connection.runPrepared(statement, Self.values(marks.days))
            return
        }
        // No row is locked if it is long enough.
        try connection.runPrepared(
            """
            WITH longest AS (
                INSERT INTO \(schema).day_longest AS l SELECT * FROM unnest($4::text[], $5::text[], $6::bigint[]) AS n(subject, type, duration)
                    WHERE NOT EXISTS(SELECT 1 FROM \(schema).day_longest e
                        WHERE e.subject = n.subject AND e.type = n.type AND e.duration >= n.duration)
                    ON CONFLICT(subject, type) DO UPDATE SET duration = excluded.duration WHERE excluded.duration > l.duration)
            \(statement)
            """,
            Self.values(marks.days) + [
                NewRows.literal(marks.durations.map(\.person)), NewRows.literal(marks.durations.map(\.type)),
                NewRows.literal(marks.durations.map { "\($0.duration)" }),
            ])
    }

    /// Returns the statement that marks the days of rows.
    ///
    /// - Parameters:
    ///   - rows: A SELECT of the columns `person`, `type`, `start_time`, `end_time`, and `zone_offset` of rows.
    ///   - temporary: The temporary table that it reads.
    private func marking(_ rows: String, from temporary: String) -> String {
        func day(_ column: String, _ sign: String) -> String {
            """
            (\(column) AT TIME ZONE 'UTC' + coalesce(zone_offset, 0) * interval '1 second' \(sign) interval '\(Self.margin) microseconds')::date
            """
        }
        return """
            \(RowMatch.with(temporary)), rows AS MATERIALIZED (\(rows))
            INSERT INTO \(schema).day_due(subject, date, type)
                SELECT DISTINCT r.subject, first + n, r.type FROM (SELECT subject, type, \(day("start_time", "-")) AS first,
                        least(\(day("end_time", "+")) - \(day("start_time", "-")), \(Self.maximumDays)) AS length FROM rows) r
                    JOIN \(schema).type ON type.name = r.type AND (type.aggregation = 'cumulative' OR type.name = ANY('\(Self.names)')),
                    generate_series(0, length) AS n ORDER BY 1, 2, 3 \(Self.again)
            """
    }

    private static let names = NewRows.literal(SummaryViews.dailyTypes)
    private static let times = "subject, type, start_time, end_time, zone_offset"

    /// Returns the statement that marks the days of the rows with the UUIDs in a temporary table.
    func marking(rowsIn table: String, byPerson: Bool) -> String {
        let columns = Self.times.split(separator: ", ").map { "s.\($0)" }.joined(separator: ", ")
        return marking(
            """
            SELECT \(columns) FROM \(table) i
                JOIN \(schema).sample s ON \(RowMatch.isSame("s", "i", values: "SELECT uuid FROM \(table)", byPerson: byPerson))
            """, from: table)
    }

    /// Returns the statement that marks the days of rows that represent others, and of the reports that they represent (``SupersededRows``).
    func markingTouched(byPerson: Bool) -> String {
        func content(_ row: String) -> String {
            """
            SELECT \(row).subject, \(row).content->>'type' AS type, (\(row).content->>'start_time')::timestamptz AS start_time,
                (\(row).content->>'end_time')::timestamptz AS end_time, (\(row).content->>'zone_offset')::integer AS zone_offset
            """
        }
        let columns = Self.times.split(separator: ", ").map { "s.\($0)" }.joined(separator: ", ")
        return marking(
            """
            SELECT \(columns) FROM touched t
                JOIN \(schema).sample s ON \(RowMatch.isSame("s", "t", values: "SELECT uuid FROM touched", byPerson: byPerson))
            UNION ALL \(content("k")) FROM touched t JOIN \(schema).superseded k ON k.by = t.uuid WHERE k.place = 'sample'
            UNION ALL \(content("h")) FROM heir h WHERE h.place = 'sample'
            """, from: "touched")
    }

    func markAll(of person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT subject, date, type FROM \(Self.known(in: schema)) d
                WHERE subject = $1 ORDER BY 1, 2, 3 \(Self.again)
            """, [person])
    }

    // MARK: Days

    /// A local date of a person and type.
    struct Day: Hashable, Comparable {
        let person: String
        let type: String
        /// Days since 1970-01-01.
        let date: Int64

        init(_ person: String, _ type: String, _ date: Int64) { (self.person, self.type, self.date) = (person, type, date) }

        static func < (one: Day, other: Day) -> Bool {
            (one.person, one.date, one.type) < (other.person, other.date, other.type)
        }
    }

    static func day(_ local: Int64) -> Int64 { (local >= 0 ? local : local - Calendar.day + 1) / Calendar.day }

    static func values(_ days: [Day]) -> [String] {
        [
            NewRows.literal(days.map(\.person)), NewRows.literal(days.map { "\($0.date)" }), NewRows.literal(days.map(\.type)),
        ]
    }
}
