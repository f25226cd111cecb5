import HealthModel

/// The range of valid times for measurements in a file. Samples and the points of their series have the same bounds.
public struct TimeBounds: Sendable {
    /// 1971-01-01. A device clock that was never set starts at 1970, and no sensor is that old.
    public static let earliest = Instant(seconds: 31_536_000)
    /// The latest valid time: one day after receipt, because clocks may be off by a day.
    public static func latest(received: Instant) -> Instant { Instant(microseconds: received.microseconds &+ Calendar.day) }

    /// The reason to refuse a time before ``earliest``.
    public static let tooEarly = "the time is before 1971: the clock was not set"
    /// The reason to refuse a time after ``latest(received:)``.
    public static let tooLate = "the time is in the future"

    private let latest: Int64

    /// - Parameter received: The time at which the file arrived.
    public init(received: Instant) { latest = Self.latest(received: received).microseconds }

    /// The reason why a time in microseconds since 1970 is invalid, or `nil` if it is valid.
    @inlinable public func fault(of time: Int64) -> String? {
        if time < Self.earliest.microseconds { return Self.tooEarly }
        return isAfterLatest(time) ? Self.tooLate : nil
    }

    @usableFromInline func isAfterLatest(_ time: Int64) -> Bool { time > latest }
}
