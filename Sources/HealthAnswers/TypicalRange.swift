import HealthModel

/// The usual figure of a day: the median of comparable days, and the range of the middle half of them.
///
///     Usual([7.5, 8, ...])?.median
package struct TypicalRange: Hashable, Sendable {
    /// The number of days before today that are compared.
    package static let reach = 30
    /// The lowest number of comparable days.
    package static let minimumCount = 14

    package let median: Double
    /// The lower end of the middle half.
    package let low: Double
    /// The upper end of the middle half.
    package let high: Double
    package let count: Int

    /// Returns `nil` for fewer than ``minimumCount`` days.
    package init?(_ values: [Double]) {
        guard values.count >= Self.minimumCount else { return nil }
        let sorted = values.sorted()
        func quantile(_ share: Double) -> Double {
            let place = share * Double(sorted.count - 1)
            let (below, rest) = (Int(place), place - place.rounded(.down))
            return below + 1 < sorted.count ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[below]
        }
        (median, low, high, count) = (quantile(0.5), quantile(0.25), quantile(0.75), values.count)
    }

    /// Whether a figure is in the middle half.
    package func contains(_ value: Double) -> Bool { low <= value && value <= high }
}

extension CalendarIntervals {
    /// The weekday of a day by its number, 0 for Monday.
    package func weekday(of day: Int) -> Int {
        let start = start(of: day)
        // 1970-01-01 was a Thursday.
        let days = start.wallTime(at: zone.offset(at: start)).microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
            .quotient
        return Int((days + 3).flooredQuotientAndRemainder(dividingBy: 7).remainder)
    }

    /// Whether a day by its number is a Saturday or a Sunday.
    func isWeekend(_ day: Int) -> Bool { weekday(of: day) > 4 }
}
