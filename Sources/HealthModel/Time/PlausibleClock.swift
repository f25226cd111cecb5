/// The times that a machine's clock can show while this version is in use.
///
/// A clock outside of them is not believed, even if the kernel calls it synchronised: after a power cut it shows a date of long ago, and a
/// wrong answer of a time server a date years ahead (NTP's first era ends in 2036).
public enum PlausibleClock {
    /// 2025-01-01, before the first release. A clock with an earlier time has not been set since the machine was switched on.
    public static let earliest = Instant(seconds: 1_735_689_600)
    /// 2035-01-01: eight years after the release. Move it forward with each release.
    public static let latest = Instant(seconds: 2_051_222_400)
    /// The longest step of a clock that was right, in microseconds. A machine is not asleep for a year.
    public static let maximumStep = 366 * Calendar.day

    /// Whether the clock of a machine can be right.
    public static func allows(_ now: Instant) -> Bool { now >= earliest && now < latest }

    /// Whether a clock that was believed can have been set by this many microseconds.
    public static func allows(step: Int64) -> Bool { step.magnitude <= UInt64(maximumStep) }
}
