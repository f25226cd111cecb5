/// The reason to distrust a device's timestamp, stored with the quarantined reading under the metadata key ``key``.
public enum ClockDoubt: String, Hashable, Sendable, CaseIterable {
    /// The clock was never compared. This case has no metadata. A comparison releases the reading.
    case notCompared = "not-compared"
    /// The date is one that devices are delivered with. A comparison releases the reading if the clock still runs from that date.
    case defaultDate = "default-date"
    /// The clock did not show the time of arrival, and was reset or cannot be read. Released if the arrival agrees with a clock's error.
    case unproven
    /// The place among other records shows that the timestamp is wrong. Released as ``unproven``.
    case order

    /// The local time occurs twice or never, because clocks were changed. Both possible times are in the metadata. A person decides.
    case ambiguous
    /// The hub's own clock was not set when the reading arrived, and the power failed before it was. A person decides.
    case hubClock = "hub-clock"

    /// The metadata key.
    public static let key = "clockDoubt"
    /// The metadata key of the possible times, separated by a comma.
    public static let timesKey = "possibleTimes"
}
