import HealthModel

/// A series of the store.
public struct SeriesDescription: Hashable, Sendable {
    /// The id of the series in this store.
    public var id: Int64
    /// The subject of its samples.
    public var person: String
    /// The type of its samples.
    public var type: SampleType
    /// The source's id.
    public var source: String
    /// The device's key, or empty if there is none.
    public var device: String
    /// The longest duration of any of its samples, in microseconds.
    public var maximumDuration: Int64
    /// The longest duration of those samples that are totals of an hour, a day, or longer, in microseconds. 0 without any.
    var maximumTotalDuration: Int64 = 0
}
