import HealthModel
import Pipeline

/// Computing days that are due, from their rows.
extension DayRows {
    /// The number of days from which marks are taken together.
    private static let span: Int64 = 31
    /// The number of rows in memory.
    private static let portion = 4000
    /// The largest offset of a zone and the reach of the rules for duplicates, in microseconds.
    private static let around: Int64 = 17 * 3_600_000_000

    /// The person, and the dates and types of some days.
    private static func values(of person: String, _ days: [Day]) -> [String] {
        [person, NewRows.literal(days.map { "\($0.date)" }), NewRows.literal(days.map(\.type))]
    }

    /// Computes some days of one person that are due.
    ///
    /// - Parameter age: The time in seconds since the first mark of a day that is due.
    /// - Returns: Whether there were any.
    func refresh(_ connection: PostgreSQLConnection, _ computer: DayComputer, after age: Int = 0) throws(DeliveryError) -> Bool {
        let oldest = try connection.run(
            """
            SELECT subject, date - '1970-01-01'::date FROM \(schema).day_due WHERE made <= now() - interval '\(age) seconds'
            ORDER BY made LIMIT 16
            """
        ).randomElement()
        guard let oldest, let person = oldest[0], let date = oldest[1].flatMap({ Int64($0) }) else { return false }
        try compute(person, from: date, connection, computer)
        return true
    }

    /// Computes the days of a person that are due within a month, and those that share a total with them.
    ///
    /// - Parameter date: The first day of the month, in days since 1970-01-01.
    func compute(
        _ person: String, from date: Int64, _ connection: PostgreSQLConnection, _ computer: DayComputer
    ) throws(DeliveryError) {
        var due: [Day: String] = [:]
        for row in try connection.run(
            """
            SELECT date - '1970-01-01'::date, type, number FROM \(schema).day_due
            WHERE subject = $1 AND date >= '1970-01-01'::date + $2::integer AND date < '1970-01-01'::date + $2::integer + \(Self.span)
            """, [person, "\(date)"])
        {
            if let day = row[0].flatMap({ Int64($0) }), let type = row[1] { due[Day(person, type, day)] = row[2] }
        }
        let shared = try addNeighbours(of: person, to: &due, connection)
        guard !due.isEmpty else { return }
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
        try write(computed, due, shared, person, connection)
    }

    /// Adds the days that share a total, such as that of a week, with days that are due: it counts in all of them or in none.
    ///
    /// - Returns: The days of each total.
    private func addNeighbours(
        of person: String, to due: inout [Day: String], _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> [Set<Day>] {
        let types = Set(due.keys.map(\.type))
        let long = try connection.run(
            "SELECT type, duration FROM \(schema).day_longest WHERE subject = $1 AND duration >= \(TotalPeriod.minimum)", [person]
        )
        var (new, shared): (Set<Day>, [Set<Day>]) = ([], [])
        for row in long {
            guard let type = row[0], types.contains(type), let maximumDuration = row[1].flatMap({ Int64($0) }) else { continue }
            var days = Set(due.keys.filter { $0.type == type }.map(\.date))
            let own = days
            var isComplete = false
            var spans: Set<ClosedRange<Int64>> = []
            while !isComplete, let low = days.min(), let high = days.max() {
                isComplete = true
                for span in try totals(of: person, type, (low, high), maximumDuration, connection)
                where !days.isDisjoint(with: span) {
                    spans.insert(span)
                    guard !days.isSuperset(of: span) else { continue }
                    days.formUnion(span)
                    isComplete = false
                }
                if days.count > Int(Self.maximumDays) { break }
            }
            new.formUnion(days.subtracting(own).map { Day(person, type, $0) })
            shared += spans.filter { $0.count > 1 && days.isSuperset(of: $0) }.map { span in
                Set(span.map { Day(person, type, $0) })
            }
        }
        guard !new.isEmpty else { return shared }
        try begin(person, connection)
        // Marks that are there stay as they are, so that two programs that compute the same days do not stop each other.
        try connection.run(
            """
            INSERT INTO \(schema).day_due(subject, date, type) SELECT s, '1970-01-01'::date + d, t
                FROM unnest($1::text[], $2::integer[], $3::text[]) AS u(s, d, t) ON CONFLICT(subject, date, type) DO NOTHING
            """, Self.values(new.sorted()))
        let marked = try marks(on: new.sorted(), of: person, connection)
        try connection.run("COMMIT")
        due.merge(marked) { _, number in number }
        return shared
    }

    /// The numbers of the marks on some days.
    private func marks(
        on days: [Day], of person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) -> [Day: String] {
        var found: [Day: String] = [:]
        for row in try connection.run(
            "SELECT date - '1970-01-01'::date, type, number FROM \(schema).day_due WHERE subject = $1 AND \(Self.isListed)",
            Self.values(of: person, days))
        {
            if let date = row[0].flatMap({ Int64($0) }), let type = row[1] { found[Day(person, type, date)] = row[2] }
        }
        return found
    }

    /// The condition for rows of the days in the values 2 and 3.
    private static let isListed =
        "(date, type) IN (SELECT '1970-01-01'::date + d, t FROM unnest($2::integer[], $3::text[]) AS u(d, t))"

    /// Begins a transaction with the lock of a person. Deliveries and erasures of the person come before or after it.
    private func begin(_ person: String, _ connection: PostgreSQLConnection) throws(DeliveryError) {
        var locks = WriterLocks(schema: schema)
        locks.add(person: person)
        try connection.run("BEGIN ISOLATION LEVEL READ COMMITTED; \(locks.statement)")
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

    /// Writes days that are still marked. A mark goes if nothing has changed the day since it was read, and none of the days that share a total
    /// with it. Another program may have computed them with the change, and writes only days with a mark.
    private func write(
        _ figures: [Figure], _ due: [Day: String], _ shared: [Set<Day>], _ person: String, _ connection: PostgreSQLConnection
    ) throws(DeliveryError) {
        try begin(person, connection)
        let marked = try marks(on: due.keys.sorted(), of: person, connection)
        let open = Set(marked.keys)
        var done = open.filter { due[$0] == marked[$0] }
        Self.remove(incomplete: shared, from: &done)
        try connection.run(
            "DELETE FROM \(schema).day WHERE subject = $1 AND \(Self.isListed)", Self.values(of: person, open.sorted()))
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
            "DELETE FROM \(schema).day_due WHERE subject = $1 AND \(Self.isListed)", Self.values(of: person, done.sorted()))
        try connection.run("COMMIT")
    }

    /// Removes days that share a total with a day that is not among them.
    private static func remove(incomplete shared: [Set<Day>], from days: inout Set<Day>) {
        var isComplete = false
        while !isComplete {
            isComplete = true
            for some in shared where !days.isSuperset(of: some) && !days.isDisjoint(with: some) {
                days.subtract(some)
                isComplete = false
            }
        }
    }
}
