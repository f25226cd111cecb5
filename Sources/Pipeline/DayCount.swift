/// The number of samples of a type that start on a local day.
public struct DayCount: Hashable, Sendable {
    /// The name of the type.
    public var type: String
    /// The day, such as `2026-11-28`.
    public var day: String
    /// The number of samples.
    public var count: Int

    /// A count.
    public init(type: String, day: String, count: Int) { (self.type, self.day, self.count) = (type, day, count) }
}

/// An exporter whose target can count this store's samples by type and day.
public protocol DayCountingExporter: ComparableExporter {
    /// Returns the counts in any order, without zeros.
    ///
    /// - Parameter zone: A name of the tz database, or an offset such as `+01:00`.
    func dayCounts(zone: String) throws(DeliveryError) -> [DayCount]
}
