import Glibc
import HealthModel

/// A query as the gathering needs it: looked up once, not for each sample.
struct StatisticsPlan {
    let style: AggregationStyle
    let ranges: [ValueRange]
    let hasPercentiles: Bool
    /// Neither ranges nor percentiles.
    let isPlain: Bool
    let isCumulative: Bool
    let grid: StatisticsGrid
    let usesSampleZones: Bool
    let bySource: Bool
    let pauses: [(start: Int64, end: Int64)]

    init(_ query: StatisticsQuery, piece: Int64? = nil) {
        style = query.type.aggregation
        ranges = query.ranges
        hasPercentiles = query.options.contains(.percentiles)
        isPlain = ranges.isEmpty && !hasPercentiles
        isCumulative = style == .cumulative
        usesSampleZones = query.usesSampleZones
        bySource = query.bySource
        pauses = query.without
        grid = StatisticsGrid(intervals: query.usesSampleZones ? query.intervals.onTheWall : query.intervals, piece: piece)
    }

    /// Whether values count for the time that they held.
    var weighsTime: Bool { style == .discreteTemporallyWeighted || style == .discreteEquivalentContinuousLevel }

    /// What is averaged: of a level, which is logarithmic, the power.
    @inline(__always)
    func averaged(_ value: Double) -> Double { style == .discreteEquivalentContinuousLevel ? pow(10, value / 10) : value }
}

/// The intervals of a query, and the pieces that long ones are gathered in where single pieces are to be gathered again.
struct StatisticsGrid {
    let intervals: CalendarIntervals
    /// The length of a piece in microseconds; the last one of an interval is shorter.
    let piece: Int64?

    /// One piece of one interval.
    struct Cell: Hashable {
        var index: Int
        var piece: Int
    }

    /// The cell that an instant lies in, and its borders.
    func cell(at time: Int64) -> (cell: Cell, low: Int64, high: Int64) {
        let index = intervals.index(of: Instant(microseconds: time))
        let start = intervals.start(of: index).microseconds
        let end = intervals.start(of: index + 1).microseconds
        guard let piece, end - start > piece else { return (Cell(index: index, piece: 0), start, end) }
        let number = (time - start) / piece
        return (Cell(index: index, piece: Int(number)), start + number * piece, min(end, start + (number + 1) * piece))
    }
}

/// What statistics are gathered by.
struct StatisticsKey: Hashable {
    var cell: StatisticsGrid.Cell
    var subject: String
    var source: String?
    /// Which case of a category.
    var value: Int?
}

/// How far a gathering looks, on the clock of its grid; microseconds.
struct StatisticsWindow {
    var from: Int64
    var to: Int64

    /// Further than any zone is from UTC, where each sample's own decides.
    static let zones = Calendar.day

    init(from: Int64, to: Int64) { (self.from, self.to) = (from, to) }

    /// Without overflow: what is open stays open.
    static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        if one == .max || one == .min { return one }
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// What a query asks for, on the clock of its grid.
    init(_ query: StatisticsQuery) {
        func time(_ instant: Instant) -> Int64 {
            guard query.usesSampleZones else { return instant.microseconds }
            return instant.wallTime(at: query.intervals.zone.offset(at: instant)).microseconds
        }
        from = query.from.map(time) ?? .min
        to = query.to.map(time) ?? .max
    }

    /// The part of it between two times.
    func clipped(_ low: Int64, _ high: Int64) -> StatisticsWindow {
        StatisticsWindow(from: max(from, low), to: min(to, high))
    }
}
