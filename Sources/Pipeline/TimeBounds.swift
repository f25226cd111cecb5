import HealthModel

/// Which times a measurement of a file can have. Samples and the points of their series go by the same bounds.
public struct TimeBounds: Sendable {
    /// A device clock that was never set starts at 1970; nobody's sensors are that old.
    public static let earliest = Instant(seconds: 31_536_000)
    /// Clocks may be off by a day.
    public static func latest(received: Instant) -> Instant { Instant(microseconds: received.microseconds &+ Calendar.day) }

    /// Why a time before ``earliest`` is refused.
    public static let tooEarly = "the time lies before 1971: the clock it comes from was not set"
    /// Why a time after ``latest(received:)`` is refused.
    public static let tooLate = "the time lies in the future"

    private let latest: Int64

    /// - Parameter received: when the file arrived.
    public init(received: Instant) { latest = Self.latest(received: received).microseconds }

    /// Why nothing was measured at a time, in microseconds since 1970; `nil` if something can have been.
    @inlinable public func fault(of time: Int64) -> String? {
        if time < Self.earliest.microseconds { return Self.tooEarly }
        return isAfterLatest(time) ? Self.tooLate : nil
    }

    @usableFromInline func isAfterLatest(_ time: Int64) -> Bool { time > latest }
}
