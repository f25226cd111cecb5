import HealthModel
import Pipeline

/// Reads the locations of one route from the rows of a GPX file, or of an export before iOS 12.
///
/// An invalid location is rejected alone, with its line. A location without a time is kept without one. A route without any time is
/// rejected, because it was planned and not recorded. `NaN`, which some programs write for unknown values, counts as missing.
struct RouteBuilder {
    private var route: RoutePoints
    private(set) var refusals: [Refusal] = []
    private var refused = 0

    /// - Parameters:
    ///   - base: the route's start, if it is known from elsewhere.
    ///   - received: the time when the file arrived.
    init(base: Instant?, received: Instant) { route = RoutePoints(base: base, received: received) }

    /// Adds the locations in a row of a GPX file.
    ///
    /// - Throws: ``Refusal`` if the route is too long.
    mutating func append(_ row: TextRow, at place: Place) throws(Refusal) {
        let (cells, places) = (row.cells, row.places)
        guard places.count > 1 else { return try append(cells, .iso8601, at: place) }
        var last: Int?
        for (index, place) in places.enumerated() {
            guard try add(cells, from: index * GPXRow.count, .iso8601, at: place) else { continue }
            if route.count == 1 { mark(cells, from: index * GPXRow.count) }
            last = index
        }
        // Only two of these locations can be the first or the last of the route.
        if let last { mark(cells, from: last * GPXRow.count) }
    }

    /// Adds a location with the columns of ``GPXRow``.
    ///
    /// - Throws: ``Refusal`` if the route is too long.
    mutating func append(_ cells: [UnsafeRawBufferPointer], _ time: Time, at place: Place) throws(Refusal) {
        if try add(cells, from: 0, time, at: place) { mark(cells, from: 0) }
    }

    /// Returns the rejections so far and removes them.
    mutating func takeRefusals() -> [Refusal] {
        guard !refusals.isEmpty else { return [] }
        defer { refusals = [] }
        return refusals
    }

    /// Ends the route and returns its locations, or `nil` if all of them were rejected. Nothing may be added afterwards.
    mutating func end(at place: Place) throws(Refusal) -> RouteLocations? {
        guard route.count > 0 else {
            if refused > 0 { return nil }
            throw Refusal("the route has no locations", at: place)
        }
        do throws(ContentError) {
            if let locations = try route.end() { return locations }
        } catch {
            throw Refusal("the route cannot be stored: \(error)", at: place)
        }
        throw Refusal("no location of the route has a time, so the route is only planned", at: place)
    }

    /// The form of a location's time.
    enum Time {
        /// GPX: ISO 8601. Without an offset it is UTC (GPX 1.1, `wptType`).
        case iso8601
        /// A parsed time of an export's attribute.
        case export(Int64?)
    }

    private mutating func mark(_ cells: [UnsafeRawBufferPointer], from first: Int) {
        route.mark(cells[first + GPXRow.latitude], cells[first + GPXRow.longitude])
    }

    /// - Returns: whether it was added.
    private mutating func add(
        _ cells: [UnsafeRawBufferPointer], from first: Int, _ time: Time, at place: Place
    ) throws(Refusal) -> Bool {
        let location: RoutePoints.Location
        do throws(Refusal) {
            location = try Self.location(cells, from: first, time, at: place)
        } catch {
            refuse(error)
            return false
        }
        do throws(ContentError) {
            switch try route.append(location) {
            case .added: return true
            case .repeated: break
            case .impossible(let fault): refuse(Refusal(Self.reason(fault), at: place))
            }
            return false
        } catch {
            throw Refusal("the route is too long: \(error)", at: place)
        }
    }

    /// The message for a location with an impossible time.
    static func reason(_ fault: String) -> String { "a location of the route: \(fault)" }

    private mutating func refuse(_ refusal: Refusal) {
        refused += 1
        refusals.append(refusal)
    }

    private static func location(
        _ cells: [UnsafeRawBufferPointer], from first: Int, _ time: Time, at place: Place
    ) throws(Refusal) -> RoutePoints.Location {
        guard cells.count >= first + GPXRow.count else { throw Refusal("it is not a location", at: place) }
        func number(_ column: Int) throws(Refusal) -> Numeral? { try Self.number(cells[first + column], column, at: place) }
        return RoutePoints.Location(
            time: try self.time(cells[first + GPXRow.time], time, at: place),
            latitude: try degrees(cells[first + GPXRow.latitude], "latitude", 90, at: place),
            longitude: try degrees(cells[first + GPXRow.longitude], "longitude", 180, at: place),
            altitude: try number(GPXRow.elevation), horizontalAccuracy: try number(GPXRow.horizontalAccuracy),
            verticalAccuracy: try number(GPXRow.verticalAccuracy), course: try number(GPXRow.course),
            speed: try number(GPXRow.speed))
    }

    /// Returns microseconds since 1970, or `nil` if there is no time.
    static func time(_ text: UnsafeRawBufferPointer, _ time: Time, at place: Place) throws(Refusal) -> Int64? {
        switch time {
        case .export(let microseconds):
            guard let microseconds else { throw Refusal("the time of a location cannot be read", at: place) }
            return microseconds
        case .iso8601:
            guard !text.isEmpty else { return nil }
            do throws(TimestampError) {
                let timestamp = try Timestamp(iso8601: text)
                return timestamp.wall.instant(at: timestamp.offset ?? .utc).microseconds
            } catch {
                throw Refusal("the time of a location is \(error)", at: place)
            }
        }
    }

    private static func degrees(
        _ text: UnsafeRawBufferPointer, _ name: StaticString, _ limit: Double, at place: Place
    ) throws(Refusal) -> Numeral {
        guard !text.isEmpty else { throw Refusal("a location has no \(name)", at: place) }
        guard let numeral = try? Numeral(parsing: text), abs(numeral.doubleValue) <= limit else {
            throw Refusal("the \(name) of a location is not a number from -\(Int(limit)) to \(Int(limit))", at: place)
        }
        return numeral
    }

    private static let names = ["", "", "", "altitude", "horizontal accuracy", "vertical accuracy", "course", "speed"]

    private static func number(_ text: UnsafeRawBufferPointer, _ column: Int, at place: Place) throws(Refusal) -> Numeral? {
        guard !text.isEmpty, !text.isText("NaN") else { return nil }
        guard let numeral = try? Numeral(parsing: text), numeral.doubleValue.magnitude < 1e12 else {
            throw Refusal("the \(names[column]) of a location is not a number", at: place)
        }
        return numeral
    }
}
