import Formats
import HealthModel
import Pipeline

// Routes of workouts, in separate files or within the export.
extension AppleHealthText {
    /// The reason why a route cannot be written.
    private static let alone =
        "an export.xml contains only the routes of its workouts: use a name that ends in .zip for other routes"
    private static let untimed = "an export.xml cannot contain a location without a time: use a name that ends in .zip"

    /// Writes a route as part of its workout.
    func route(
        _ identity: SampleIdentity, of workout: Sample, to bytes: inout [UInt8],
        spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws {
        // A workout still refers to a route that was rejected or deleted.
        guard !reported.contains(identity), let stored = try part(identity, of: workout),
            let route = Self.route(of: stored.sample)
        else {
            return
        }
        if !isArchive, try !Self.isTimed(route, stored.sample) { return }
        Self.open("WorkoutRoute", 2, &bytes) { header(of: stored.sample, to: &$0) }
        metadata(of: stored, indent: 3, to: &bytes)
        if isArchive {
            Self.element("FileReference", 3, &bytes) { Self.set("path", "/\(Self.file(of: stored.sample))", &$0) }
            files.append(identity)
        } else if let content = stored.sample.body?.content {
            var locations = try Locations(route, content)
            while let location = try locations.next() {
                append(location, of: stored.sample, to: &bytes)
                try spill(&bytes)
            }
        }
        Self.close("WorkoutRoute", 2, &bytes)
        reported.insert(identity)
    }

    /// Appends a `Location` element, as in exports before iOS 12.
    private func append(_ location: Locations.Location, of sample: Sample, to bytes: inout [UInt8]) {
        Self.element("Location", 3, &bytes) { bytes in
            if let time = location.time {
                Self.set(
                    "date", Self.time(Instant(microseconds: sample.start.microseconds &+ time), sample.zone ?? .utc), &bytes)
            }
            for name in Locations.names { if let number = location[name] { Self.set(name, number.text, &bytes) } }
        }
    }

    private static func route(of sample: Sample) -> WorkoutRoute? {
        guard sample.origin.kind == .workoutRoute else { return nil }
        return try? sample.body?.decoded(as: WorkoutRoute.self)
    }

    private static func isTimed(_ route: WorkoutRoute, _ sample: Sample) throws -> Bool {
        guard let content = sample.body?.content else { return false }
        var locations = try Locations(route, content)
        while let location = try locations.next() { if location.time == nil { return false } }
        return true
    }

    /// Handles routes and series that belong to no other sample: each gets its own file or is omitted.
    func finishOrphans() {
        var (written, alone, untimed, beats) = (0, 0, 0, 0)
        for identity in waiting.sorted() {
            if reported.contains(identity) {
                written += 1
                continue
            }
            guard let stored = try? member(identity) else { continue }
            if stored.sample.origin.kind == .heartbeatSeries {
                beats += 1
            } else if isArchive {
                files.append(identity)
                written += 1
            } else if let route = Self.route(of: stored.sample), (try? Self.isTimed(route, stored.sample)) == false {
                untimed += 1
            } else {
                alone += 1
            }
        }
        late = [
            (.written, written), (.leftOut(Self.alone), alone), (.leftOut(Self.untimed), untimed),
            (.leftOut("the format has beats only in records of heart rate variability, and no gaps"), beats),
        ].filter { $0.1 > 0 }
    }

    /// Writes a route file as the Health app does. A route without a workout keeps its own program as creator.
    func gpx(_ sample: Sample, into file: OutputFile) throws {
        guard let route = Self.route(of: sample), let content = sample.body?.content else { return }
        let creator = reported.contains(sample.identity) ? "Apple Health Export" : sample.origin.source.name
        var times = ZonedTimeText()
        var locations = try Locations(route, content)
        try file.write { bytes in
            bytes += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\"".utf8
            Self.set("creator", creator, &bytes)
            bytes += " xmlns=\"http://www.topografix.com/GPX/1/1\">\n  <metadata>\n    <time>".utf8
            times.append(context.now(), .utc, to: &bytes)
            bytes += "</time>\n  </metadata>\n  <trk>\n".utf8
            if let name = route.name { Self.text("name", name, "    ", &bytes) }
            bytes += "    <trkseg>\n".utf8
        }
        while let location = try locations.next() {
            try file.write { bytes in
                bytes += "      <trkpt".utf8
                if let number = location["longitude"] { Self.set("lon", number.text, &bytes) }
                if let number = location["latitude"] { Self.set("lat", number.text, &bytes) }
                bytes.append(UInt8(ascii: ">"))
                if let number = location["altitude"] { bytes += "<ele>\(number.text)</ele>".utf8 }
                if let time = location.time {
                    bytes += "<time>".utf8
                    times.append(Instant(microseconds: sample.start.microseconds &+ time), .utc, to: &bytes)
                    bytes += "</time>".utf8
                }
                bytes += "<extensions>".utf8
                for (name, element) in Self.extensions {
                    if let number = location[name] { bytes += "<\(element)>\(number.text)</\(element)>".utf8 }
                }
                bytes += "</extensions></trkpt>\n".utf8
            }
        }
        try file.write { $0 += "    </trkseg>\n  </trk>\n</gpx>\n".utf8 }
    }

    private static let extensions = [
        ("speed", "speed"), ("course", "course"), ("horizontalAccuracy", "hAcc"), ("verticalAccuracy", "vAcc"),
    ]
}

private struct Locations {
    /// A location's numbers, by the names of ``WorkoutRoute/columns``.
    struct Location {
        var numbers: [Numeral?]
        let places: [String: Int]

        subscript(name: String) -> Numeral? { places[name].flatMap { $0 < numbers.count ? numbers[$0] : nil } }

        /// The time in microseconds after the route's start.
        var time: Int64? { self[Points.time].flatMap { Int64(exactly: $0.doubleValue.rounded()) } }
    }

    /// The names in the order of the export's attributes.
    static let names = WorkoutRoute.columns.map(\.name).filter { $0 != Points.time }

    private var reader: PointsReader
    private let places: [String: Int]

    init(_ route: WorkoutRoute, _ content: PackedContent) throws(ContentError) {
        reader = try PointsReader(route.points, content)
        var places: [String: Int] = [:]
        for (place, column) in route.points.columns.enumerated() where places[column.name] == nil { places[column.name] = place }
        self.places = places
    }

    mutating func next() throws(ContentError) -> Location? {
        try reader.next().map { Location(numbers: $0, places: places) }
    }
}
