import HealthModel
import Pipeline

/// The routes of workouts, from the elements that announce them until their locations are complete.
struct ExportRoutes {
    /// The data of a route in the export, except its locations.
    struct Header {
        var origin: Origin
        var start: Instant
        var end: Instant
        var offset: ZoneOffset?
        var ordinal: UInt32
        var metadata: Metadata?
        var record: RecordIdentifier?
        var workout: SampleIdentity
        var place: Place
        /// The locations, if they are in the export itself.
        var locations: RouteLocations?

        var identity: SampleIdentity {
            let series = origin.seriesKey
            if let record { return SampleIdentity(series: series, start: start.microseconds, record: record) }
            return SampleIdentity(
                series: series, start: start.microseconds, end: end.microseconds, numeral: Numeral(coefficient: 0), unit: .one,
                ordinal: ordinal)
        }
    }

    /// A route, or the reason why it is rejected.
    enum Entry {
        case header(Header)
        case refused(Refusal)
    }

    /// The maximum number of bytes for the locations of one workout, all routes together.
    private static let maximumLocations = PackedContent.maximumLength / 4

    var workout: [Entry] = []
    /// The routes whose files come later, by the key of the file.
    private var waiting = WaitingRoutes()
    /// The route whose file is being read, or `nil` if the export does not name the file.
    private var current: Header?
    private var file = ""
    private var reader = RouteReader()
    /// The complete routes with locations in the export, and whether another one is being read.
    private var inline: [Result<RouteLocations, Refusal>] = []
    private var isInline = false
    /// Rejected locations, and elements that were not stored.
    private var leftOut = LeftOut()

    // MARK: In the export

    /// Begins a route whose locations are in the export.
    mutating func beginInline(base: Instant?, at place: Place) {
        endInline(at: place)
        reader.begin(base: base, isWhole: true)
        isInline = true
    }

    mutating func appendInline(_ cells: [UnsafeRawBufferPointer], _ time: Int64?, at place: Place, received: Instant) {
        reader.append(cells, .export(time), at: place, received: received)
    }

    /// Returns the locations of the workout's routes that were in the export, in order.
    mutating func takeInline(at place: Place) -> [Result<RouteLocations, Refusal>] {
        endInline(at: place)
        defer { inline.removeAll() }
        return inline
    }

    private mutating func endInline(at place: Place) {
        guard isInline else { return }
        isInline = false
        do throws(Refusal) {
            let locations = try reader.end(at: place).locations
            let length = inline.reduce(0) { $0 + ((try? $1.get())?.content.length ?? 0) }
            guard length + locations.content.length <= Self.maximumLocations else {
                throw Refusal("the workout's routes are too long", at: place)
            }
            inline.append(.success(locations))
        } catch {
            inline.append(.failure(error))
        }
    }

    /// Reads the row of a route, which follows its workout's.
    ///
    /// - Returns: the route if its locations are in the export, or `nil` if they are in a file.
    mutating func route(_ row: UnsafeBufferPointer<UnsafeRawBufferPointer>, at place: Place) throws(Refusal) -> Reading? {
        let index = row.count > 1 ? Int(String(decoding: row[1], as: UTF8.self)) : nil
        guard let index, index < workout.count else { throw Refusal("route: its workout was refused", at: place) }
        let header: Header
        switch workout[index] {
        case .refused(let refusal): throw refusal
        case .header(let known): header = known
        }
        if let locations = header.locations { return try Self.reading(of: header, locations, name: nil) }
        guard row.count > 4 else { throw Refusal("route: it has no locations, and names no file that has", at: place) }
        switch String(decoding: row[3], as: UTF8.self) {
        case "later": waiting.insert(header, for: Array(row[4]))
        case "here": current = header
        default: throw Refusal("route: " + String(decoding: row[4], as: UTF8.self), at: place)
        }
        return nil
    }

    // MARK: Files

    /// Reads a frame of a GPX file.
    mutating func read(
        _ frame: RawFrame, registry: OriginRegistry, into readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .row(let row) where row[0].isText(GPXRow.file):
            file = ExportText.shown(row[1])
            if let header = waiting.remove(Array(row[1])) { current = header }
            reader.begin(base: current?.start, isWhole: current != nil)
            return .notData
        case .row(let row) where row[0].isText(GPXRow.end):
            guard let header = current else { return .notData }
            current = nil
            do throws(Refusal) {
                let (locations, name) = try reader.end(at: header.place)
                readings.append(try Self.reading(of: header, locations, name: name))
            } catch {
                throw inFile(error, header.place)
            }
            return .readings
        case .row(let row):
            do throws(Refusal) {
                let first = readings.count
                defer { collect(at: current?.place) }
                switch try reader.read(row, of: frame, registry, into: &readings) {
                case .none: return readings.count > first ? .readings : .notData
                case .skipped(let kind): return .skipped(kind)
                case .track(let locations, let name):
                    readings.append(
                        try GPXInterpreter.reading(
                            of: locations, name: name, creator: reader.creator, registry: registry, at: frame.place))
                    return .readings
                }
            } catch {
                throw inFile(error, frame.place)
            }
        case .bytes: throw Refusal("not a row of a GPX file", at: frame.place)
        case .malformed(let reason):
            let header = current
            current = nil
            reader.begin()
            throw inFile(Refusal(reason, at: frame.place), header?.place ?? frame.place)
        }
    }

    /// Adds the name and line of the file to an error, and reports it at the element that names the file.
    private func inFile(_ refusal: Refusal, _ place: Place) -> Refusal {
        Refusal("route: \(file), \(refusal.place): \(refusal.reason)", at: place)
    }

    /// Returns the parts of routes that were not stored. Later calls do not return them again.
    mutating func takeLeftOut() -> LeftOut? {
        // Locations in the export have the export's lines.
        if let rest = reader.takeLeftOut() {
            leftOut.refusals += rest.refusals.map { Refusal("route: " + $0.reason, at: $0.place) }
            leftOut.skipped.merge(rest.skipped) { $0 + $1 }
        }
        return leftOut.take()
    }

    /// Collects what the reader has left out, with the name of its file.
    private mutating func collect(at place: Place?) {
        guard let rest = reader.takeLeftOut() else { return }
        leftOut.refusals += rest.refusals.map { inFile($0, place ?? $0.place) }
        leftOut.skipped.merge(rest.skipped) { $0 + $1 }
    }

    /// Called after the last file. Missing files are rejected, and the error is placed at the first of them.
    mutating func finish() throws(Refusal) {
        defer { waiting = WaitingRoutes() }
        guard let first = waiting.firstPlace else { return }
        throw Refusal("route: its file is missing", at: first, readings: waiting.count)
    }

    private static func reading(
        of header: Header, _ locations: RouteLocations, name: String?
    ) throws(Refusal) -> Reading {
        let route = WorkoutRoute(points: locations.points, workout: header.workout.description, name: name)
        guard let body = try? SampleBody(encoding: route, content: locations.content) else {
            throw Refusal("the route cannot be stored", at: header.place)
        }
        return Reading(
            origin: header.origin, numeral: Numeral(coefficient: 0), unit: .one,
            time: .instants(start: header.start, end: header.end, offset: header.offset), ordinal: header.ordinal,
            metadata: header.metadata, record: header.record, body: body, place: header.place)
    }
}
