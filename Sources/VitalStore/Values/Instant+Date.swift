import FoundationEssentials
import HealthModel

extension Instant {
    /// The instant of a date, to the microsecond next to it; a date beyond 292,000 years from 1970 is the last that there is.
    public init(_ date: Date) {
        let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
        let limit = 9_223_372_036_854_774_784.0
        self.init(microseconds: microseconds.isNaN ? 0 : Int64(min(max(microseconds, -limit), limit)))
    }
}

extension Date {
    /// The date of an instant; Foundation keeps seconds as a `Double`, which has microseconds for some thousand years around 2001.
    public init(_ instant: Instant) { self.init(timeIntervalSince1970: Double(instant.microseconds) / 1e6) }
}
