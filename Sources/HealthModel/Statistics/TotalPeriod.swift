/// The period of a total, such as the steps of an hour or a day. Times are in microseconds.
///
/// A total does not show when within its period something happened. It begins and ends on a quarter of an hour in every time zone. Other long
/// samples are measured.
package enum TotalPeriod {
    /// The shortest period.
    package static let minimum: Int64 = 3_600_000_000
    private static let quarter: Int64 = 900_000_000
    /// The SQL condition for the columns `start` and `duration`.
    package static let condition = "duration >= \(minimum) AND start % \(quarter) = 0 AND duration % \(quarter) = 0"

    /// Whether a sample with this time is a total.
    @inline(__always)
    package static func contains(_ start: Int64, _ duration: Int64) -> Bool {
        duration >= minimum && start % quarter == 0 && duration % quarter == 0
    }
}
