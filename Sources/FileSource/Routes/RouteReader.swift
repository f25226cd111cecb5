import HealthModel
import Pipeline

/// Interprets the rows of GPX files, one file after the other. Each track becomes a route, or all tracks of a file become the route of a
/// workout. Other measurements of locations become samples or are counted.
struct RouteReader {
    enum Step {
        case none
        case track(RouteLocations, name: String?)
        case skipped(SkipKind)
    }

    private var builder: RouteBuilder?
    /// The reason why the current route is rejected. Its other locations are skipped.
    private var refusal: Refusal?
    private var base: Instant?
    private var isWhole = false
    private var name: String?
    private var measurements: PointMeasurements?
    private var sport: ActivitySport?
    private var names = SkipNames()
    /// Rejected locations, and elements that were not stored.
    private(set) var leftOut = LeftOut()
    /// The program that wrote the file, by its own name.
    private(set) var creator = ""

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - base: the reference of times, or `nil` for the first time of each track.
    ///   - isWhole: whether all tracks are one route, which ``end(at:)`` returns. Samples then come from elsewhere.
    mutating func begin(base: Instant? = nil, isWhole: Bool = false) {
        (builder, refusal, name, creator, sport, measurements) = (nil, nil, nil, "", nil, nil)
        (self.base, self.isWhole) = (base, isWhole)
    }

    /// Reads a row of a GPX file, and appends the samples of its locations to `readings`.
    ///
    /// - Throws: ``Refusal`` if the track that ends with it is rejected.
    mutating func read(
        _ row: TextRow, of frame: RawFrame, _ registry: OriginRegistry, into readings: inout [Reading]
    ) throws(Refusal) -> Step {
        let (element, place) = (row[GPXRow.element], frame.place)
        if element.isText("trkpt") {
            append(received: frame.received) { builder throws(Refusal) in try builder.append(row, at: place) }
            measure(row, of: frame, registry, into: &readings)
        } else if element.isText("trk") {
            let reported = ExportText.shown(row[1])
            name = name ?? (reported.isEmpty ? nil : reported)
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

    mutating func append(
        _ cells: [UnsafeRawBufferPointer], _ time: RouteBuilder.Time, at place: Place, received: Instant
    ) {
        append(received: received) { builder throws(Refusal) in try builder.append(cells, time, at: place) }
    }

    private mutating func append(received: Instant, _ locations: (inout RouteBuilder) throws(Refusal) -> Void) {
        guard refusal == nil else { return }
        // Taken out of the optional to avoid a copy.
        var building = builder.take() ?? RouteBuilder(base: base, received: received)
        do throws(Refusal) {
            try locations(&building)
        } catch {
            refusal = error
        }
        leftOut.refusals += building.takeRefusals()
        builder = building
    }

    /// Returns what was not stored and removes it.
    mutating func takeLeftOut() -> LeftOut? { leftOut.take() }

    /// Ends a file whose tracks are one route.
    mutating func end(at place: Place) throws(Refusal) -> (locations: RouteLocations, name: String?) {
        guard let locations = try locations(at: place) else {
            throw Refusal("the route has no location that can be", at: place)
        }
        return (locations, name)
    }

    /// - Returns: `nil` if all locations were rejected.
    private mutating func locations(at place: Place) throws(Refusal) -> RouteLocations? {
        defer { (builder, refusal) = (nil, nil) }
        if let refusal { throw refusal }
        // Taken out of the optional to avoid a copy.
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
            // Most locations of an export have no other measurements.
            guard
                !cells[first + GPXRow.heartRate].isEmpty || !cells[first + GPXRow.cadence].isEmpty
                    || !cells[first + GPXRow.power].isEmpty || hasSpeed && !cells[first + GPXRow.speed].isEmpty
            else { continue }
            let place = row.places.isEmpty ? frame.place : row.places[index]
            let time: Int64?
            do throws(Refusal) {
                time = try RouteBuilder.time(cells[first + GPXRow.time], .iso8601, at: place)
            } catch {
                // The location was rejected with all its measurements.
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
