import HealthModel
import Pipeline

/// The locations of one route, packed.
struct RouteLocations {
    var points: Points
    var content: PackedContent
    /// The first time and the last one.
    var start: Instant
    var end: Instant
    /// Made of the first and the last place: tells routes apart that nothing else does.
    var mark: UInt32
}

/// Packs the locations of a route as they come, whichever format they are from.
///
/// - A location whose time cannot be (``TimeBounds``) is refused by itself.
/// - A location of the same time and place is stored once: laps share their borders, and some files repeat the whole track in each lap.
struct RoutePoints {
    /// Where and when, in the columns of ``WorkoutRoute``.
    struct Location {
        /// In microseconds since 1970; `nil` if the file tells where, and not when.
        var time: Int64?
        var latitude: Numeral
        var longitude: Numeral
        var altitude: Numeral?
        var horizontalAccuracy: Numeral?
        var verticalAccuracy: Numeral?
        var course: Numeral?
        var speed: Numeral?
    }

    /// What became of a location.
    enum Outcome: Equatable {
        case added
        /// The same time and place is there already.
        case repeated
        /// It cannot be.
        case impossible(String)
    }

    private var writer = PointsWriter(columns: WorkoutRoute.columns)
    private let bounds: TimeBounds
    /// What the times are counted from; of a file by itself its first time.
    private var base: Int64?
    private var first: Int64?
    private var last: Int64 = .min
    private var marks: (first: UInt64, last: UInt64) = (0, 0)
    private var seen = SeenPlaces()

    /// - Parameters:
    ///   - base: the route's start, where something else than its locations tells it.
    ///   - received: when the file arrived.
    init(base: Instant? = nil, received: Instant) {
        self.base = base?.microseconds
        bounds = TimeBounds(received: received)
    }

    /// How many locations there are.
    var count: Int { writer.count }

    /// - Throws: ``ContentError/tooLong``.
    mutating func append(_ location: Location) throws(ContentError) -> Outcome {
        if let time = location.time {
            if let fault = bounds.fault(of: time) { return .impossible(fault) }
            guard seen.insert(time, location.latitude, location.longitude) else { return .repeated }
            if base == nil { base = time }
            first = first ?? time
            last = max(last, time)
        }
        try writer.append(number: location.time.map { Numeral(coefficient: $0 &- (base ?? $0)) })
        try writer.append(number: location.latitude)
        try writer.append(number: location.longitude)
        try writer.append(number: location.altitude)
        try writer.append(number: location.horizontalAccuracy)
        try writer.append(number: location.verticalAccuracy)
        try writer.append(number: location.course)
        try writer.append(number: location.speed)
        return .added
    }

    /// Marks the location that was added last by the texts of its place. The first and the last of a route have to be marked.
    mutating func mark(_ latitude: UnsafeRawBufferPointer, _ longitude: UnsafeRawBufferPointer) {
        let mark = FNV.hash(latitude) &* 31 &+ FNV.hash(longitude)
        if writer.count == 1 { marks.first = mark }
        marks.last = mark
    }

    /// The locations, to which nothing may be added any more; `nil` if none has a time.
    mutating func end() throws(ContentError) -> RouteLocations? {
        guard let first else { return nil }
        let (points, content) = try writer.end()
        return RouteLocations(
            points: points, content: content, start: Instant(microseconds: first), end: Instant(microseconds: last),
            mark: UInt32(truncatingIfNeeded: marks.first &* 31 &+ marks.last) & 0x7FFF_FFFF)
    }
}

/// Which places a route has at which times.
private struct SeenPlaces {
    private struct Key: Hashable {
        var time: Int64
        var place: UInt64
    }

    /// Places that are compared with: more than a point a second for five days.
    private static let maximum = 1 << 19

    private var latest = Int64.min
    /// In their order, which is that of their times as long as there is no ``all``.
    private var list: [Key] = []
    /// Needed once a time is earlier than one before it.
    private var all: Set<Key>?

    /// - Returns: whether it is new.
    mutating func insert(_ time: Int64, _ latitude: Numeral, _ longitude: Numeral) -> Bool {
        let place = latitude.doubleValue.bitPattern &* 0x9E37_79B9_7F4A_7C15 ^ longitude.doubleValue.bitPattern
        let key = Key(time: time, place: place)
        if time < latest, all == nil { all = Set(list) }
        if all != nil {
            guard all?.contains(key) == false else { return false }
            if all?.count ?? 0 < Self.maximum { all?.insert(key) }
        } else {
            if time == latest, list.reversed().prefix(while: { $0.time == time }).contains(key) { return false }
            if list.count < Self.maximum { list.append(key) }
        }
        latest = max(latest, time)
        return true
    }
}
