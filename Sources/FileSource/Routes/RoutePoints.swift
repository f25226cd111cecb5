import HealthModel
import Pipeline

struct RouteLocations {
    var points: Points
    var content: PackedContent
    /// The earliest and the latest time.
    var start: Instant
    var end: Instant
    /// A hash of the first and the last position. It distinguishes routes that are otherwise equal.
    var mark: UInt32
}

/// Packs the locations of a route in any format.
///
/// - A location with an impossible time (``TimeBounds``) is rejected alone.
/// - Locations with equal time and position are stored once. Laps share their ends, and some files repeat the whole track in each lap.
struct RoutePoints {
    /// A position and time, with the columns of ``WorkoutRoute``.
    struct Location {
        /// In microseconds since 1970, or `nil` if the file contains no time.
        var time: Int64?
        var latitude: Numeral
        var longitude: Numeral
        var altitude: Numeral?
        var horizontalAccuracy: Numeral?
        var verticalAccuracy: Numeral?
        var course: Numeral?
        var speed: Numeral?
    }

    /// The result of adding a location.
    enum Outcome: Equatable {
        case added
        /// A location with the same time and position exists already.
        case repeated
        case impossible(String)
    }

    private var writer = PointsWriter(columns: WorkoutRoute.columns)
    private let bounds: TimeBounds
    /// The reference of all times. If it is not given, it is the first time.
    private var base: Int64?
    private var first: Int64?
    private var last: Int64 = .min
    private var marks: (first: UInt64, last: UInt64) = (0, 0)
    private var seen = SeenPlaces()

    /// - Parameters:
    ///   - base: the route's start, if it is known from elsewhere.
    ///   - received: the time when the file arrived.
    init(base: Instant? = nil, received: Instant) {
        self.base = base?.microseconds
        bounds = TimeBounds(received: received)
    }

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

    /// Marks the last added location by the texts of its position. The first and the last location of a route must be marked.
    mutating func mark(_ latitude: UnsafeRawBufferPointer, _ longitude: UnsafeRawBufferPointer) {
        let mark = StableHash.hash(latitude) &* 31 &+ StableHash.hash(longitude)
        if writer.count == 1 { marks.first = mark }
        marks.last = mark
    }

    /// Ends the route and returns its locations, or `nil` if none has a time. Nothing may be added afterwards.
    mutating func end() throws(ContentError) -> RouteLocations? {
        guard let first else { return nil }
        let (points, content) = try writer.end()
        return RouteLocations(
            points: points, content: content, start: Instant(microseconds: first), end: Instant(microseconds: last),
            mark: UInt32(truncatingIfNeeded: marks.first &* 31 &+ marks.last) & 0x7FFF_FFFF)
    }
}

/// The positions and times of a route.
struct SeenPlaces {
    private struct Key: Hashable {
        var time: Int64
        var place: UInt64
    }

    /// The maximum number of positions to compare with, more than one per second for five days.
    private static let maximum = 1 << 19
    /// The maximum number of positions at one time that are compared one by one. A receiver reports one, and a crafted file any number.
    static let maximumAtOneTime = 32

    private var latest = Int64.min
    /// The positions in order, which is that of their times while ``all`` is `nil`.
    private var list: [Key] = []
    /// Used once a time is earlier than a previous one, or has many positions.
    private var all: Set<Key>?
    /// The number of positions at the latest time.
    private var atLatest = 0
    /// The number of comparisons with positions in the list.
    private(set) var comparisons = 0

    /// - Returns: whether it is new.
    mutating func insert(_ time: Int64, _ latitude: Numeral, _ longitude: Numeral) -> Bool {
        let place = latitude.doubleValue.bitPattern &* 0x9E37_79B9_7F4A_7C15 ^ longitude.doubleValue.bitPattern
        let key = Key(time: time, place: place)
        atLatest = time == latest ? atLatest + 1 : 1
        if all == nil, time < latest || atLatest > Self.maximumAtOneTime { all = Set(list) }
        if all != nil {
            guard all?.contains(key) == false else { return false }
            if all?.count ?? 0 < Self.maximum { all?.insert(key) }
        } else {
            for other in list.reversed() {
                guard other.time == time else { break }
                comparisons += 1
                if other == key { return false }
            }
            if list.count < Self.maximum { list.append(key) }
        }
        latest = max(latest, time)
        return true
    }
}
