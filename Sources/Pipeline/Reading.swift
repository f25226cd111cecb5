import HealthModel

/// The meaning of a frame: a numeral with a unit, a time and an origin. Nothing is converted or decided yet.
public struct Reading: Sendable {
    /// The person, type and source of the reading.
    public var origin: Origin
    /// The numeral as received.
    public var numeral: Numeral
    /// The unit as received.
    public var unit: Unit
    /// The time of the measurement.
    public var time: ReadingTime
    /// The resolution of the time in seconds: 1 or finer, or 60 if the source has only minutes.
    public var timeResolution: Int32
    /// Distinguishes equal readings of one frame.
    public var ordinal: UInt32
    /// The group of related readings.
    public var group: Group
    /// Other facts from the source.
    public var metadata: Metadata?
    /// The maker's own record id.
    public var record: RecordIdentifier?
    /// The content beyond the number, if the reading is neither a quantity nor a category. It is not part of the identity.
    public var body: SampleBody?
    /// The kind under which the reading counts as skipped, and not as a duplicate, if it is already stored. Set if the source contains it
    /// twice (HealthKit's export repeats a correlation's records).
    public var repeats: SkipKind?
    /// The place in the source.
    public var place: Place

    /// The readings that belong together.
    public enum Group: Hashable, Sendable {
        case none
        /// All readings of this frame.
        case frame
        /// All readings with the same number.
        case shared(UInt64)
    }

    /// A reading with its parts.
    @inlinable public init(
        origin: Origin, numeral: Numeral, unit: Unit, time: ReadingTime, ordinal: UInt32 = 0, group: Group = .none,
        metadata: Metadata? = nil, record: RecordIdentifier? = nil, body: SampleBody? = nil, repeats: SkipKind? = nil,
        timeResolution: Int32 = 1, place: Place
    ) {
        self.origin = origin
        self.numeral = numeral
        self.unit = unit
        self.time = time
        self.timeResolution = timeResolution
        self.ordinal = ordinal
        self.group = group
        self.metadata = metadata
        self.record = record
        self.body = body
        self.repeats = repeats
        self.place = place
    }
}

/// A reading's time, as received from the source.
public enum ReadingTime: Hashable, Sendable {
    /// Instants, with the offset if the source has one.
    case instants(start: Instant, end: Instant, offset: ZoneOffset?)
    /// A wall-clock time without a zone. `ticks` (seconds) come from a counter that clock changes do not affect, if the source has one.
    case wall(start: WallTime, end: WallTime, ticks: Int64?)
    /// The time at which a record was added to its source. Its identity uses `nominal`, which is the same in every source.
    case added(Instant, nominal: Instant)
    /// A sample's own times, as read from one of our lines.
    case complete(CompleteTime)
    /// The source has no time.
    case receipt

    /// The time reduced to its start.
    public var moment: ReadingTime {
        switch self {
        case .instants(let start, _, let offset): .instants(start: start, end: start, offset: offset)
        case .wall(let start, _, let ticks): .wall(start: start, end: start, ticks: ticks)
        case .added, .complete, .receipt: self
        }
    }
}

/// The times of a sample that was received complete: its own, and the nominal ones in its identity.
public final class CompleteTime: Hashable, Sendable {
    /// The start of the measurement.
    public let start: Instant
    /// The end of the measurement.
    public let end: Instant
    /// The offset at the time of the reading, if known.
    public let zone: ZoneOffset?
    /// The times in the identity, in microseconds.
    public let nominal: ClosedRange<Int64>
    /// The clock that the time is from.
    public let origin: TimeOrigin

    /// Times with their parts.
    public init(start: Instant, end: Instant, zone: ZoneOffset?, nominal: ClosedRange<Int64>, origin: TimeOrigin) {
        (self.start, self.end, self.zone, self.nominal, self.origin) = (start, end, zone, nominal, origin)
    }

    public static func == (one: CompleteTime, other: CompleteTime) -> Bool {
        one.start == other.start && one.end == other.end && one.zone == other.zone && one.nominal == other.nominal
            && one.origin == other.origin
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(start)
        hasher.combine(nominal)
    }
}

/// The name under which the ledger counts a frame without readings, such as `workout` or `insulin`.
public struct SkipKind: Hashable, Sendable, CustomStringConvertible {
    /// The name in the ledger.
    public let name: String
    /// A kind with its name.
    public init(_ name: String) { self.name = name }
    public var description: String { name }
}

/// The refusal of a frame or a reading. The reason is a sentence that contains no value.
public struct Refusal: Error, Hashable, Sendable {
    /// The reason, without the value.
    public var reason: String
    /// The place in the source.
    public var place: Place
    /// The number of refused readings, or one if the frame could not be read at all.
    public var readings: Int

    /// The maximum length of a reason in bytes. A reason may repeat input of any length, and the ledger stores it.
    public static let maximumReasonLength = 1000

    /// Refuses the data at a place.
    public init(_ reason: String, at place: Place, readings: Int = 1) {
        self.reason = reason.excerpt(maximum: Self.maximumReasonLength)
        self.place = place
        self.readings = readings
    }
}
