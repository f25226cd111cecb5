import HealthModel

/// A clock that stands still until it is told to go on.
public struct FixedClock: Sendable {
    public private(set) var now: Instant

    /// 2026-11-20T06:31:00Z unless said otherwise.
    public init(_ now: Instant = Instant(seconds: 1_795_156_260)) { self.now = now }

    public mutating func advance(seconds: Int64) { now = Instant(microseconds: now.microseconds + seconds * 1_000_000) }
}
