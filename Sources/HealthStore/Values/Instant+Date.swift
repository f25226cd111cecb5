import FoundationEssentials
import HealthModel

extension Instant {
    /// Creates the instant of a date, rounded to the microsecond. Dates more than 292,000 years from 1970 are clamped.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        let limit = 9_223_372_036_854_774_784.0
        self.init(microseconds: microseconds.isNaN ? 0 : Int64(min(max(microseconds, -limit), limit)))
    }
}

extension Date {
    /// Creates the date of an instant. Foundation stores seconds as a `Double`, which has microsecond precision only for some
    /// thousand years around 2001.
    public init(_ instant: Instant) { self.init(timeIntervalSince1970: Double(instant.microseconds) / 1e6) }
}
