import HealthModel
import Pipeline
import SampleStore

extension DailyFigures {
    /// The maximum difference between the times of day of readings that are compared, in microseconds.
    private static let sameHours: Int64 = 3 * 3_600_000_000

    /// The daily averages of the readings that can be compared with a reading: those of its source and device, at about its time of day.
    /// A morning is compared with mornings, and a scale with itself.
    ///
    /// - Parameters:
    ///   - count: The number of days.
    ///   - instant: A time on the last day.
    /// - Returns: The averages in the canonical unit, the last day last. Days without such a reading are `nil`.
    func figures(alike sample: Sample, count: Int, through instant: Instant) throws(StoreError) -> [Double?] {
        guard count > 0 else { return [] }
        let last = days.index(of: instant)
        let time = clock(sample.start)
        let isOfSource = SamplePredicate.comparison(.source(.id), .equal, .text(sample.origin.source.id))
        let cursor = try store.samples.cursor(
            matching: SampleQuery(
                types: [sample.origin.type], from: days.start(of: last - count + 1), to: days.start(of: last + 1),
                person: sample.origin.person, where: .and([isOfSource] + [conditions[sample.origin.type]].compactMap { $0 })))
        defer { cursor.close() }
        var sums = [(sum: Double, count: Int)](repeating: (0, 0), count: count)
        while let other = try cursor.next()?.sample {
            guard other.origin.device?.key == sample.origin.device?.key else { continue }
            let difference = abs(clock(other.start) - time)
            let index = days.index(of: other.start) - last + count - 1
            guard min(difference, Calendar.day - difference) <= Self.sameHours, sums.indices.contains(index) else { continue }
            sums[index] = (sums[index].sum + other.value, sums[index].count + 1)
        }
        return sums.map { $0.count == 0 ? nil : $0.sum / Double($0.count) }
    }

    /// The time since midnight, in microseconds.
    private func clock(_ instant: Instant) -> Int64 {
        instant.microseconds - days.start(of: days.index(of: instant)).microseconds
    }
}
