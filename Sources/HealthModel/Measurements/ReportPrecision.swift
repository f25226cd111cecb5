/// How precisely a report describes its measurement. The most precise report becomes the sample, whichever arrived first.
///
/// If two reports are equally precise, the names of source and device decide, and then the identity. These are the same on every hub.
public struct ReportPrecision: Hashable, Comparable, Sendable {
    /// The resolution of the time in seconds.
    public var timeResolution: Int32
    /// Whether the time is a time of arrival.
    public var isArrival: Bool
    /// One step of the numeral's last digit, in the canonical unit.
    public var valueResolution: Double
    /// The identifier of the source.
    public var source: String
    /// The key of the device, empty if it is unknown.
    public var device: String
    public var identity: SampleIdentity

    /// A precision with its parts.
    public init(
        timeResolution: Int32, isArrival: Bool, valueResolution: Double, source: String, device: String, identity: SampleIdentity
    ) {
        self.timeResolution = timeResolution
        self.isArrival = isArrival
        self.valueResolution = valueResolution
        self.source = source
        self.device = device
        self.identity = identity
    }

    /// Smaller means more precise.
    public static func < (one: ReportPrecision, other: ReportPrecision) -> Bool {
        if one.timeResolution != other.timeResolution { return one.timeResolution < other.timeResolution }
        if one.isArrival != other.isArrival { return other.isArrival }
        if one.valueResolution != other.valueResolution { return one.valueResolution < other.valueResolution }
        if one.source != other.source { return one.source < other.source }
        if one.device != other.device { return one.device < other.device }
        return (one.identity.high, one.identity.low) < (other.identity.high, other.identity.low)
    }
}
