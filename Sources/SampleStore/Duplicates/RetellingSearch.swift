import HealthModel

/// Finds rows that tell again, in another unit, what the same path told before, as an export does after the phone's unit was changed.
/// Used inside a transaction.
///
/// Only readings of one series and the same nominal times are compared. Each reading has one telling in each unit: two readings at one
/// instant, told again, find one each, the most alike first. In the unit of the first nothing is compared: a path that tells two means two. In
/// another one, other digits may tell the same once more: 0.776713989 mi of before, 0.777 mi now.
final class RetellingSearch {
    /// A reading that was told before.
    fileprivate struct Told {
        /// The sample it is a witness of; else itself.
        var first: SamplePlace
        var isFirst: Bool
        var unit: String
        var trace: ReadingTrace
    }

    private let connection: Connection
    /// Pairs of one instant that are compared at most: a file made to have more is no sensor's.
    private static let crowd = 4_000_000
    private let siblings: Siblings

    init(connection: Connection) {
        self.connection = connection
        siblings = Siblings(connection: connection)
    }

    func forget() { siblings.forget() }

    /// Takes rows out that tell, in another unit than the row that came first, of an instant that both tell of: they are compared once that
    /// row is written.
    func later(_ rows: inout [SampleRow], at instants: Set<Int64>, of type: QuantityType) throws(StoreError) -> [SampleRow] {
        var units: [Int64: (index: Int32, unit: String)] = [:]
        for row in rows where instants.contains(row.nominal) {
            if let known = units[row.nominal], known.index < row.index { continue }
            units[row.nominal] = (row.index, try siblings.telling(row.context, of: type).unit)
        }
        var (now, later): ([SampleRow], [SampleRow]) = ([], [])
        for row in rows {
            if let first = units[row.nominal], try siblings.telling(row.context, of: type).unit != first.unit {
                later.append(row)
            } else {
                now.append(row)
            }
        }
        rows = now
        return later
    }

    /// Searches for rows of one series that start, nominally, at one of these instants and have one unit at each.
    func search(
        _ rows: [SampleRow], at instants: Set<Int64>, of type: QuantityType
    ) throws(StoreError) -> [NearDuplicateSearch.Match] {
        var matches: [NearDuplicateSearch.Match] = []
        var rowsAt: [Int64: [Int]] = [:]
        for index in rows.indices where instants.contains(rows[index].nominal) {
            rowsAt[rows[index].nominal, default: []].append(index)
        }
        for (instant, indices) in rowsAt.sorted(by: { $0.key < $1.key }) {
            guard let context = indices.first.map({ rows[$0].context }) else { continue }
            let unit = try siblings.telling(context, of: type).unit
            var told = Dictionary(grouping: try readings(of: rows[indices[0]].series, at: instant, type), by: \.first)
            guard told.count * indices.count <= Self.crowd else { continue }
            var open: [Row] = []
            for index in indices {
                let row = rows[index]
                let telling = try siblings.telling(row.context, of: type)
                open.append(
                    Row(
                        index: index, order: row.index,
                        trace: telling.trace(duration: row.duration, value: row.value, step: row.step)))
            }
            func find(_ isCandidate: ([Told]) -> Bool) -> Bool {
                let found = Self.match(open, with: told.filter { isCandidate($1) }, in: unit)
                for match in found {
                    matches.append(NearDuplicateSearch.Match(row: match.row.index, of: match.of))
                    told[match.of]?.append(Told(first: match.of, isFirst: false, unit: unit, trace: match.row.trace))
                    open.removeAll { $0.index == match.row.index }
                }
                return !found.isEmpty
            }
            // What was not told in this unit goes before what was, with other digits: once for each number of digits.
            _ = find { !$0.isTold(in: unit) }
            while !open.isEmpty, find({ $0.isToldAgain(in: unit) }) {}
        }
        return matches
    }

    /// A row that is compared, with its position among the rows and in the batch.
    private struct Row {
        var index: Int
        var order: Int32
        var trace: ReadingTrace
    }

    /// Finds one reading at most for each row, and one row for each reading: the most alike first.
    private static func match(
        _ rows: [Row], with told: [SamplePlace: [Told]], in unit: String
    ) -> [(row: Row, of: SamplePlace)] {
        var found: [(likeness: Likeness, row: Row, of: SamplePlace)] = []
        for row in rows {
            for (first, tellings) in told {
                if let likeness = likeness(row.trace, tellings, in: unit) { found.append((likeness, row, first)) }
            }
        }
        found.sort {
            ($0.likeness, $0.row.order, $0.of.start, $0.of.high, $0.of.low)
                < ($1.likeness, $1.row.order, $1.of.start, $1.of.high, $1.of.low)
        }
        var (matched, taken): (Set<Int>, Set<SamplePlace>) = ([], [])
        return found.compactMap { finding in
            guard !matched.contains(finding.row.index), taken.insert(finding.of).inserted else { return nil }
            matched.insert(finding.row.index)
            return (finding.row, finding.of)
        }
    }

    /// How like a row is to every telling of a reading, so that rounding upon rounding leads nowhere else.
    private static func likeness(_ trace: ReadingTrace, _ tellings: [Told], in unit: String) -> Likeness? {
        var worst: Likeness?
        for telling in tellings {
            guard telling.trace.duration == trace.duration, let likeness = Likeness(trace, telling.trace, rule: .unit) else {
                return nil
            }
            // As many digits of one unit are another reading, even where they are the same.
            if telling.unit == unit, !telling.trace.hasOtherDigits(than: trace) { return nil }
            worst = worst.map { max($0, likeness) } ?? likeness
        }
        return worst
    }

    /// What a series tells of an instant: samples, what was taken back or deleted, and witnesses, earliest first.
    private func readings(of series: Int64, at instant: Int64, _ type: QuantityType) throws(StoreError) -> [Told] {
        let statement = try connection.statement(Self.readings)
        defer { statement.reset() }
        try statement.bind([.integer(series), .integer(instant)])
        var found: [Told] = []
        var known: [SamplePlace: Int] = [:]
        while try statement.step() {
            let place = try SamplePlace(series: series, start: statement.integer(0), hash: statement.blob(1))
            var first = place
            let isWitness = !statement.isNull(6)
            if isWitness {
                first = try SamplePlace(series: statement.integer(6), start: statement.integer(7), hash: statement.blob(8))
            }
            // A witness that stands in is a sample as well.
            if let index = known[place] {
                if isWitness { (found[index].first, found[index].isFirst) = (first, false) }
                continue
            }
            known[place] = found.count
            let telling = try siblings.telling(statement.integer(4), of: type)
            let value = statement.real(2)
            let numeral = statement.isNull(3) ? Numeral(shortest: value) : try? Numeral(parsing: statement.blob(3))
            found.append(
                Told(
                    first: first, isFirst: !isWitness, unit: telling.unit,
                    trace: telling.trace(duration: statement.integer(5), value: value, step: numeral?.step ?? 0)))
        }
        return found
    }

    /// Those whose nominal time is their start, and those that `place` leads to.
    private static let readings: String = {
        let tables = [
            ("sample", "NULL, NULL, NULL, 0", ""), ("deleted", "NULL, NULL, NULL, 0", " AND NOT forgotten"),
            ("witness", "of_series, of_start, of_hash, told.ingest", ""),
        ]
        let selects = tables.flatMap { table, first, condition in
            let columns = "told.start, told.hash, value, numeral, context, coalesce(duration, 0), \(first)"
            return [
                """
                SELECT \(columns) FROM \(table) AS told CROSS JOIN context ON context.id = told.context
                WHERE told.series = ?1 AND told.start = ?2 AND skew = 0\(condition)
                """,
                """
                SELECT \(columns) FROM place CROSS JOIN \(table) AS told ON told.series = place.series AND told.start = place.start
                    AND told.hash = place.hash
                WHERE place.series = ?1 AND place.nominal = ?2\(condition)
                """,
            ]
        }
        return selects.joined(separator: " UNION ALL ") + " ORDER BY 10, 2"
    }()
}

extension [RetellingSearch.Told] {
    fileprivate func isTold(in unit: String) -> Bool { contains { $0.unit == unit } }

    /// Whether it was told in this unit, but not first.
    fileprivate func isToldAgain(in unit: String) -> Bool {
        isTold(in: unit) && !contains { $0.isFirst && $0.unit == unit }
    }
}

extension ReadingTrace {
    /// Whether one of two numerals of one unit was cut where the other goes on.
    fileprivate func hasOtherDigits(than other: ReadingTrace) -> Bool {
        max(valueResolution, other.valueResolution) > min(valueResolution, other.valueResolution) * 1.5
    }
}

extension Siblings.Telling {
    /// What is compared where the times are one.
    fileprivate func trace(duration: Int64, value: Double, step: Double) -> ReadingTrace {
        ReadingTrace(
            start: 0, duration: duration, timeResolution: 1, isArrival: false, value: value, valueResolution: step * scale,
            scale: scale, zero: zero)
    }
}
