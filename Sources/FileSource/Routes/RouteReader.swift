import HealthModel
import Pipeline

/// What the rows of a GPX file mean, one file after the other: each track is a route, or all tracks of a file together are the one that
/// somebody waits for. What locations measure beside their place are samples, or counted.
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
    private var measurements: PointMeasurements?
    private var sport: ActivitySport?
    private var names = SkipNames()
    /// Locations that were refused by themselves, and elements that nothing is stored of.
    private(set) var leftOut = LeftOut()
    /// The program that wrote the file, as it calls itself.
    private(set) var creator = ""

    /// Before the first row of a file.
    ///
    /// - Parameters:
    ///   - base: what times are counted from; `nil` is the first of each track.
    ///   - isWhole: whether the tracks are one route, which ``end(at:)`` gives, and samples come from elsewhere.
    mutating func begin(base: Instant? = nil, isWhole: Bool = false) {
        (builder, refusal, name, creator, sport, measurements) = (nil, nil, nil, "", nil, nil)
        (self.base, self.isWhole) = (base, isWhole)
    }

    /// Takes a row of a GPX file, and appends the samples of its locations to `readings`.
    ///
    /// - Throws: the reason why the track that ends with it is none.
    mutating func read(
        _ row: TextRow, of frame: RawFrame, _ registry: OriginRegistry, into readings: inout [Reading]
    ) throws(Refusal) -> Step {
        let (element, place) = (row[GPXRow.element], frame.place)
        if element.isText("trkpt") {
            append(received: frame.received) { builder throws(Refusal) in try builder.append(row, at: place) }
            measure(row, of: frame, registry, into: &readings)
        } else if element.isText("trk") {
            let told = ExportText.shown(row[1])
            name = name ?? (told.isEmpty ? nil : told)
            (sport, measurements) = (nil, nil)
            guard !isWhole else { return .none }
            defer { name = nil }
            guard let locations = try locations(at: place) else { return .none }
            return .track(locations, name: name)
        } else if element.isText(GPXRow.type) {
            sport = sport ?? ActivitySport(word: ExportText.shown(row[1]))
            measurements = nil
        } else if element.isText(GPXRow.skip) {
            leftOut.skipped[names.kind(ExportText.shown(row[1])), default: 0] += Int(row.text(2)) ?? 1
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
    mutating func append(
        _ cells: [UnsafeRawBufferPointer], _ time: RouteBuilder.Time, at place: Place, received: Instant
    ) {
        append(received: received) { builder throws(Refusal) in try builder.append(cells, time, at: place) }
    }

    private mutating func append(received: Instant, _ locations: (inout RouteBuilder) throws(Refusal) -> Void) {
        guard refusal == nil else { return }
        // Out of the optional, so that it is not copied.
        var building = builder.take() ?? RouteBuilder(base: base, received: received)
        do throws(Refusal) {
            try locations(&building)
        } catch {
            refusal = error
        }
        leftOut.refusals += building.takeRefusals()
        builder = building
    }

    /// What the file's locations were not stored of, once.
    mutating func takeLeftOut() -> LeftOut? { leftOut.take() }

    /// Behind the last row of a file whose tracks are one route.
    mutating func end(at place: Place) throws(Refusal) -> (locations: RouteLocations, name: String?) {
        guard let locations = try locations(at: place) else {
            throw Refusal("the route has no location that can be", at: place)
        }
        return (locations, name)
    }

    /// - Returns: `nil` if each location was refused by itself.
    private mutating func locations(at place: Place) throws(Refusal) -> RouteLocations? {
        defer { (builder, refusal) = (nil, nil) }
        if let refusal { throw refusal }
        // Out of the optional, so that it is not copied.
        guard var building = builder.take() else { throw Refusal("the route has no locations", at: place) }
        return try building.end(at: place)
    }

    // MARK: Samples

    private mutating func measure(
        _ row: TextRow, of frame: RawFrame, _ registry: OriginRegistry, into readings: inout [Reading]
    ) {
        let cells = row.cells
        let count = max(row.places.count, 1)
        guard cells.count >= count * GPXRow.count else { return }
        let hasSpeed = sport?.speed != nil && !isWhole
        for index in 0..<count {
            let first = index * GPXRow.count
            // Nearly all locations of an export measure nothing.
            guard
                !cells[first + GPXRow.heartRate].isEmpty || !cells[first + GPXRow.cadence].isEmpty
                    || !cells[first + GPXRow.power].isEmpty || hasSpeed && !cells[first + GPXRow.speed].isEmpty
            else { continue }
            let place = row.places.isEmpty ? frame.place : row.places[index]
            let time: Int64?
            do throws(Refusal) {
                time = try RouteBuilder.time(cells[first + GPXRow.time], .iso8601, at: place)
            } catch {
                // The location was refused with all that it tells.
                continue
            }
            if let time, TimeBounds(received: frame.received).fault(of: time) != nil { continue }
            let measurements = self.measurements ?? measurements(registry)
            self.measurements = measurements
            measurements.read(
                cells, from: first, at: time.map { Instant(microseconds: $0) }, offset: nil, isPlaced: true, place: place,
                into: &readings, names: &names, leftOut: &leftOut)
        }
    }

    private func measurements(_ registry: OriginRegistry) -> PointMeasurements {
        PointMeasurements(.gpx, of: sport) { type in
            isWhole ? nil : registry.origin(type: type, source: GPXInterpreter.source(creator))
        }
    }
}
