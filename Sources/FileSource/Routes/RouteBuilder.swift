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

/// Packs the locations of a route as they come.
///
/// A location without a time is kept without one: the file tells where, and not when. A route of which no location has a time is refused: it
/// was planned, and nobody tells that somebody went there. `NaN`, which some programs write for what they do not know, is no number; any
/// other text that is none refuses the route, with its line.
struct RouteBuilder {
    private var writer = PointsWriter(columns: WorkoutRoute.columns)
    /// What the times are counted from; of a file by itself its first time.
    private var base: Int64?
    private var first: Int64?
    private var last: Int64 = .min
    private var ends: (first: UInt64, last: UInt64) = (0, 0)

    /// - Parameter base: the route's start, where something else than its locations tells it.
    init(base: Instant?) {
        self.base = base?.microseconds
    }

    /// Takes the locations of a row of a GPX file.
    mutating func append(_ row: TextRow, at place: Place) throws(Refusal) {
        let (cells, places) = (row.cells, row.places)
        guard places.count > 1 else { return try append(cells, .iso8601, at: place) }
        let last = places.count - 1
        for index in 0...last {
            try append(cells, from: index * GPXRow.count, .iso8601, at: places[index], isMarked: index == 0 || index == last)
        }
    }

    /// Takes a location with the columns of ``GPXRow``.
    ///
    /// - Parameters:
    ///   - first: where its columns begin.
    ///   - isMarked: whether it may be the first of the route, or the last.
    mutating func append(
        _ cells: [UnsafeRawBufferPointer], from first: Int = 0, _ time: Time, at place: Place, isMarked: Bool = true
    ) throws(Refusal) {
        guard cells.count >= first + GPXRow.count else { throw Refusal("it is no location", at: place) }
        try append(self.time(cells[first + GPXRow.time], time, at: place), at: place)
        let (latitude, longitude) = (cells[first + GPXRow.latitude], cells[first + GPXRow.longitude])
        try append(degrees(latitude, "latitude", 90, at: place), at: place)
        try append(degrees(longitude, "longitude", 180, at: place), at: place)
        for column in GPXRow.elevation...GPXRow.speed {
            try append(Self.number(cells[first + column], column, at: place), at: place)
        }
        guard isMarked else { return }
        let mark = FNV.hash(latitude) &* 31 &+ FNV.hash(longitude)
        if writer.count == 1 { ends.first = mark }
        ends.last = mark
    }

    /// In the order of a route's columns.
    @inline(__always) private mutating func append(_ number: Numeral?, at place: Place) throws(Refusal) {
        do throws(ContentError) {
            try writer.append(number: number)
        } catch {
            throw Refusal("the route is longer than any: \(error)", at: place)
        }
    }

    /// The locations; nothing may be added behind.
    mutating func end(at place: Place) throws(Refusal) -> RouteLocations {
        guard writer.count > 0 else { throw Refusal("the route has no locations", at: place) }
        guard let first else {
            throw Refusal("no location of the route has a time: it was planned, and nothing tells that it was gone", at: place)
        }
        do throws(ContentError) {
            let (points, content) = try writer.end()
            return RouteLocations(
                points: points, content: content, start: Instant(microseconds: first), end: Instant(microseconds: last),
                mark: UInt32(truncatingIfNeeded: ends.first &* 31 &+ ends.last) & 0x7FFF_FFFF)
        } catch {
            throw Refusal("the route cannot be packed: \(error)", at: place)
        }
    }

    /// How a location tells its time.
    enum Time {
        /// GPX: ISO 8601; without a zone it is UTC (GPX 1.1, `wptType`).
        case iso8601
        /// As in an export's other attributes.
        case export(Int64?)
    }

    private mutating func time(
        _ text: UnsafeRawBufferPointer, _ time: Time, at place: Place
    ) throws(Refusal) -> Numeral? {
        let instant: Int64
        switch time {
        case .export(let microseconds):
            guard let microseconds else { throw Refusal("the time of a location cannot be read", at: place) }
            instant = microseconds
        case .iso8601:
            guard !text.isEmpty else { return nil }
            do throws(TimestampError) {
                let timestamp = try Timestamp(iso8601: text)
                instant = timestamp.wall.instant(at: timestamp.offset ?? .utc).microseconds
            } catch {
                throw Refusal("the time of a location is \(error)", at: place)
            }
        }
        if base == nil { base = instant }
        first = first ?? instant
        last = max(last, instant)
        return Numeral(coefficient: instant &- (base ?? instant))
    }

    private func degrees(
        _ text: UnsafeRawBufferPointer, _ name: StaticString, _ limit: Double, at place: Place
    ) throws(Refusal) -> Numeral {
        guard !text.isEmpty else { throw Refusal("a location has no \(name)", at: place) }
        guard let numeral = try? Numeral(parsing: text), abs(numeral.doubleValue) <= limit else {
            throw Refusal("the \(name) of a location is no number from -\(Int(limit)) to \(Int(limit))", at: place)
        }
        return numeral
    }

    private static let names = ["", "", "", "altitude", "horizontal accuracy", "vertical accuracy", "course", "speed"]

    private static func number(_ text: UnsafeRawBufferPointer, _ column: Int, at place: Place) throws(Refusal) -> Numeral? {
        guard !text.isEmpty, !text.isText("NaN") else { return nil }
        guard let numeral = try? Numeral(parsing: text), numeral.doubleValue.magnitude < 1e12 else {
            throw Refusal("the \(names[column]) of a location is no number", at: place)
        }
        return numeral
    }
}
