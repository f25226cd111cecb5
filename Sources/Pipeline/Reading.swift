import HealthModel

/// What a frame means: a numeral with a unit, at a time, of an origin. Nothing is converted yet and nothing decided.
public struct Reading: Sendable {
    /// Whose reading it is, of what, from where.
    public var origin: Origin
    /// As received.
    public var numeral: Numeral
    /// The unit it was received in.
    public var unit: Unit
    /// When it was measured.
    public var time: ReadingTime
    /// What the time was cut to, in seconds: 1 or finer, 60 where the source tells minutes.
    public var timeResolution: Int32
    /// Tells equal readings of one frame apart.
    public var ordinal: UInt32
    /// What it belongs together with.
    public var group: Group
    /// What else the source says of it.
    public var metadata: Metadata?
    /// The maker's own record id.
    public var record: RecordIdentifier?
    /// What it tells beyond its number, where it is neither a quantity nor a category. It has no part in identity.
    public var body: SampleBody?
    /// The source says this again in another place (HealthKit's export repeats a correlation's records): where it is stored already it
    /// is counted as skipped under this kind, not as a duplicate.
    public var repeats: SkipKind?
    /// Where in the source it stands.
    public var place: Place

    /// Which readings belong together.
    public enum Group: Hashable, Sendable {
        case none
        /// All readings of this frame.
        case frame
        /// All readings that name the same number.
        case shared(UInt64)
    }

    /// A reading of its parts.
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

/// A reading's time as the source gives it.
public enum ReadingTime: Hashable, Sendable {
    /// Instants; the offset where the source names one.
    case instants(start: Instant, end: Instant, offset: ZoneOffset?)
    /// A clock on the wall without a zone. `ticks` (seconds) come from a counter that no change of clocks touches, where the source has
    /// one.
    case wall(start: WallTime, end: WallTime, ticks: Int64?)
    /// When a record was added to where it comes from; its identity counts from `nominal`, which is the same wherever it is added.
    case added(Instant, nominal: Instant)
    /// A sample's own, as a line of ours tells them.
    case told(ToldTime)
    /// The source gives none.
    case receipt

    /// Its start alone.
    public var moment: ReadingTime {
        switch self {
        case .instants(let start, _, let offset): .instants(start: start, end: start, offset: offset)
        case .wall(let start, _, let ticks): .wall(start: start, end: start, ticks: ticks)
        case .added, .told, .receipt: self
        }
    }
}

/// The times of a sample that was told whole: those that it has, and those that its identity is made of.
public final class ToldTime: Hashable, Sendable {
    /// When it was measured, or began.
    public let start: Instant
    /// When it ended.
    public let end: Instant
    /// At the reading, where known.
    public let zone: ZoneOffset?
    /// What the identity is made of, in microseconds.
    public let nominal: ClosedRange<Int64>
    /// Whose clock the time is.
    public let origin: TimeOrigin

    /// Times of their parts.
    public init(start: Instant, end: Instant, zone: ZoneOffset?, nominal: ClosedRange<Int64>, origin: TimeOrigin) {
        (self.start, self.end, self.zone, self.nominal, self.origin) = (start, end, zone, nominal, origin)
    }

    public static func == (one: ToldTime, other: ToldTime) -> Bool {
        one.start == other.start && one.end == other.end && one.zone == other.zone && one.nominal == other.nominal
            && one.origin == other.origin
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(start)
        hasher.combine(nominal)
    }
}

/// What a frame without readings is counted as in the ledger, such as `workout` or `insulin`.
public struct SkipKind: Hashable, Sendable, CustomStringConvertible {
    /// As the ledger writes it.
    public let name: String
    /// A kind by its name.
    public init(_ name: String) { self.name = name }
    public var description: String { name }
}

/// Why a frame or a reading is not taken; the reason is a sentence that names no value.
public struct Refusal: Error, Hashable, Sendable {
    /// Why, without the value.
    public var reason: String
    /// Where in the source it stands.
    public var place: Place
    /// How many readings it refuses; one where the frame could not even be read.
    public var readings: Int

    /// Refuses what stands at a place.
    public init(_ reason: String, at place: Place, readings: Int = 1) {
        self.reason = reason
        self.place = place
        self.readings = readings
    }
}
