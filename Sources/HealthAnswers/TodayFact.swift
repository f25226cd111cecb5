import HealthModel

/// A fact for the sentence at the top of Today. Each is made only under its conditions, so that no comparison is false.
///
///     TodayFact.slept(asleep, usual: usual)
package enum TodayFact: Hashable, Sendable {
    /// The time asleep last night in microseconds, and the difference to the usual one. The difference is 0 if it is as usual, and `nil` if
    /// too few nights are known.
    case slept(Int64, difference: Int64?)
    /// Sleep is recorded on other days, but not last night.
    case nightMissing
    /// A day's total at a time, and the usual one at the same time of day.
    case total(SampleType, Double, until: Instant, typical: Double?)
    /// A day's total that has reached its goal.
    case goalReached(SampleType, Double, goal: Double)
    /// Types whose value of today is in the usual range.
    case asUsual([SampleType])
    /// The change in a month, by the mornings of one scale.
    case mornings(SampleType, perMonth: Double)
    /// The average blood pressure of the mornings.
    case pressure(systolic: Double, diastolic: Double)
    /// Glucose was below a limit for a time in microseconds.
    case lowGlucose(limit: Double, Int64)
    /// A raised temperature, and the earlier one that it can be compared with.
    case temperature(Double, at: Instant, earlier: Earlier?)
    /// Nothing was recorded since a time, by the source with the latest reading.
    case silence(since: Instant, source: String)

    /// A reading that another one is compared with.
    package struct Earlier: Hashable, Sendable {
        /// The value in the canonical unit.
        package let value: Double
        package let time: Instant
    }

    package typealias Reading = (time: Instant, value: Double)

    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 60 * minute
    /// The highest number of facts.
    package static let maximum = 3

    /// The unusual facts, then those of the night and the day, then the usual one. At most ``maximum``.
    package static func chosen(unusual: [TodayFact?], of day: [TodayFact?], typical: TodayFact?) -> [TodayFact] {
        let main = day.compactMap { $0 }
        return Array(
            (unusual.compactMap { $0 } + main.prefix(2) + [typical].compactMap { $0 } + main.dropFirst(2)).prefix(maximum))
    }

    // MARK: The night

    /// A night that ended today. A difference below a quarter of an hour is as usual.
    package static func night(asleep: Int64, end: Instant, typical: TypicalRange?, midnight: Instant, now: Instant) -> TodayFact?
    {
        guard asleep > 0, end > midnight, end <= now else { return nil }
        let difference = typical.map { asleep - Int64($0.median) }
        return .slept(asleep, difference: difference.map { abs($0) < 15 * minute ? 0 : $0 })
    }

    /// A missing night, if it is after eleven o'clock and a night was recorded in the last week.
    package static func missingNight(lastEnd: Instant?, midnight: Instant, now: Instant) -> TodayFact? {
        guard let lastEnd, lastEnd <= midnight, now.microseconds - midnight.microseconds >= 11 * hour,
            midnight.microseconds - lastEnd.microseconds < 7 * 24 * hour
        else { return nil }
        return .nightMissing
    }

    // MARK: The day

    /// A day's total: its goal if it is reached, otherwise a comparison if there is one.
    package static func total(of type: SampleType, _ soFar: DaySoFar, goal: Double?) -> TodayFact? {
        guard soFar.sum > 0 else { return nil }
        if let goal, soFar.sum >= goal { return .goalReached(type, soFar.sum, goal: goal) }
        return .total(type, soFar.sum, until: soFar.until, typical: soFar.typical?.median)
    }

    package static func asUsual(_ values: [(type: SampleType, value: Double, typical: TypicalRange)]) -> TodayFact? {
        let types = values.filter { $0.typical.contains($0.value) }.map(\.type)
        return types.isEmpty ? nil : .asUsual(types)
    }

    /// The change in a month as the median of the slopes between any two mornings, which single readings do not move (Theil and Sen). It
    /// needs ten mornings.
    ///
    /// - Parameter days: A figure for each of the last 30 days, or `nil`.
    package static func trend(of type: SampleType, _ days: [Double?], leastChange: Double) -> TodayFact? {
        let points = days.enumerated().compactMap { day, value in value.map { (day: day, value: $0) } }
        guard points.count >= 10 else { return nil }
        var slopes: [Double] = []
        for (index, one) in points.enumerated() {
            for other in points[(index + 1)...] { slopes.append((other.value - one.value) / Double(other.day - one.day)) }
        }
        slopes.sort()
        let middle = slopes.count / 2
        let slope = slopes.count % 2 == 0 ? (slopes[middle - 1] + slopes[middle]) / 2 : slopes[middle]
        return abs(slope * 30) < leastChange ? nil : .mornings(type, perMonth: slope * 30)
    }

    /// The average of the mornings: of the last week if it has five, otherwise of the last 30 days if they have ten.
    ///
    /// - Parameter mornings: Each morning's average by the number of days before today.
    package static func pressure(_ mornings: [(daysAgo: Int, systolic: Double, diastolic: Double)]) -> TodayFact? {
        for (days, minimumCount) in [(7, 5), (30, 10)] {
            let found = mornings.filter { $0.daysAgo < days }
            guard found.count >= minimumCount else { continue }
            let count = Double(found.count)
            return .pressure(
                systolic: found.reduce(0) { $0 + $1.systolic } / count, diastolic: found.reduce(0) { $0 + $1.diastolic } / count)
        }
        return nil
    }

    // MARK: Unusual

    /// The longest time in a row that glucose was below 70 mg/dL since midnight. It needs three readings in a row, and readings for 70 % of
    /// the time.
    ///
    /// - Parameter readings: The readings of one sensor by time, in mg/dL.
    package static func lowGlucose(_ readings: [Reading], midnight: Instant, now: Instant) -> TodayFact? {
        let limit = GlucoseTimes.range.low
        let elapsed = now.microseconds - midnight.microseconds
        guard elapsed > 0, Double(times(of: readings, until: now).reduce(0, +)) >= GlucoseTimes.leastCoverage * Double(elapsed)
        else { return nil }
        var (streakLength, run): (Int64, [Instant]) = (0, [])
        func end(at time: Instant?) {
            if run.count >= 3, let first = run.first, let last = time ?? run.last {
                streakLength = max(streakLength, last.microseconds - first.microseconds)
            }
            run = []
        }
        for reading in readings {
            if let last = run.last, reading.time.microseconds - last.microseconds > pause { end(at: nil) }
            if reading.value < limit { run.append(reading.time) } else { end(at: reading.time) }
        }
        end(at: nil)
        return streakLength > 0 ? .lowGlucose(limit: limit, streakLength) : nil
    }

    /// The longest time in microseconds that a reading of glucose covers.
    private static let pause: Int64 = 20 * minute

    /// The time in microseconds that each reading covers.
    static func times(of readings: [Reading], until end: Instant) -> [Int64] {
        zip(readings, readings.dropFirst().map(\.time) + [end]).map { reading, next in
            max(0, min(next.microseconds - reading.time.microseconds, pause))
        }
    }

    /// A temperature of at least 38 °C in the last day, and the reading before it. A normal reading ends it.
    ///
    /// - Parameter earlier: The reading before it with the same thermometer at the same site. It is compared if it is at most six hours
    ///   older.
    package static func temperature(_ latest: Reading, earlier: Reading?, now: Instant) -> TodayFact? {
        guard latest.value >= fever, now.microseconds - latest.time.microseconds <= feverTime else { return nil }
        let compared = earlier.flatMap {
            latest.time.microseconds - $0.time.microseconds <= 6 * hour ? Earlier(value: $0.value, time: $0.time) : nil
        }
        return .temperature(latest.value, at: latest.time, earlier: compared)
    }

    /// The temperature in °C from which it is raised, and the time in microseconds after which a raised one is no longer shown.
    package static let (fever, feverTime): (Double, Int64) = (38, 24 * hour)

    /// The time since which nothing was recorded, if that was before today.
    package static func silence(latest: Instant?, source: String, midnight: Instant) -> TodayFact? {
        guard let latest, latest < midnight else { return nil }
        return .silence(since: latest, source: source)
    }
}
