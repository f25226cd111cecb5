import HealthModel
import SampleStore

/// The shares of the time in which glucose was very low, low, in range, high, and very high. A reading counts until the next one, so that
/// frequent readings do not count more than others.
///
///     GlucoseTimes(readings, from: midnight, until: now)?.inRange
///
/// Source: Battelino et al., Clinical Targets for Continuous Glucose Monitoring Data Interpretation: Recommendations From the
/// International Consensus on Time in Range, Diabetes Care 2019;42(8):1593-1603.
package struct GlucoseTimes: Hashable, Sendable {
    /// The shares of the covered time, from very low to very high.
    package let shares: [Double]
    /// The share of the time that readings cover.
    package let coverage: Double

    /// The share of the time between 70 and 180 mg/dL.
    package var inRange: Double { shares[2] }

    /// The range in mg/dL, 3.9 to 10.0 mmol/L.
    package static let range = (low: 70.0, high: 180.0)
    /// The limits of very low and of very high in mg/dL.
    private static let (lowest, highest) = (54.0, 250.0)
    /// The least share of the time that readings have to cover.
    package static let leastCoverage = 0.7

    /// Returns `nil` if readings cover too little of the time.
    ///
    /// - Parameter readings: The readings by time, in mg/dL.
    package init?(_ readings: [TodayFact.Reading], from start: Instant, until end: Instant) {
        let elapsed = end.microseconds - start.microseconds
        guard elapsed > 0 else { return nil }
        var times = [Int64](repeating: 0, count: 5)
        for (reading, time) in zip(readings, TodayFact.times(of: readings, until: end)) {
            times[Self.index(of: reading.value)] += time
        }
        let covered = times.reduce(0, +)
        coverage = Double(covered) / Double(elapsed)
        guard coverage >= Self.leastCoverage else { return nil }
        shares = times.map { Double($0) / Double(covered) }
    }

    private static func index(of value: Double) -> Int {
        value < lowest ? 0 : value < range.low ? 1 : value <= range.high ? 2 : value <= highest ? 3 : 4
    }

    /// A person's readings by time, in mg/dL.
    ///
    /// - Parameter condition: The condition on the samples that count, or `nil` for all.
    package static func readings(
        of person: String, from start: Instant, to end: Instant, in store: SampleStore, where condition: SamplePredicate? = nil
    ) throws(StoreError) -> [TodayFact.Reading] {
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [.bloodGlucose], from: start, to: end, person: person, where: condition))
        defer { cursor.close() }
        var readings: [TodayFact.Reading] = []
        while let sample = try cursor.next()?.sample { readings.append((sample.start, sample.value)) }
        return readings
    }
}
