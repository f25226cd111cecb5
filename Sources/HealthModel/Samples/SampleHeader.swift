/// Where a sample's time comes from.
public enum TimeOrigin: UInt8, Hashable, Sendable, CaseIterable {
    /// The clock of the device or file.
    case device = 0
    /// The device's clock, corrected by a learned offset.
    case deviceCorrected = 1
    /// The hub's clock on arrival.
    case receipt = 2

    /// The name in a sample's line.
    public var name: String {
        switch self {
        case .device: "device"
        case .deviceCorrected: "device-corrected"
        case .receipt: "receipt"
        }
    }
}

/// The data that every sample has: its origin, its permanent identity, and its time.
public struct SampleHeader: Sendable {
    /// The series it belongs to.
    public var origin: Origin
    /// The UUID, which is derived from the measurement.
    public var identity: SampleIdentity
    /// The index among equal readings of its frame, the part of its identity that other fields do not contain. It is `nil` if its identity
    /// is from a record's id or a repair, or if the sample predates this field.
    public var ordinal: UInt32?
    /// The start in its identity, in microseconds. It differs from `start` if the source had a local time or its clock was corrected.
    public var nominalStart: Int64
    /// When it was measured, or began.
    public var start: Instant
    /// The end, equal to the start for an instantaneous sample.
    public var end: Instant
    /// The offset at the time of the reading, if known.
    public var zone: ZoneOffset?
    /// Whose clock the time is.
    public var timeOrigin: TimeOrigin
    /// The resolution of the source's time in seconds: 1 or finer, or 60 for minutes.
    public var timeResolution: Int32
    /// When it reached this machine.
    public var received: Instant
    /// The same for all samples of one frame (HealthKit's correlation).
    public var group: UInt64?
    /// What else is known of it.
    public var metadata: Metadata?
    /// The maker's id, if there is one.
    public var record: RecordIdentifier?
    /// The content beyond its number, or `nil` for quantities and categories.
    public var body: SampleBody?

    /// A header with its parts, without any checks.
    @inlinable public init(
        origin: Origin, identity: SampleIdentity, ordinal: UInt32? = nil, nominalStart: Int64, start: Instant, end: Instant,
        zone: ZoneOffset?, timeOrigin: TimeOrigin, timeResolution: Int32 = 1, received: Instant, group: UInt64? = nil,
        metadata: Metadata? = nil, record: RecordIdentifier? = nil, body: SampleBody? = nil
    ) {
        self.origin = origin
        self.identity = identity
        self.ordinal = ordinal
        self.nominalStart = nominalStart
        self.start = start
        self.end = end
        self.zone = zone
        self.timeOrigin = timeOrigin
        self.timeResolution = timeResolution
        self.received = received
        self.group = group
        self.metadata = metadata
        self.record = record
        self.body = body
    }
}
