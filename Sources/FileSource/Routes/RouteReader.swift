import HealthModel
import Pipeline

/// What the rows of a GPX file mean, one file after the other: each track is a route, or all tracks of a file together are the one that
/// somebody waits for.
struct RouteReader {
    /// What a row comes to.
    enum Step {
        case none
        case track(RouteLocations, name: String?)
        case skipped(SkipKind)
    }

    private var builder: RouteBuilder?
    /// The reason why the route that is being read is refused. What else stands in it is passed over.
    private var refusal: Refusal?
    private var base: Instant?
    private var isWhole = false
    private var name: String?
    /// The program that wrote the file, as it calls itself.
    private(set) var creator = ""

    /// Before the first row of a file.
    ///
    /// - Parameters:
    ///   - base: what times are counted from; `nil` is the first of each track.
    ///   - isWhole: whether the tracks are one route, which ``end(at:)`` gives.
    mutating func begin(base: Instant? = nil, isWhole: Bool = false) {
        (builder, refusal, name, creator) = (nil, nil, nil, "")
        (self.base, self.isWhole) = (base, isWhole)
    }

    /// Takes a row of a GPX file.
    ///
    /// - Throws: the reason why the track that ends with it is none.
    mutating func read(_ row: TextRow, at place: Place) throws(Refusal) -> Step {
        let element = row[GPXRow.element]
        if element.isText("trkpt") {
            append { builder throws(Refusal) in try builder.append(row, at: place) }
        } else if element.isText("trk") {
            let told = ExportText.shown(row[1])
            name = name ?? (told.isEmpty ? nil : told)
            guard !isWhole else { return .none }
            defer { name = nil }
            return .track(try locations(at: place), name: name)
        } else if element.isText("wpt") {
            return .skipped(SkipKind("waypoint"))
        } else if element.isText("rte") {
            return .skipped(SkipKind("plannedRoute"))
        } else {
            creator = ExportText.shown(row[1])
        }
        return .none
    }

    /// Takes a location.
    mutating func append(_ cells: [UnsafeRawBufferPointer], _ time: RouteBuilder.Time, at place: Place) {
        append { builder throws(Refusal) in try builder.append(cells, time, at: place) }
    }

    private mutating func append(_ locations: (inout RouteBuilder) throws(Refusal) -> Void) {
        guard refusal == nil else { return }
        // Out of the optional, so that it is not copied.
        var building = builder.take() ?? RouteBuilder(base: base)
        do throws(Refusal) {
            try locations(&building)
            builder = building
        } catch {
            refusal = error
        }
    }

    /// Behind the last row of a file whose tracks are one route.
    mutating func end(at place: Place) throws(Refusal) -> (locations: RouteLocations, name: String?) {
        (try locations(at: place), name)
    }

    private mutating func locations(at place: Place) throws(Refusal) -> RouteLocations {
        defer { (builder, refusal) = (nil, nil) }
        if let refusal { throw refusal }
        guard builder != nil else { throw Refusal("the route has no locations", at: place) }
        // Out of the optional, so that it is not copied.
        guard let locations = try builder?.end(at: place) else { throw Refusal("the route has no locations", at: place) }
        return locations
    }
}
