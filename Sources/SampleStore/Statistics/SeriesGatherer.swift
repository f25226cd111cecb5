import HealthModel

/// Computes the statistics of one series, cell by cell.
///
/// At each moment the best source with data counts. The part of a sample that samples of a better series cover does not count, nor does an
/// instant within them. A sample at an instant covers no time.
struct SeriesGatherer {
    let connection: Connection
    let plan: StatisticsPlan
    let window: StatisticsWindow
    /// How far after the window's end samples with a duration are read. Samples of worse series that begin in the window may extend that
    /// far.
    let reach: Int64
    let zones: ContextZones?
    /// The totals of days among the samples, or `nil` without any.
    let totals: Totals?

    /// The effects of other series on this one and of this one on others.
    struct Neighbours {
        /// The better series. Samples that are linked to theirs do not count.
        var better: [Int64] = []
        /// The time covered by better series and pauses. The time that this series covers is added.
        var coverage: Coverage?
        /// Whether there are worse series.
        var covers = false
    }

    private var key = StatisticsKey(cell: .init(index: 0, piece: 0), person: "")
    private var low = Int64.max
    private var high = Int64.min
    private var current: Accumulator

    init(
        _ connection: Connection, _ plan: StatisticsPlan, _ window: StatisticsWindow, reach: Int64, zones: ContextZones?,
        totals: Totals? = nil
    ) {
        self.totals = totals
        (self.connection, self.plan, self.window, self.reach, self.zones) = (connection, plan, window, reach, zones)
        current = Accumulator(plan)
    }

    /// Values at an instant whose weight depends on the next sample.
    private struct PendingValue {
        var start = Int64.min
        var value = 0.0
        var isEmpty = true
        /// Further values at the same instant.
        var others: [Double] = []

        @inline(__always)
        mutating func take(_ value: Double, at start: Int64) {
            if isEmpty { (self.start, self.value, isEmpty) = (start, value, false) } else { others.append(value) }
        }
    }
    private var pending = PendingValue()

    /// The last different start before the current row, or `.min` if unknown.
    private var prior = Int64.min
    private var last = Int64.min

    /// Weights the held values by the time until the next sample (``AggregationStyle/discreteTemporallyWeighted``).
    @inline(__always)
    private mutating func resolve(until next: Int64, _ rows: Rows) throws(StoreError) {
        guard !pending.isEmpty, next > pending.start else { return }
        let gap = next &- pending.start
        let isNear = gap > 0 && gap <= AggregationStyle.maximumValueDuration
        let weight = Double(isNear ? gap : try durationOfLastValue(rows))
        current.add(pending.value, at: pending.start, weight: weight, duration: 0, plan)
        if !pending.others.isEmpty {
            for value in pending.others { current.add(value, at: pending.start, weight: weight, duration: 0, plan) }
            pending.others.removeAll()
        }
        pending.isEmpty = true
    }

    private func durationOfLastValue(_ rows: Rows) throws(StoreError) -> Int64 {
        let before = prior == .min ? try rows.start(before: pending.start) : prior
        let gap = before == .min ? .max : pending.start - before
        return min(gap, AggregationStyle.maximumValueDuration)
    }

    /// - Parameters:
    ///   - condition: The condition for samples that count.
    ///   - usesSummaries: Whether existing summaries are read instead of their samples.
    ///   - gathered: The cells to which the results are added.
    /// - Returns: The number of rows that were read.
    mutating func gather(
        _ series: SeriesDescription, _ neighbours: Neighbours, where condition: StatisticsCondition?, usesSummaries: Bool = true,
        into gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) -> Int {
        key = StatisticsKey(cell: .init(index: 0, piece: 0), person: series.person, source: plan.bySource ? series.source : nil)
        (low, high) = (.max, .min)
        let unlinked = try connection.duplicates.unlinked(series.id, from: neighbours.better)
        let isWhole = condition == nil && zones == nil && unlinked.isEmpty && neighbours.coverage?.isEmpty ?? true
        guard usesSummaries, isWhole, plan.isPlain, plan.pauses.isEmpty, Summaries.areOf(series) else {
            defer { leave(&gathered) }
            return try walk(series, neighbours, condition, unlinked, window, into: &gathered)
        }
        let summaries = try connection.summaries.rows(of: series.id, from: window.from, to: window.to)
        defer { summaries.end() }
        var (position, read) = (window.from, 0)
        while let summary = try summaries.next() {
            read += 1
            let end = summary.start + SummaryTable.length
            // The samples of a summary that spans two cells are read individually.
            if summary.start >= high || summary.start < low {
                guard end <= plan.grid.cell(at: summary.start).high else { continue }
            } else if end > high {
                continue
            }
            if position < summary.start {
                let part = StatisticsWindow(from: position, to: summary.start)
                read += try walk(series, neighbours, condition, unlinked, part, into: &gathered)
            }
            if summary.start < low || summary.start >= high { move(to: summary.start, &gathered) }
            current.merge(Accumulator(summary))
            position = end
        }
        if position < window.to {
            let part = StatisticsWindow(from: position, to: window.to)
            read += try walk(series, neighbours, condition, unlinked, part, into: &gathered)
        }
        leave(&gathered)
        return read
    }

    /// Reads the samples of a part of the window individually.
    private mutating func walk(
        _ series: SeriesDescription, _ neighbours: Neighbours, _ condition: StatisticsCondition?, _ unlinked: SampleFilter,
        _ window: StatisticsWindow, into gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) -> Int {
        (prior, last) = (.min, .min)
        let lasts = series.maximumDuration > 0
        var fields: SampleFields = [.start, .value]
        if lasts { fields.insert(.duration) }
        if zones != nil { fields.insert(.context) }
        if let condition { fields.formUnion(condition.fields) }
        var overlapping = plan.isCumulative && lasts && OverlappingRecords.areMerged(in: series) ? OverlappingRecords() : nil
        if overlapping != nil { fields.insert(.hash) }
        let end = window.to.shifted(by: reach.shifted(by: zones == nil ? 0 : StatisticsWindow.zones))
        // Earlier samples are read if they can extend into the window as part of a sum or cover other series.
        let lookBack = plan.isCumulative || neighbours.covers ? series.maximumDuration : 0
        let begin = window.from.shifted(by: -lookBack.shifted(by: zones == nil ? 0 : StatisticsWindow.zones))
        let found = try connection.samples.scan(
            fields, of: series.id, from: begin, through: end.shifted(by: -1), unlinked)
        let coverage = neighbours.coverage
        let isCovered = coverage.map { !$0.isEmpty } ?? false
        let pauses = plan.pauses.isEmpty ? nil : Coverage(plan.pauses)
        let isWeighted = plan.style == .discreteTemporallyWeighted
        var spans: [(start: Int64, end: Int64)] = []
        var (cursor, pause) = (0, 0)
        let rows = Rows(connection: connection, series: series.id, unlinked: unlinked)
        var read = 0
        while try found.next() {
            read += 1
            let start = found.start
            let value = found.value
            let duration = lasts ? found.duration : 0
            if start != last {
                try resolve(until: start, rows)
                (prior, last) = (last, start)
            }
            if let condition, try !condition.counts(found) { continue }
            let shift = try zones?.shift(found.context, at: start) ?? 0
            if let totals, duration > 0, totals.isTotal(start, duration) {
                share(value, from: start, totals.parts(of: series.id, start, duration), of: duration, shift, into: &gathered)
                continue
            }
            if duration > 0, neighbours.covers { Self.append((start, start + duration), to: &spans) }
            if duration > 0, overlapping != nil {
                if let last = overlapping?.end, start >= last {
                    try count(&overlapping, coverage, &cursor, into: &gathered)
                }
                overlapping?.append(.init(key: try found.key, duration: duration, value: value, shift: shift))
                continue
            }
            let time = start + shift
            if plan.isCumulative, duration > 0 {
                // Most samples lie within one cell, and no better series covers anything.
                if !isCovered, time >= low, time >= window.from, time + duration <= min(high, window.to) {
                    current.add(part: value, of: value, at: start, duration: duration, counts: true)
                    continue
                }
                let open =
                    isCovered ? coverage?.uncovered(start, start + duration, from: &cursor) ?? [] : [(start, start + duration)]
                share(value, from: start, open, of: duration, shift, into: &gathered)
                continue
            }
            guard time >= window.from, time < window.to else { continue }
            // A measured value counts unless its start lies in a pause.
            if let pauses, pauses.uncovered(start, start &+ 1, from: &pause).isEmpty { continue }
            var counted = duration
            if isCovered, let coverage {
                let open = coverage.uncovered(start, start + max(1, duration), from: &cursor)
                if open.isEmpty { continue }
                if duration > 0 { counted = open.reduce(0) { $0 + $1.end - $1.start } }
            }
            if time < low || time >= high {
                // Samples with equal starts may have clocks of two zones.
                if !pending.isEmpty { try resolve(until: try rows.start(after: start), rows) }
                move(to: time, &gathered)
            }
            if isWeighted, duration == 0 {
                pending.take(value, at: start)
            } else {
                let weight = plan.weighsTime ? Double(max(1, counted)) : 1
                if plan.isCumulative {
                    current.add(part: value, of: value, at: start, duration: 0, counts: true)
                } else {
                    current.add(value, at: start, weight: weight, duration: counted, plan)
                }
            }
        }
        try count(&overlapping, coverage, &cursor, into: &gathered)
        if !pending.isEmpty { try resolve(until: try rows.start(after: pending.start), rows) }
        coverage?.add(spans)
        return read
    }

    /// Counts records that overlap, each moment once.
    private mutating func count(
        _ overlapping: inout OverlappingRecords?, _ coverage: Coverage?, _ cursor: inout Int,
        into gathered: inout [StatisticsKey: Accumulator]
    ) throws(StoreError) {
        guard let records = overlapping, let first = records.rows.first else { return }
        overlapping = OverlappingRecords()
        for (row, parts) in try records.parts(connection) {
            var (open, next) = (parts, cursor)
            if let coverage { open = parts.flatMap { coverage.uncovered($0.start, $0.end, from: &next) } }
            share(row.value, from: row.key.start, open, of: row.duration, row.shift, into: &gathered)
        }
        if let coverage { _ = coverage.uncovered(first.key.start, first.key.start, from: &cursor) }
    }

    static func append(_ span: (start: Int64, end: Int64), to spans: inout [(start: Int64, end: Int64)]) {
        if let last = spans.last, span.start <= last.end {
            spans[spans.count - 1].end = max(last.end, span.end)
        } else {
            spans.append(span)
        }
    }

    private mutating func move(to time: Int64, _ gathered: inout [StatisticsKey: Accumulator]) {
        leave(&gathered)
        (key.cell, low, high) = plan.grid.cell(at: time)
    }

    private mutating func leave(_ gathered: inout [StatisticsKey: Accumulator]) {
        guard current.count > 0 else { return }
        if gathered[key]?.merge(current) == nil { gathered[key] = current }
        current = Accumulator(plan)
    }

    /// Adds the share of a sample's counted parts to each interval within the window.
    ///
    /// - Parameter shift: The microseconds that the grid's clock is ahead.
    private mutating func share(
        _ value: Double, from start: Int64, _ open: [(start: Int64, end: Int64)], of duration: Int64, _ shift: Int64,
        into gathered: inout [StatisticsKey: Accumulator]
    ) {
        var counted: StatisticsGrid.Cell?
        for part in open {
            var position = max(part.start + shift, window.from)
            let end = min(part.end + shift, window.to)
            while position < end {
                if position < low || position >= high { move(to: position, &gathered) }
                let length = min(end, high) - position
                // The whole duration keeps the exact value.
                let share = length == duration ? value : value * Double(length) / Double(duration)
                current.add(part: share, of: value, at: start, duration: length, counts: counted != key.cell)
                counted = key.cell
                position += length
            }
        }
    }
}

/// Rows of a series outside the current walk.
private struct Rows {
    let connection: Connection
    let series: Int64
    let unlinked: SampleFilter

    /// Returns the next start, or `.max` if there is none.
    func start(after time: Int64) throws(StoreError) -> Int64 {
        try connection.samples.start(
            of: series, from: time.shifted(by: 1), unlinked) ?? .max
    }

    /// Returns the previous start, or `.min` if there is none.
    func start(before time: Int64) throws(StoreError) -> Int64 {
        try connection.samples.start(
            of: series, through: time.shifted(by: -1), unlinked, isLast: true) ?? .min
    }
}

/// The offset of each sample's own clock from UTC, by context.
final class ContextZones {
    private let connection: Connection
    private let otherwise: TimeZoneRules
    private var known: [Int64: Int64?] = [:]

    /// - Parameter otherwise: The zone for samples without one.
    init(_ connection: Connection, otherwise: TimeZoneRules) {
        self.connection = connection
        self.otherwise = otherwise
    }

    /// Returns the offset in microseconds.
    func shift(_ context: Int64, at start: Int64) throws(StoreError) -> Int64 {
        if let known = known[context] { return known ?? elsewhere(at: start) }
        let shift = try connection.series.context(context).zone.map { $0 * 1_000_000 }
        known[context] = .some(shift)
        return shift ?? elsewhere(at: start)
    }

    private func elsewhere(at start: Int64) -> Int64 {
        Int64(otherwise.offset(at: Instant(microseconds: start)).seconds) * 1_000_000
    }
}
