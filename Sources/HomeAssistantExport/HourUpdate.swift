import HealthModel
import HomeAssistantKit
import Pipeline

/// Makes the rows of one statistic equal to the store's hours.
struct HourUpdate {
    /// The differences that were found, and corrected if this was asked for.
    struct Result {
        var differences = HourDifferences()
        /// The start of the first hour that lies in the future, which is not sent yet.
        var future: Instant?
        var missing: Int { differences.missing }
    }

    /// The number of hours that are compared at once.
    private static let window: Int64 = 1000 * StatisticRow.hour
    /// The number of rows that are collected before they are written.
    private static let portion = RecorderSession.maximumRows * RecorderSession.messagesBeforeBarrier

    let session: RecorderSession
    let hours: any HourComputing
    let statistic: Statistic
    let minute: Int
    /// The end of the current hour. Later hours are not sent.
    let end: Instant
    private let unit: StatisticUnit
    private let name: String
    private let conversion: UnitConversion
    private let mends: Bool

    /// - Parameters:
    ///   - minute: The minute of UTC's hours at which hours begin.
    ///   - unit: The unit of a new statistic. Another unit would relabel the rows of an existing one without converting them, so
    /// it keeps
    ///     its own.
    ///   - mends: Whether differences are corrected.
    init(
        _ session: RecorderSession, _ hours: any HourComputing, _ statistic: Statistic, minute: Int, now: Instant, unit: Unit,
        mends: Bool = true
    ) throws {
        (self.session, self.hours, self.statistic, self.minute, self.mends) = (session, hours, statistic, minute, mends)
        let type = statistic.series.type
        let known = session.known[statistic.id].flatMap { StatisticUnit(type, text: $0.unit) }
        self.unit = known ?? StatisticUnit(type, wanted: unit.code)
        conversion = try type.canonicalUnit.conversion(to: Unit(ucum: self.unit.code), molarMass: type.molarMass)
        let person = try hours.name(of: statistic.series.person)
        name = String((type.displayName + (person.map { " (\($0))" } ?? "")).prefix(255))
        end = Self.hour(of: Instant(microseconds: now.microseconds + StatisticRow.hour), minute)
    }

    /// The start of an instant's hour.
    func hour(of instant: Instant) -> Instant { Self.hour(of: instant, minute) }

    private static func hour(of instant: Instant, _ minute: Int) -> Instant {
        let offset = Int64(minute) * 60_000_000
        let count = (instant.microseconds - offset).flooredQuotientAndRemainder(dividingBy: StatisticRow.hour).quotient
        return Instant(microseconds: count * StatisticRow.hour + offset)
    }

    private var metadata: RecorderSession.Metadata {
        RecorderSession.Metadata(id: statistic.id, name: name, unit: unit.text, hasSum: statistic.isSum)
    }

    /// - Parameters:
    ///   - spans: The spans of hours to compare, sorted, or `nil` for all.
    ///   - removed: Samples that may have been deleted. Elsewhere, rows of hours without samples remain if the store has removed
    /// samples
    ///     permanently.
    func update(_ spans: [Range<Instant>]?, removing removed: [Sample]) throws -> Result {
        var result = Result()
        let extent = try hours.extent(of: statistic.series)
        let keeps = try hours.hasRemovedSamples()
        if extent == nil, !keeps || spans == nil {
            if session.known[statistic.id] != nil, !keeps {
                result.differences.surplus += 1
                if mends { try session.clear([statistic.id]) }
            }
            return result
        }
        var spans = spans
        if let known = session.known[statistic.id] {
            let isOther = StatisticUnit(statistic.series.type, text: known.unit) == nil || known.hasSum != statistic.isSum
            if isOther, mends {
                try session.clear([statistic.id])
                spans = nil
            } else if known.name != name, mends {
                try session.rename(statistic, metadata)
            }
        }
        let all = try spans ?? [whole(extent, keeps)]
        let work = all.map { span in
            max(span.lowerBound, Instant(seconds: Int64(minute) * 60))..<max(span.lowerBound, min(span.upperBound, end))
        }.filter { $0.lowerBound < $0.upperBound }
        let mayEmpty: (Instant) -> Bool = { start in
            !keeps || removed.contains { self.hour(of: $0.start) <= start && start <= self.hour(of: max($0.start, $0.end)) }
        }
        do {
            if statistic.isSum {
                try updateSums(work, mayEmpty, &result.differences)
            } else {
                for span in work.reversed() { try updateMeans(span, mayEmpty, &result.differences) }
            }
        } catch is OtherHours {
            // Its rows were cut in another zone. They would overlap with ours.
            guard mends, !keeps else { return result }
            try session.clear([statistic.id])
            return try update(nil, removing: [])
        }
        if let extent, extent.last >= end {
            let last = Instant(microseconds: hour(of: extent.last).microseconds + StatisticRow.hour)
            try hours.hours(of: statistic.series, minute: minute, from: end, to: last) { rows in
                result.future = rows.first?.start
                return rows.isEmpty
            }
        }
        return result
    }

    /// Rows begin at another minute than hours do now.
    private struct OtherHours: Error {}

    /// The hours that the store or Home Assistant may have.
    private func whole(_ extent: (first: Instant, last: Instant)?, _ keeps: Bool) throws -> Range<Instant> {
        var first = extent.map { hour(of: $0.first) } ?? end
        if !keeps, let month = try session.months(of: statistic, before: end).first { first = min(first, hour(of: month.start)) }
        return min(first, end)..<end
    }

    /// The store's rows, by start.
    private func wanted(_ from: Instant, _ to: Instant) throws -> [Instant: Statistics] {
        var rows: [Instant: Statistics] = [:]
        try hours.hours(of: statistic.series, minute: minute, from: from, to: to) { portion in
            for row in portion { rows[row.start] = row.converted(by: conversion) }
            return true
        }
        return rows
    }

    private func existing(_ from: Instant, _ to: Instant) throws -> [Instant: StatisticRow.Values] {
        var rows: [Instant: StatisticRow.Values] = [:]
        for row in try session.rows(of: statistic, from: from, to: to) {
            guard hour(of: row.start) == row.start else { throw OtherHours() }
            rows[row.start] = row.values
        }
        return rows
    }

    // MARK: Means

    private func updateMeans(_ span: Range<Instant>, _ mayEmpty: (Instant) -> Bool, _ differences: inout HourDifferences) throws {
        var changed: [StatisticRow] = []
        var removed: [Instant] = []
        func write() throws {
            defer { (changed, removed) = ([], []) }
            guard mends else { return }
            try session.write(changed, of: statistic, metadata)
            try session.remove(removed, of: statistic, metadata)
        }
        var high = span.upperBound
        while high > span.lowerBound {
            let low = max(span.lowerBound, Instant(microseconds: high.microseconds - Self.window))
            let wanted = try wanted(low, high)
            let existing = try existing(low, high)
            for start in Set(wanted.keys).union(existing.keys).sorted(by: >) {
                guard let row = wanted[start], let values = Self.mean(row) else {
                    guard mayEmpty(start) else { continue }
                    differences.surplus += 1
                    removed.append(start)
                    continue
                }
                guard existing[start] != values else {
                    differences.equal += 1
                    continue
                }
                if existing[start] == nil { differences.missing += 1 } else { differences.differing += 1 }
                changed.append(StatisticRow(start: start, values: values))
            }
            if changed.count + removed.count >= Self.portion { try write() }
            high = low
        }
        try write()
    }

    private static func mean(_ row: Statistics) -> StatisticRow.Values? {
        guard let mean = row.average, let minimum = row.minimum, let maximum = row.maximum,
            mean.isFinite, minimum.isFinite, maximum.isFinite
        else { return nil }
        return .mean(mean, minimum: minimum, maximum: maximum)
    }

    // MARK: Sums

    /// Rewrites the total from the first changed hour on. A row is never emptied, because a query that starts after it would
    /// report the whole total as the amount of one day.
    private func updateSums(
        _ spans: [Range<Instant>], _ mayEmpty: (Instant) -> Bool, _ differences: inout HourDifferences
    ) throws {
        guard let first = spans.first?.lowerBound, let last = spans.last?.upperBound else { return }
        var total = try total(before: first)
        var changed: [StatisticRow] = []
        func write() throws {
            defer { changed = [] }
            if mends { try session.write(changed, of: statistic, metadata) }
        }
        var low = first
        while low < end {
            let high = min(end, Instant(microseconds: low.microseconds + Self.window))
            let wanted = low < last ? try wanted(low, min(high, last)) : [:]
            let existing = try existing(low, high)
            for start in Set(wanted.keys).union(existing.keys).sorted() {
                let before = existing[start]
                var amount: Double?
                if case .sum(let state, _) = before { amount = state.isFinite ? state : 0 }
                if spans.contains(where: { $0.contains(start) }) {
                    if let row = wanted[start] {
                        amount = row.sum.isFinite ? row.sum : 0
                    } else if before != nil, mayEmpty(start) {
                        amount = 0
                    }
                }
                guard let amount else { continue }
                total += amount
                let values = StatisticRow.Values.sum(state: amount, total: total)
                if before == values {
                    differences.equal += 1
                    // Later rows continue from this one.
                    guard start < last else { return try write() }
                } else {
                    if before == nil { differences.missing += 1 } else { differences.differing += 1 }
                    changed.append(StatisticRow(start: start, values: values))
                }
            }
            if changed.count >= Self.portion { try write() }
            low = high
        }
        try write()
    }

    /// The total of the last row before an hour.
    private func total(before start: Instant) throws -> Double {
        let months = try session.months(of: statistic, before: start)
        let whole = months.last { $0.end <= start && $0.total != nil }
        guard let from = whole?.end ?? months.first?.start else { return 0 }
        for row in try session.rows(of: statistic, from: hour(of: from), to: start).reversed() {
            if case .sum(_, let total) = row.values, total.isFinite { return total }
        }
        return whole?.total ?? 0
    }
}
