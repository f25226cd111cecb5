import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// The result of reading a GPX file or an electrocardiogram.
struct ImportedFile {
    var readings: [Reading] = []
    var refused: [Refusal] = []
    var skipped: [String] = []
    /// Parts of rows that are counted by name.
    var counted: [String: Int] = [:]
    var error: SourceError?

    init(gpx text: some Collection<UInt8>) throws {
        let file = TemporaryFile(text)
        read(GPXFileSource(try InputFile(path: file.path), received: .test), GPXInterpreter(registry: .test))
    }

    init(electrocardiogram text: some Collection<UInt8>) throws {
        let file = TemporaryFile(text)
        read(
            ElectrocardiogramFileSource(try InputFile(path: file.path), received: .test),
            ElectrocardiogramInterpreter(registry: .test))
    }

    private mutating func read(_ source: any FrameSource, _ interpreter: any FrameInterpreter) {
        do {
            try source.forEachFrame { frame in
                do throws(Refusal) {
                    if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) { skipped.append(kind.name) }
                } catch {
                    refused.append(error)
                }
                guard let rest = interpreter.takeLeftOut() else { return }
                refused += rest.refusals
                for (kind, count) in rest.skipped { counted[kind.name, default: 0] += count }
            }
        } catch {
            self.error = error as? SourceError
        }
    }
}

extension Instant {
    static let test = Instant(seconds: 1_800_000_000)
}

extension OriginRegistry {
    static var test: OriginRegistry { OriginRegistry(person: "me") }
}

/// The points of a reading, each as texts.
func points(of reading: Reading?) throws -> [[String]] {
    struct Series: Decodable { var points: Points }
    let body = try #require(reading?.body)
    let points = try body.decoded(as: Series.self).points
    var reader = try PointsReader(points, try #require(body.content))
    var rows: [[String]] = []
    while let row = try reader.next() { rows.append(row.map { $0?.text ?? "-" }) }
    #expect(rows.count == points.count)
    return rows
}

@Suite struct GPXTests {
    private func gpx(_ content: String, attributes: String = #"creator="Runner 2""#) -> [UInt8] {
        Array(#"<?xml version="1.0"?><gpx version="1.1" \#(attributes)>\#(content)</gpx>"#.utf8)
    }

    private func track(_ points: String) -> String { "<trk><trkseg>\(points)</trkseg></trk>" }

    private func point(_ content: String = "<time>2024-01-01T10:00:00Z</time>", lat: String = "35.5", lon: String = "139.25")
        -> String
    {
        #"<trkpt lat="\#(lat)" lon="\#(lon)">\#(content)</trkpt>"#
    }

    /// Apple's own form, both namespaces of `speed`, fractions of seconds, a zone, and missing fields.
    @Test func readsFieldsOfLocation() throws {
        let file = try ImportedFile(
            gpx: gpx(
                "<metadata><time>2020-01-01T00:00:00Z</time></metadata><trk><name> Morning &amp; more </name><trkseg>"
                    + point(
                        "<ele>10.50</ele><time>2024-01-01T10:00:00Z</time><extensions><speed>3.5</speed><course>180.0</course>"
                            + "<hAcc>5.0</hAcc><vAcc>3.0</vAcc></extensions>")
                    + "</trkseg><trkseg>"
                    + point(
                        "<speed>1</speed><time>2024-01-01T11:00:01.25+01:00</time><x:ext xmlns:x='y'><x:course>9</x:course></x:ext>"
                    )
                    + point("<ele>NaN</ele>") + "</trkseg></trk>"))
        #expect(file.error == nil && file.refused == [])
        let reading = try #require(file.readings.first)
        #expect(file.readings.count == 1 && reading.origin.type.id == "workoutRoute")
        #expect(reading.origin.source == SourceRevision(id: "gpx", name: "Runner 2"))
        #expect(
            reading.time
                == .instants(
                    start: Instant(seconds: 1_704_103_200), end: Instant(microseconds: 1_704_103_201_250_000), offset: nil))
        #expect(
            try points(of: reading) == [
                ["0", "35.5", "139.25", "10.50", "5.0", "3.0", "180.0", "3.5"],
                ["1250000", "35.5", "139.25", "-", "-", "-", "9", "1"],
                ["-", "35.5", "139.25", "-", "-", "-", "-", "-"],
            ])
        let route = try #require(reading.body).decoded(as: WorkoutRoute.self)
        #expect(route.name == "Morning & more" && route.workout == nil)
    }

    @Test func eachTrackIsARouteAndPlansAreCounted() throws {
        let file = try ImportedFile(
            gpx: gpx(
                #"<wpt lat="1" lon="2"/><rte><rtept lat="1" lon="2"/></rte>"# + track(point()) + track(point(lat: "36"))
                    + track("")))
        #expect(file.skipped == ["waypoint", "plannedRoute"])
        #expect(file.readings.count == 2 && Set(file.readings.map(\.ordinal)).count == 2)
        #expect(file.refused.map(\.reason) == ["the route has no locations"])
    }

    @Test(arguments: [
        (#"<trkpt lon="1"><time>2024-01-01T10:00:00Z</time></trkpt>"#, "a location has no latitude"),
        (#"<trkpt lat="90.1" lon="1"/>"#, "the latitude of a location is not a number from -90 to 90"),
        (#"<trkpt lat="9,5" lon="1"/>"#, "the latitude of a location is not a number from -90 to 90"),
        (#"<trkpt lat="1" lon="-181"/>"#, "the longitude of a location is not a number from -180 to 180"),
        (
            #"<trkpt lat="1" lon="1"><time>yesterday, at ten o'clock</time></trkpt>"#,
            "the time of a location is not a date and time"
        ),
        (
            #"<trkpt lat="1" lon="1"><time>2024-02-30T10:00:00Z</time></trkpt>"#,
            "the time of a location is no such day in the calendar"
        ),
        (#"<trkpt lat="1" lon="1"><ele>high</ele></trkpt>"#, "the altitude of a location is not a number"),
        (#"<trkpt lat="1" lon="1"/>"#, "no location of the route has a time, so the route is only planned"),
    ])
    func refusesOnlyInvalidLocation(bad: String, reason: String) throws {
        let file = try ImportedFile(gpx: gpx("\n" + track(bad) + "\n" + track(point())))
        #expect(file.refused.map(\.reason) == [reason] && file.refused.first?.place == Place(.line, 2))
        #expect(file.readings.count == 1 && file.error == nil)
        guard !reason.contains("planned") else { return }
        // The others of its track are a route.
        let among = try ImportedFile(gpx: gpx("\n" + track(point() + "\n" + bad + point(lat: "36"))))
        #expect(among.refused.map(\.reason) == [reason] && among.refused.first?.place == Place(.line, 3))
        #expect(try points(of: among.readings.first).map { $0[1] } == ["35.5", "36"])
    }

    /// Plain ones come many at once, and each still has its line.
    @Test(arguments: [0, 1, 63, 64, 99])
    func errorNamesLineOfInvalidLocation(bad: Int) throws {
        let points = (0..<100).map { point(lat: $0 == bad ? "95" : "35.\(100 + $0)") }
        let file = try ImportedFile(gpx: gpx("\n" + track(points.joined(separator: "\n")) + track(point())))
        let alone = try ImportedFile(gpx: gpx("\n" + track(point(lat: "95"))))
        let first = try #require(alone.refused.first).place.number
        #expect(file.refused.map(\.place) == [Place(.line, first + bad)] && file.readings.count == 2)
        #expect(try FileSourceTests.points(of: file.readings.first).count == 99)
    }

    /// Nothing that a DOCTYPE declares is ever known.
    @Test func noEntityIsDeclared() throws {
        let bomb =
            #"<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>"#
        for entity in ["b", "f"] {
            let file = try ImportedFile(gpx: Array((bomb + "<gpx><trk><name>&\(entity);</name></trk></gpx>").utf8))
            #expect(file.readings.isEmpty && file.error?.reason == "not valid XML: undefined entity")
        }
        let harmless = try ImportedFile(gpx: Array((bomb + "<gpx>" + track(point()) + "</gpx>").utf8))
        #expect(harmless.readings.count == 1)
    }

    @Test func hasBounds() throws {
        let deep = String(repeating: "<a>", count: 100)
        #expect(try ImportedFile(gpx: gpx(deep)).error?.reason == "elements nest more than 64 deep")
        let names = (0..<5000).map { "<a\($0)/>" }.joined()
        #expect(try ImportedFile(gpx: gpx(names)).error?.reason == "more than 4096 names of elements and attributes")
        let long = String(repeating: "1", count: 2000)
        #expect(
            try ImportedFile(gpx: gpx(track(point("<ele>\(long)</ele>")))).error?.reason == "a text is longer than 1024 bytes")
        let attribute = String(repeating: "1", count: 200_000)
        #expect(try ImportedFile(gpx: gpx(track(point(lat: attribute)))).refused.map(\.reason) == ["a location has no latitude"])
        let token = String(repeating: "1", count: 3_000_000)
        #expect(try ImportedFile(gpx: gpx(track(point(lat: token)))).error?.reason == "an element's start is longer than 1 MiB")
    }

    @Test func recognisesTheRootElement() throws {
        for text in ["<gpx>", "<?xml version='1.0'?>\n<!-- <x> --><gpx a='b'/>", "<!DOCTYPE x [<!ENTITY y 'z'>]><gpx/>"] {
            let file = TemporaryFile(Array(text.utf8))
            #expect(GPXFile.recognises(try InputFile(path: file.path)))
        }
        for text in ["", "gpx", "<gpxx/>", "<kml><gpx/></kml>", "time,type\n", "<HealthData/>"] {
            let file = TemporaryFile(Array(text.utf8))
            #expect(!GPXFile.recognises(try InputFile(path: file.path)))
        }
    }

    /// Cut anywhere: the tracks that are whole, then an error.
    @Test func truncationKeepsWholeTracks() throws {
        let bytes = gpx(track(point() + point(lat: "1")) + "<rte/>" + track(point(lat: "36")))
        let ends = ["</trk><rte/>", "</trk></gpx>"].map { end in
            bytes.indices.first { bytes[$0...].starts(with: end.utf8) }.map { $0 + 6 } ?? .max
        }
        for cut in bytes.indices {
            let file = try ImportedFile(gpx: bytes[..<cut])
            #expect(file.readings.count == ends.filter { $0 <= cut }.count && file.error != nil, "cut at \(cut)")
        }
        #expect(try ImportedFile(gpx: bytes).readings.count == 2)
    }

    @Test func namesDoNotChangeIdentity() throws {
        // The same track twice is one route. Another track at the same time is a second one.
        let one = try ImportedFile(gpx: gpx(track(point() + point(lat: "1"))))
        let same = try ImportedFile(gpx: gpx(track(point() + point(lat: "1")), attributes: #"creator="Other""#))
        let other = try ImportedFile(gpx: gpx(track(point() + point(lat: "2"))))
        #expect(one.readings.first?.ordinal == same.readings.first?.ordinal)
        #expect(one.readings.first?.ordinal != other.readings.first?.ordinal)
    }
}
