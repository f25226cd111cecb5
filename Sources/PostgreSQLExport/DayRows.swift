import HealthModel
import Pipeline

/// The statistics of days, one row for each person, local date, and type, which the views read. They are those of `stats` with `--own-zone`
/// (``DayComputing``).
///
/// A delivery marks the days that it has changed in the table `day_due`, in its own transaction. Afterwards the days are computed from their
/// rows (``refresh(_:_:)``). Until then their earlier statistics are shown. So a block of a few readings does not read the whole day, and
/// the days of a long backlog are computed once.
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
    private static let margin = max(
        AggregationStyle.maximumValueDuration, Agreement.radius(.spot, timeResolution: Agreement.coarsest))
    /// The maximum number of days that one sample marks. A longer one is not the total of a day.
    private static let maximumDays: Int64 = 400

    // MARK: Marks

    /// The days that are computed or are to be. A day that is being computed for the first time has only a mark, which must change, because
    /// its computation has read what was valid before.
    static func known(in schema: String) -> String {
        "(SELECT subject, date, type FROM \(schema).day UNION SELECT subject, date, type FROM \(schema).day_due)"
    }

    static let again = "ON CONFLICT(subject, date, type) DO UPDATE SET number = excluded.number"

    /// Marks the days of new samples. Each person's marks are written in one order, so that two writers never wait for each other in a circle.
    ///
    /// - Parameter maximumDuration: The durations that are known to the session.
    func mark(
        _ samples: [Sample], _ maximumDuration: inout [DurationKey: Int64], _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        var days: Set<Day> = []
        var longer: [DurationKey: Int64] = [:]
        for sample in samples where Self.has(sample.origin.type) {
            let (start, duration) = (sample.start.microseconds, sample.end.microseconds - sample.start.microseconds)
            let local = start + Int64(sample.zone?.seconds ?? 0) * 1_000_000
            let first = Self.day(local - Self.margin)
            let last = min(Self.day(local + duration + Self.margin), first + Self.maximumDays)
            for day in first...max(first, last) { days.insert(Day(sample.origin.person, sample.origin.type.id, day)) }
            let key = DurationKey(person: sample.origin.person, type: sample.origin.type.id)
            if duration > maximumDuration[key] ?? 0 { longer[key] = max(duration, longer[key] ?? 0) }
        }
        if !longer.isEmpty {
            let all = longer.sorted { ($0.key.person, $0.key.type) < ($1.key.person, $1.key.type) }
            try connection.run(
                """
                INSERT INTO \(schema).day_longest AS l SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
                    ON CONFLICT(subject, type) DO UPDATE SET duration = excluded.duration WHERE excluded.duration > l.duration
                """,
                [
                    NewRows.literal(all.map(\.key.person)), NewRows.literal(all.map(\.key.type)),
                    NewRows.literal(all.map { "\($0.value)" }),
                ])
            maximumDuration.merge(longer) { _, new in new }
        }
        guard !days.isEmpty else { return }
        let all = days.sorted()
        try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT s, '1970-01-01'::date + d, t
                FROM unnest($1::text[], $2::integer[], $3::text[]) AS u(s, d, t) \(Self.again)
            """, Self.values(all))
    }

    /// A key of the durations that a session knows.
    struct DurationKey: Hashable {
        let person: String
        let type: String
    }

    /// Returns the statement that marks the days of rows.
    ///
    /// - Parameter rows: A SELECT of the columns `person`, `type`, `start_time`, `end_time`, and `zone_offset` of rows.
    private func marking(_ rows: String) -> String {
        func day(_ column: String, _ sign: String) -> String {
            """
            (\(column) AT TIME ZONE 'UTC' + coalesce(zone_offset, 0) * interval '1 second' \(sign) interval '\(Self.margin) microseconds')::date
            """
        }
        return """
            INSERT INTO \(schema).day_due(subject, date, type)
                SELECT DISTINCT r.subject, first + n, r.type FROM (SELECT subject, type, \(day("start_time", "-")) AS first,
                        least(\(day("end_time", "+")) - \(day("start_time", "-")), \(Self.maximumDays)) AS length FROM (\(rows)) rows) r
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
            "SELECT \(columns) FROM \(table) i JOIN \(schema).sample s ON s.uuid = i.uuid\(byPerson ? " AND s.subject = i.subject" : "")"
        )
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
            SELECT \(columns) FROM touched t JOIN \(schema).sample s ON s.uuid = t.uuid\(byPerson ? " AND s.subject = t.subject" : "")
            UNION ALL \(content("k")) FROM touched t JOIN \(schema).superseded k ON k.by = t.uuid WHERE k.place = 'sample'
            UNION ALL \(content("h")) FROM heir h WHERE h.place = 'sample'
            """)
    }

    func markAll(of person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT subject, date, type FROM \(Self.known(in: schema)) d
                WHERE subject = $1 ORDER BY 1, 2, 3 \(Self.again)
            """, [person])
    }

    // MARK: Computing

    /// A local date of a person and type.
    private struct Day: Hashable, Comparable {
        let person: String
        let type: String
        /// Days since 1970-01-01.
        let date: Int64

        init(_ person: String, _ type: String, _ date: Int64) { (self.person, self.type, self.date) = (person, type, date) }

        static func < (one: Day, other: Day) -> Bool {
            (one.person, one.date, one.type) < (other.person, other.date, other.type)
        }
    }

    /// The number of days from which marks are taken together.
    private static let span: Int64 = 31
    /// The number of rows in memory.
    private static let portion = 4000
    /// The largest offset of a zone and the reach of the rules for duplicates, in microseconds.
    private static let around: Int64 = 17 * 3_600_000_000

    private static func day(_ local: Int64) -> Int64 { (local >= 0 ? local : local - Calendar.day + 1) / Calendar.day }

    private static func values(_ days: [Day]) -> [String] {
        [
            NewRows.literal(days.map(\.person)), NewRows.literal(days.map { "\($0.date)" }), NewRows.literal(days.map(\.type)),
        ]
    }

    /// The person, and the dates and types of some days.
    private static func values(of person: String, _ days: [Day]) -> [String] {
        [person, NewRows.literal(days.map { "\($0.date)" }), NewRows.literal(days.map(\.type))]
    }

    /// Computes days of one person that are due.
    ///
    /// - Returns: Whether there were any.
    func refresh(_ connection: PostgreSQLConnection, _ computer: DayComputer) throws(DeliveryError) -> Bool {
        let oldest = try connection.run(
            "SELECT subject, date - '1970-01-01'::date FROM \(schema).day_due ORDER BY made LIMIT 16"
        ).randomElement()
        guard let oldest, let person = oldest[0], let date = oldest[1].flatMap({ Int64($0) }) else { return false }
        var due: [Day: String] = [:]
        for row in try connection.run(
            """
            SELECT date - '1970-01-01'::date, type, number FROM \(schema).day_due
            WHERE subject = $1 AND date >= '1970-01-01'::date + $2::integer AND date < '1970-01-01'::date + $2::integer + \(Self.span)
            """, [person, "\(date)"])
        {
            if let day = row[0].flatMap({ Int64($0) }), let type = row[1] { due[Day(person, type, day)] = row[2] }
        }
        try addNeighbours(of: person, to: &due, connection)
        guard !due.isEmpty else { return true }
        let computed: [Figure]
        do {
            try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL jit = off")
            computed = try figures(Set(due.keys), of: person, connection, computer)
            try connection.run("COMMIT")
        } catch let error as DeliveryError {
            throw error
        } catch {
            throw DeliveryError(.unreachable, "days: \(error)")
        }
        try write(computed, due, person, connection)
        return true
    }

    /// Adds the days that share a total, such as that of a week, with days that are due: it counts in all of them or in none.
    private func addNeighbours(
        of person: String, to due: inout [Day: String], _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        let types = Set(due.keys.map(\.type))
        let long = try connection.run(
            "SELECT type, duration FROM \(schema).day_longest WHERE subject = $1 AND duration >= \(TotalPeriod.minimum)", [person]
        )
        var new: Set<Day> = []
        for row in long {
            guard let type = row[0], types.contains(type), let maximumDuration = row[1].flatMap({ Int64($0) }) else { continue }
            var days = Set(due.keys.filter { $0.type == type }.map(\.date))
            let own = days
            var isComplete = false
            while !isComplete, let low = days.min(), let high = days.max() {
                isComplete = true
                for span in try totals(of: person, type, (low, high), maximumDuration, connection)
                where !days.isDisjoint(with: span) {
                    guard !days.isSuperset(of: span) else { continue }
                    days.formUnion(span)
                    isComplete = false
                }
                if days.count > Int(Self.maximumDays) { break }
            }
            new.formUnion(days.subtracting(own).map { Day(person, type, $0) })
        }
        guard !new.isEmpty else { return }
        for row in try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT s, '1970-01-01'::date + d, t
                FROM unnest($1::text[], $2::integer[], $3::text[]) AS u(s, d, t) \(Self.again)
                RETURNING date - '1970-01-01'::date, type, number
            """, Self.values(new.sorted()))
        {
            if let day = row[0].flatMap({ Int64($0) }), let type = row[1] { due[Day(person, type, day)] = row[2] }
        }
    }

    /// The local days of long samples near some days.
    private func totals(
        of person: String, _ type: String, _ days: (low: Int64, high: Int64), _ maximumDuration: Int64,
        _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> [ClosedRange<Int64>] {
        let (low, high) = (days.low * Calendar.day - Self.around, (days.high + 1) * Calendar.day + Self.around)
        return try connection.run(
            """
            SELECT (extract(epoch FROM start_time) * 1000000)::bigint + coalesce(zone_offset, 0) * 1000000::bigint,
                (extract(epoch FROM end_time) * 1000000)::bigint + coalesce(zone_offset, 0) * 1000000::bigint FROM \(schema).sample s
            WHERE subject = $1 AND type || '' = $2 AND start_time >= \(Self.time("$3")) AND start_time < \(Self.time("$4"))
                AND end_time - start_time >= interval '\(TotalPeriod.minimum) microseconds'
            """, [person, type, "\(low - maximumDuration)", "\(high)"]
        ).compactMap { row in
            guard let start = row[0].flatMap({ Int64($0) }), let end = row[1].flatMap({ Int64($0) }), end > start else {
                return nil
            }
            return Self.day(start)...Self.day(end - 1)
        }
    }

    private static func time(_ value: String) -> String { "'epoch'::timestamptz + \(value)::bigint * interval '1 microsecond'" }

    /// A row of the table.
    private struct Figure {
        let day: Day
        let source: String
        let statistics: Statistics
        let hubs: Set<Int32>
    }

    /// Computes days from their rows.
    private func figures(
        _ days: Set<Day>, of person: String, _ connection: PostgreSQLConnection, _ computer: DayComputer
    ) throws -> [Figure] {
        let types = Set(days.map(\.type)).sorted()
        guard let low = days.map(\.date).min(), let high = days.map(\.date).max() else { return [] }
        let (from, to) = (low * Calendar.day - Self.around, (high + 1) * Calendar.day + Self.around)
        let maximumDuration =
            try connection.run(
                "SELECT coalesce(max(duration), 0) FROM \(schema).day_longest WHERE subject = $1 AND type = ANY($2::text[])",
                [person, NewRows.literal(types)]
            ).first?.first?.flatMap { Int64($0) } ?? 0
        let orders = try SourceOrderRows(schema: schema).orders(for: person, connection)
        try connection.run(
            """
            DECLARE days NO SCROLL CURSOR FOR SELECT \(QuantityReader.columns) FROM \(schema).sample s
            WHERE subject = $1 AND type || '' = ANY($2::text[]) AND start_time >= \(Self.time("$3")) AND start_time < \(Self.time("$4"))
                AND end_time >= \(Self.time("$5")) ORDER BY start_time
            """, [person, NewRows.literal(types), "\(from - maximumDuration)", "\(to)", "\(from)"])
        let statistics = try computer()
        try statistics.set(orders)
        var reader = QuantityReader()
        var hubs: [Day: Set<Int32>] = [:]
        while true {
            let rows = try connection.run("FETCH \(Self.portion) FROM days")
            var samples: [Sample] = []
            for row in rows {
                guard let (sample, owners) = reader.read(row, of: person) else { continue }
                samples.append(sample)
                let zone = Int64(sample.zone?.seconds ?? 0) * 1_000_000
                let (start, end) = (sample.start.microseconds + zone, sample.end.microseconds + zone)
                for date in Self.day(start)...max(Self.day(start), Self.day(end - 1)) {
                    let day = Day(person, sample.origin.type.id, date)
                    if days.contains(day) { hubs[day, default: []].formUnion(owners) }
                }
            }
            if !samples.isEmpty { try statistics.add(samples) }
            guard rows.count == Self.portion else { break }
        }
        try connection.run("CLOSE days")
        var found: [Figure] = []
        for name in types {
            guard let type = SampleType(name) else { continue }
            for bySource in type.aggregation == .cumulative ? [false, true] : [false] {
                for each in try statistics.days(of: type, bySource: bySource) {
                    let day = Day(person, name, Self.day(each.start.microseconds))
                    guard days.contains(day), each.count > 0 || each.sum != 0 else { continue }
                    found.append(
                        Figure(day: day, source: bySource ? each.source ?? "" : "", statistics: each, hubs: hubs[day] ?? []))
                }
            }
        }
        return found
    }

    /// Writes days that are still marked. The mark goes if nothing has changed the day since it was read.
    private func write(
        _ figures: [Figure], _ due: [Day: String], _ person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        let all = due.keys.sorted()
        try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED")
        // A mark that another transaction is writing is left for the next time, so that no writer waits.
        let marked = try connection.run(
            """
            SELECT date - '1970-01-01'::date, type, number FROM \(schema).day_due WHERE subject = $1 AND (date, type) IN (
                SELECT '1970-01-01'::date + d, t FROM unnest($2::integer[], $3::text[]) AS u(d, t)) FOR UPDATE SKIP LOCKED
            """, Self.values(of: person, all))
        var (open, done): (Set<Day>, [Day]) = ([], [])
        for row in marked {
            guard let date = row[0].flatMap({ Int64($0) }), let type = row[1] else { continue }
            let day = Day(person, type, date)
            open.insert(day)
            if due[day] == row[2] { done.append(day) }
        }
        let place = "(date, type) IN (SELECT '1970-01-01'::date + d, t FROM unnest($2::integer[], $3::text[]) AS u(d, t))"
        try connection.run(
            "DELETE FROM \(schema).day WHERE subject = $1 AND \(place)", Self.values(of: person, open.sorted()))
        let new = figures.filter { open.contains($0.day) }
        if !new.isEmpty {
            func numbers(_ value: (Figure) -> Double?) -> String {
                "{" + new.map { value($0).map { "\($0)" } ?? "NULL" }.joined(separator: ",") + "}"
            }
            let figures: [String] = [
                NewRows.literal(new.map(\.source)), NewRows.literal(new.map { "\($0.statistics.count)" }),
                numbers { SampleType($0.day.type)?.aggregation == .cumulative ? $0.statistics.sum : nil },
                numbers { $0.statistics.average }, numbers { $0.statistics.minimum }, numbers { $0.statistics.maximum },
                numbers { $0.statistics.mostRecent },
                NewRows.literal(new.map { "{" + $0.hubs.sorted().map { "\($0)" }.joined(separator: ",") + "}" }),
            ]
            try connection.run(
                """
                INSERT INTO \(schema).day(date, subject, type, source_id, count, sum, average, minimum, maximum, latest, hubs)
                    SELECT '1970-01-01'::date + d, $1, t, s, c, sum, average, minimum, maximum, latest, h::integer[]
                    FROM unnest($2::integer[], $3::text[], $4::text[], $5::bigint[], $6::float8[], $7::float8[], $8::float8[],
                        $9::float8[], $10::float8[], $11::text[]) AS u(d, t, s, c, sum, average, minimum, maximum, latest, h)
                """,
                Self.values(of: person, new.map(\.day)) + figures)
        }
        try connection.run(
            "DELETE FROM \(schema).day_due WHERE subject = $1 AND \(place)", Self.values(of: person, done.sorted()))
        try connection.run("COMMIT")
    }
}
