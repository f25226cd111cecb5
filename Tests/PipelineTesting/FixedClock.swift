import HealthModel

/// A clock that advances only when the test advances it.
package struct FixedClock: Sendable {
    package private(set) var now: Instant

    /// The default is 2026-11-20T06:31:00Z.
    package init(_ now: Instant = Instant(seconds: 1_795_156_260)) { self.now = now }

    package mutating func advance(seconds: Int64) { now = Instant(microseconds: now.microseconds + seconds * 1_000_000) }
}
