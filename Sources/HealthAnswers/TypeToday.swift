import HealthModel
import SampleStore

/// What is known about one type of a person today: the latest sample, and how it compares with the days before.
package struct TypeToday: Sendable {
    package let type: SampleType
    package let latest: StoredSample
    /// One figure a day of the last seven days and of today, which is last, in the canonical unit: the sum for cumulative types, otherwise
    /// the average. Days without data are `nil`. For blood pressure it is the systolic pressure.
    package let week: [Double?]
    /// The diastolic pressures of the same days, for blood pressure.
    package let diastolicWeek: [Double?]
    /// For cumulative types, the total of the latest sample's day, in the canonical unit.
    package let total: Double?
    /// For cumulative types with data today, the total and the usual one at this time of day.
    package let soFar: DaySoFar?
    /// Today's lowest, highest, and average value, for other quantity types with data today.
    package let day: Statistics?
    /// A figure for each of the last 30 days, today last, from the readings of the latest sample's source and device at about its time of
    /// day, in the canonical unit. Empty for types that are not compared so.
    package let alike: [Double?]
    /// The usual value: for sleep the time asleep in microseconds, for a measurement the ``alike`` figures before today.
    package let typical: TypicalRange?
    /// The changes over a week and a month, for measurements of the body. Only readings of one source and device at about the same time
    /// of day are compared.
    package let changes: [ValueChange]
    /// The time of today in each range, for blood glucose that was measured for most of the time.
    package let glucose: GlucoseTimes?
    /// The last night, for sleep.
    package let night: Night?
    /// Today's naps, for sleep.
    package let naps: [Night]
    package let pressure: BloodPressure?
}

/// The change of a measurement over some days, from daily averages of comparable readings.
package struct ValueChange: Hashable, Sendable {
    /// The number of days, 7 or 30.
    package let days: Int
    /// The earlier figure, in the canonical unit.
    package let from: Double
    /// The latest figure, in the canonical unit.
    package let to: Double

    /// The compared distances, and how many days earlier the earlier figure may be.
    private static let distances = [(days: 7, slack: 7), (days: 30, slack: 15)]
    /// The number of days that ``changes(in:)`` needs.
    static let reach = 60

    /// The changes up to the last of some daily figures. A distance without an earlier figure is omitted.
    static func changes(in figures: [Double?]) -> [ValueChange] {
        guard let last = figures.lastIndex(where: { $0 != nil }), let to = figures[last] else { return [] }
        return distances.compactMap { days, slack in
            let earliest = max(0, last - days - slack)
            guard last - days >= earliest else { return nil }
            for index in (earliest...last - days).reversed() {
                if let from = figures[index] { return ValueChange(days: days, from: from, to: to) }
            }
            return nil
        }
    }
}
