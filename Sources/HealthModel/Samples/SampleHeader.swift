/// Where a sample's time comes from.
public enum TimeOrigin: UInt8, Hashable, Sendable, CaseIterable {
    /// The device or file said it.
    case device = 0
    /// The device said it, and its clock is known to be off by an offset that was learned.
    case deviceCorrected = 1
    /// The hub's clock on arrival.
    case receipt = 2

    /// As it stands in a sample's line.
    public var name: String {
        switch self {
        case .device: "device"
        case .deviceCorrected: "device-corrected"
        case .receipt: "receipt"
        }
    }
}

/// What every sample has, whatever its kind: where it comes from, what it is called for ever, and when it was.
public struct SampleHeader: Sendable {
    /// The series it belongs to.
    public var origin: Origin
    /// The UUID, which follows from what was measured.
    public var identity: SampleIdentity
    /// Which of the equal readings of its frame it is, the part of its identity that no other field tells; `nil` where its identity comes
    /// from a record's id or a repair, or where it was stored before this was kept.
    public var ordinal: UInt32?
    /// The start that the identity was computed from, in microseconds; differs from `start` where the source gave a local time or
    /// its clock was corrected.
    public var nominalStart: Int64
    /// When it was measured, or began.
    public var start: Instant
    /// When it ended; the start, where it is a moment's.
    public var end: Instant
    /// At the reading, where known.
    public var zone: ZoneOffset?
    /// Whose clock the time is.
    public var timeOrigin: TimeOrigin
    /// What the time was cut to where it comes from, in seconds: 1 or finer, 60 where minutes were told.
    public var timeResolution: Int32
    /// When it reached this machine.
    public var received: Instant
    /// The same for all samples of one frame (HealthKit's correlation).
    public var group: UInt64?
    /// What else is known of it.
    public var metadata: Metadata?
    /// The maker's own id, where it gave one.
    public var record: RecordIdentifier?
    /// What it tells beyond its number; `nil` for quantities and categories.
    public var body: SampleBody?

    /// Puts a header together of its parts; nothing is checked here.
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
