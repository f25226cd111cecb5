import HealthModel
import SampleStore

/// The visible part of a chart: an interval in milliseconds since 1970, and its width in pixels.
package struct ChartFrame: Hashable, Sendable {
    /// The start, in milliseconds since 1970.
    package let from: Int64
    /// The end, in milliseconds since 1970.
    package let to: Int64
    package let width: Int

    /// The maximum width in pixels.
    private static let widest = 4000
    private static let century: Int64 = 100 * 366 * 86_400_000
    /// The accepted times. Calendar computations and differences of times further away would overflow.
    private static let known = -100 * century...100 * century

    /// Returns `nil` if the interval is empty or longer than a century. The width is limited to what a screen can show.
    package init?(from: Int64, to: Int64, width: Int) {
        guard Self.known.contains(from), Self.known.contains(to), from < to, to - from <= Self.century else { return nil }
        (self.from, self.to, self.width) = (from, to, min(max(width, 50), Self.widest))
    }

    package var start: Instant { Instant(microseconds: from * 1000) }
    package var end: Instant { Instant(microseconds: to * 1000) }
    /// The last instant, since the end is not included.
    var last: Instant { Instant(microseconds: to * 1000 - 1) }
    /// The duration in milliseconds.
    package var span: Int64 { to - from }

    /// The shortest interval that is at least one pixel wide. A sum needs 8 pixels for its bar. It is at most an hour, or else of the
    /// calendar: a clock change would move intervals of several hours against the day.
    package func step(isSum: Bool) -> CalendarInterval {
        let pixels = isSum ? max(1, width / 7) : width
        let choices: [(Int64, String)] = [
            (60_000, "1m"), (120_000, "2m"), (300_000, "5m"), (600_000, "10m"), (900_000, "15m"), (1_800_000, "30m"),
            (3_600_000, "1h"), (86_400_000, "1d"), (604_800_000, "1w"), (2_592_000_000, "1mo"), (7_776_000_000, "3mo"),
        ]
        // Sums use intervals that people are used to, such as an hour or a day.
        let recommended = choices.filter { !isSum || !["2m", "10m"].contains($0.1) }
        let name = recommended.first { span / $0.0 <= Int64(pixels) }?.1 ?? "1y"
        return CalendarInterval(name) ?? .day
    }
}

/// The points of a quantity type's chart, in the type's canonical unit: single samples where a pixel is shorter than a minute, and
/// otherwise the statistics of calendar intervals.
package struct Chart: Sendable {
    /// A point. For a sum, all three values are the sum.
    package struct Point: Hashable, Sendable {
        /// The start and end in milliseconds since 1970.
        package var (start, end): (Int64, Int64)
        /// The minimum, maximum and average.
        package var (low, high, middle): (Double, Double, Double)
        /// The number of readings.
        package var count = 1
    }

    /// The points by start.
    package private(set) var points: [Point]
    package let isSum: Bool

    /// The width of a line in pixels, whatever the width of the screen is.
    private static let lineWidth = 800
    /// The maximum number of samples to read individually. If there are more, the chart uses statistics.
    private static let maximumSamples = 300_000

    /// Reads the points of a person's type.
    ///
    /// - Parameters:
    ///   - zone: The zone of days and longer intervals.
    ///   - priority: Source and device ids or names in the configured order, the best first.
    ///   - condition: The condition on the samples that count, or `nil` for all.
    package init(
        _ type: SampleType, person: String, in frame: ChartFrame, of store: SampleStore, zone: TimeZoneRules, priority: [String],
        where condition: SamplePredicate? = nil
    ) throws(StoreError) {
        let isSum = type.aggregation == .cumulative
        (self.isSum, points) = (isSum, [])
        // A line has the same points and gaps at each width.
        guard let frame = isSum ? frame : ChartFrame(from: frame.from, to: frame.to, width: Self.lineWidth) else { return }
        // Few samples are shown with their own times, whatever the scale is.
        let maximum = frame.span <= Int64(frame.width) * 60_000 ? Self.maximumSamples : frame.width / 2
        if !isSum, let single = try Self.single(type, person, condition, frame, store, maximum) {
            points = single
            return
        }
        let intervals = CalendarIntervals(frame.step(isSum: isSum), zone: zone)
        var query = StatisticsQuery(
            type: type, intervals: intervals, from: intervals.start(of: intervals.index(of: frame.start)),
            to: intervals.start(of: intervals.index(of: frame.last) + 1), priority: priority)
        query.person = person
        if let condition { query.predicate = condition }
        points = try store.calendarStatistics(query).compactMap { row in
            let (start, end) = (row.start.microseconds / 1000, row.end.microseconds / 1000)
            if isSum { return Point(start: start, end: end, low: row.sum, high: row.sum, middle: row.sum) }
            guard let low = row.minimum, let high = row.maximum, let average = row.average else { return nil }
            return Point(start: start, end: end, low: low, high: high, middle: average, count: row.count)
        }
    }

    /// Whether the last point is the average of a day that is not over. A line to it would show a false change.
    package func isUnfinished(at now: Instant) -> Bool {
        guard !isSum, let last = points.last else { return false }
        return last.end > now.microseconds / 1000 && last.end - last.start >= Self.hours20
    }

    /// No day is shorter, also if the clocks change.
    private static let hours20: Int64 = 20 * 3_600_000

    /// The longest time from the end of a point to the start of the next that the line bridges, in milliseconds: four times the usual time
    /// between readings.
    package var gap: Int64 {
        guard points.count > 2 else { return .max / 2 }
        let pauses = zip(points.dropFirst(), points).map { ($0.start - $1.start) / Int64(max($1.count, 1)) }.sorted()
        return max(4 * pauses[pauses.count / 2], 10_000)
    }

    /// The points for each pixel, or `nil` if there are too many samples.
    private static func single(
        _ type: SampleType, _ person: String, _ condition: SamplePredicate?, _ frame: ChartFrame, _ store: SampleStore,
        _ maximum: Int
    ) throws(StoreError) -> [Point]? {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [type], from: frame.start, to: frame.end, person: person, where: condition, limit: maximum + 1))
        defer { cursor.close() }
        var (points, count, weight, pixel) = ([Point](), 0, 0.0, Int64.min)
        while let sample = try cursor.next()?.sample {
            count += 1
            guard count <= maximum else { return nil }
            let (start, value) = (sample.start.microseconds / 1000, sample.value)
            let own = (start - frame.from) * Int64(frame.width) / frame.span
            if own != pixel || points.isEmpty {
                points.append(Point(start: start, end: start, low: value, high: value, middle: value))
                (pixel, weight) = (own, 1)
                continue
            }
            var last = points.removeLast()
            weight += 1
            last.count += 1
            (last.low, last.high, last.end) = (min(last.low, value), max(last.high, value), start)
            last.middle += (value - last.middle) / weight
            points.append(last)
        }
        return points
    }
}

extension Chart {
    /// The number of measurements of blood pressure up to which each is a point: five years with one a day.
    package static let maximumPressures = 2000

    /// The points of blood pressures: the diastolic pressure is the lowest value of a point, the systolic one the highest. Each point is one
    /// measurement. If there are more than ``maximumPressures``, each is the average of an interval.
    ///
    /// The parameters are those of ``init(_:person:in:of:zone:priority:where:)``. An interval is wide enough for a bar.
    package static func pressures(
        of person: String, in frame: ChartFrame, of store: SampleStore, zone: TimeZoneRules, priority: [String],
        where conditions: [SampleType: SamplePredicate] = [:]
    ) throws(StoreError) -> Chart {
        let readings = try BloodPressure.readings(of: person, from: frame.start, to: frame.end, in: store, where: conditions)
        // Each is one measurement, unless there are very many.
        if readings.count <= maximumPressures {
            return Chart(
                points: readings.map { time, pressure, _ in
                    let time = time.microseconds / 1000
                    return Point(
                        start: time, end: time, low: pressure.diastolic, high: pressure.systolic, middle: pressure.systolic)
                })
        }
        let intervals = CalendarIntervals(frame.step(isSum: true), zone: zone)
        func averages(_ type: SampleType) throws(StoreError) -> [Instant: Statistics] {
            var query = StatisticsQuery(
                type: type, intervals: intervals, from: intervals.start(of: intervals.index(of: frame.start)),
                to: intervals.start(of: intervals.index(of: frame.last) + 1), priority: priority)
            query.person = person
            if let condition = conditions[type] { query.predicate = condition }
            return Dictionary(try store.statistics(query).map { ($0.start, $0) }) { first, _ in first }
        }
        let lower = try averages(.bloodPressureDiastolic)
        let points = try averages(.bloodPressureSystolic).values.compactMap { row -> Point? in
            guard let high = row.average, let low = lower[row.start]?.average else { return nil }
            let (start, end) = (row.start.microseconds / 1000, row.end.microseconds / 1000)
            return Point(start: start, end: end, low: low, high: high, middle: high)
        }
        return Chart(points: points.sorted { $0.start < $1.start })
    }

    private init(points: [Point]) { (self.points, isSum) = (points, false) }

    /// The same points, some milliseconds later.
    package func moved(by milliseconds: Int64) -> Chart {
        var moved = self
        for index in points.indices {
            moved.points[index].start += milliseconds
            moved.points[index].end += milliseconds
        }
        return moved
    }
}
