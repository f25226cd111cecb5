import Glibc
import HealthModel

/// The properties of a query that are determined once and not for each sample.
struct StatisticsPlan {
    let style: AggregationStyle
    let ranges: [ValueRange]
    let hasPercentiles: Bool
    /// Whether there are neither ranges nor percentiles.
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

    /// Whether values are weighted by the time that they held.
    var weighsTime: Bool { style == .discreteTemporallyWeighted || style == .discreteEquivalentContinuousLevel }

    /// Returns the value that is averaged. For a level, which is logarithmic, it is the power.
    @inline(__always)
    func averaged(_ value: Double) -> Double { style == .discreteEquivalentContinuousLevel ? pow(10, value / 10) : value }
}

/// The intervals of a query, and the pieces of long intervals, which can be recomputed individually.
struct StatisticsGrid {
    let intervals: CalendarIntervals
    /// The length of a piece in microseconds. The last piece of an interval may be shorter.
    let piece: Int64?

    /// A piece of an interval.
    struct Cell: Hashable {
        var index: Int
        var piece: Int
    }

    /// Returns the cell that contains an instant, and its borders.
    func cell(at time: Int64) -> (cell: Cell, low: Int64, high: Int64) {
        let index = intervals.index(of: Instant(microseconds: time))
        let start = intervals.start(of: index).microseconds
        let end = intervals.start(of: index + 1).microseconds
        guard let piece, end - start > piece else { return (Cell(index: index, piece: 0), start, end) }
        let number = (time - start) / piece
        return (Cell(index: index, piece: Int(number)), start + number * piece, min(end, start + (number + 1) * piece))
    }
}

/// The key by which statistics are accumulated.
struct StatisticsKey: Hashable {
    var cell: StatisticsGrid.Cell
    var person: String
    var source: String?
    /// The value of a category.
    var value: Int?
}

/// A time range in microseconds of the grid's clock.
struct StatisticsWindow {
    var from: Int64
    var to: Int64

    /// An upper bound for the offset of any zone from UTC, if each sample's own zone is used.
    static let zones = Calendar.day

    init(from: Int64, to: Int64) { (self.from, self.to) = (from, to) }

    /// The time range of a query on the grid's clock.
    init(_ query: StatisticsQuery) {
        func time(_ instant: Instant) -> Int64 {
            guard query.usesSampleZones else { return instant.microseconds }
            return instant.wallTime(at: query.intervals.zone.offset(at: instant)).microseconds
        }
        from = query.from.map(time) ?? .min
        to = query.to.map(time) ?? .max
    }

    /// Returns the part between two times.
    func clipped(_ low: Int64, _ high: Int64) -> StatisticsWindow {
        StatisticsWindow(from: max(from, low), to: min(to, high))
    }
}
