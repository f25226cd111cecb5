import HealthModel

/// Adds the intervals without samples for each person, and for each source if sources are separate.
struct StatisticsGaps {
    private let gathering: StatisticsGathering
    /// The people and sources that have a row for each interval, in order.
    private var keys: [(person: String, source: String?)] = []
    /// The next interval to return.
    private var next: Int?

    private static let maximum = 4096

    init(_ gathering: StatisticsGathering, _ window: StatisticsWindow) {
        self.gathering = gathering
        let intervals = gathering.plan.grid.intervals
        if window.from != .min { next = intervals.index(of: Instant(microseconds: window.from)) }
        for own in gathering.series {
            guard let person = own.first?.person else { continue }
            if gathering.plan.bySource {
                keys += Set(own.map(\.source)).sorted().map { (person, $0) }
            } else {
                keys.append((person, nil))
            }
        }
    }

    /// Returns all intervals up to the last of these rows through `body`.
    ///
    /// - Returns: Whether to go on.
    mutating func fill(_ rows: [Statistics], _ body: ([Statistics]) throws -> Bool) throws -> Bool {
        guard let last = rows.last else { return true }
        return try report(rows, through: index(of: last), body)
    }

    /// Returns the intervals after the last sample through `body`, up to the query's end.
    mutating func end(_ window: StatisticsWindow, _ body: ([Statistics]) throws -> Bool) throws -> Bool {
        guard window.to != .max, next != nil else { return true }
        return try report([], through: gathering.plan.grid.intervals.index(of: Instant(microseconds: window.to - 1)), body)
    }

    /// The start of a row is in the query's zone. A day that the zone skipped has the start of the next day.
    private func index(of row: Statistics) -> Int { gathering.query.intervals.index(of: row.start) }

    private mutating func report(
        _ rows: [Statistics], through last: Int, _ body: ([Statistics]) throws -> Bool
    ) throws -> Bool {
        var index = next ?? rows.first.map(index(of:)) ?? last + 1
        var row = 0
        var reported: [Statistics] = []
        while index <= last {
            for (person, source) in keys {
                // There are several rows if the type is a category.
                let before = row
                while row < rows.count, self.index(of: rows[row]) == index, rows[row].person == person,
                    rows[row].source == source
                {
                    reported.append(rows[row])
                    row += 1
                }
                if row == before, !gathering.query.intervals.isEmpty(index) {
                    let key = StatisticsKey(cell: .init(index: index, piece: 0), person: person, source: source)
                    reported.append(gathering.row(key, nil))
                }
            }
            index += 1
            if reported.count >= Self.maximum {
                guard try body(reported) else { return false }
                reported.removeAll(keepingCapacity: true)
            }
        }
        next = max(next ?? index, index)
        return reported.isEmpty ? true : try body(reported)
    }
}
