import FoundationEssentials
import Glibc
import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// The routes of workouts: in the export itself, in its archive, and next to it.
@Suite struct AppleHealthRoutesTests {
    static let gpx = """
        <gpx creator="Apple Health Export"><trk><name>Route</name><trkseg>
        <trkpt lat="35.0" lon="139.0"><ele>10.0</ele><time>2024-06-17T04:58:39Z</time></trkpt>
        <trkpt lat="35.0001" lon="139.0001"><time>2024-06-17T04:58:40Z</time></trkpt>
        </trkseg></trk></gpx>
        """

    static func workout(_ routes: String, activity: String = "Running") -> String {
        """
        <Workout workoutActivityType="HKWorkoutActivityType\(activity)" sourceName="Watch" startDate="2024-06-17 13:58:00 +0900" \
        endDate="2024-06-17 14:30:00 +0900">\(routes)</Workout>
        """
    }

    static func route(_ path: String?, content: String = "", start: String = "2024-06-17 13:58:38 +0900") -> String {
        """
        <WorkoutRoute sourceName="Watch" startDate="\(start)" endDate="2024-06-17 14:29:00 +0900">\(content)\
        \(path.map { "<FileReference path=\"\($0)\"/>" } ?? "")</WorkoutRoute>
        """
    }

    private func archive(_ elements: String, _ files: [(String, String)], before: Bool = false, name: String = "export.xml")
        -> ImportedExport
    {
        let export = [("apple_health_export/" + name, Array("<HealthData>\(elements)</HealthData>".utf8))]
        let others = files.map { ("apple_health_export/" + $0.0, Array($0.1.utf8)) }
        return ImportedExport(ZipWriter(before ? others + export : export + others).bytes)
    }

    private func identity(_ reading: Reading) -> String {
        let output = try? ReadingPath.samples(of: [reading], zone: TimeZoneRules(fixed: .utc), received: .test)
        return output?.first.map { "\($0.sample.identity)" } ?? "none"
    }

    @Test(arguments: [true, false]) func aFileOfTheArchive(before: Bool) throws {
        let export = archive(
            Self.workout(Self.route("/workout-routes/a.gpx")), [("workout-routes/a.gpx", Self.gpx)], before: before)
        #expect(export.error == nil && export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        let (workout, route) = (export.readings[0], export.readings[1])
        #expect(route.origin.source.name == "Watch" && route.place == workout.place)
        #expect(try points(of: route).map { $0[0] } == ["1000000", "2000000"])
        // Each names the other.
        let body = try #require(route.body).decoded(as: WorkoutRoute.self)
        #expect(body.workout == identity(workout) && body.name == "Route")
        #expect(try #require(workout.body).decoded(as: Workout.self).routes == [identity(route)])
    }

    @Test(arguments: ["workout-routes/a.gpx", "/workout-routes/a.gpx", "./workout-routes//a.gpx"], ["export.xml", "导出.xml"])
    func withAndWithoutASlash(path: String, name: String) {
        let export = archive(Self.workout(Self.route(path)), [("workout-routes/a.gpx", Self.gpx)], name: name)
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        #expect(export.readings.last?.origin.source.name == "Watch")
    }

    /// The form of before iOS 12.
    @Test func locationsInTheExport() throws {
        let locations = (0..<3).map {
            """
            <Location date="2024-06-17 13:58:4\($0) +0900" latitude="35.\($0)" longitude="139" altitude="10.5" horizontalAccuracy="5" \
            verticalAccuracy="3.25" course="-1" speed="2.48"/>
            """
        }
        let export = ImportedExport(
            elements: Self.workout(
                Self.route(nil, content: locations.joined())
                    + Self.route(nil, content: locations[0], start: "2024-06-17 13:58:40 +0900")
                    + entry("k", "v"))
                + record())
        #expect(export.error == nil && export.refused == [] && export.skipped == [])
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute", "workoutRoute", "heartRate"])
        #expect(try points(of: export.readings[1])[2] == ["4000000", "35.2", "139", "10.5", "5", "3.25", "-1", "2.48"])
        #expect(try points(of: export.readings[2]).map { $0[0] } == ["0"])
        // The same route has the same identity in the form of after.
        let later = archive(Self.workout(Self.route("/workout-routes/a.gpx")), [("workout-routes/a.gpx", Self.gpx)])
        #expect(identity(export.readings[1]) == identity(later.readings[1]))
        // A location that cannot be read is refused by itself.
        let bad = ImportedExport(
            elements: Self.workout(
                Self.route(nil, content: locations[0] + #"<Location date="2024-06-17" latitude="1" longitude="1"/>"#)
                    + Self.route(nil, content: locations[1], start: "2024-06-17 13:58:41 +0900")))
        #expect(bad.refused == ["route: the time of a location cannot be read"])
        #expect(bad.readings.map(\.origin.type.id) == ["workout", "workoutRoute", "workoutRoute"])
        #expect(try points(of: bad.readings[1]).map { $0[1] } == ["35.0"])
        #expect(
            try #require(bad.readings[0].body).decoded(as: Workout.self).routes == bad.readings.dropFirst().map(identity))
    }

    /// A location that cannot be is refused by itself: in the export, with its line, and in a file, with the file's name and line.
    @Test(arguments: ["1901", "2099"]) func aLocationOfAnImpossibleTime(year: String) throws {
        let location = { (year: String, second: Int) in
            #"<Location date="\#(year)-06-17 13:58:4\#(second) +0900" latitude="35" longitude="139"/>"# + "\n"
        }
        let reason =
            "the time " + (year == "1901" ? "is before 1971: the clock was not set" : "is in the future")
        let inline = ImportedExport(
            elements: Self.workout(Self.route(nil, content: location("2024", 1) + location(year, 2) + location("2024", 3))))
        #expect(inline.refused == ["route: a location of the route: " + reason])
        #expect(inline.events.first { if case .refused = $0.event { true } else { false } }?.place == Place(.line, 3))
        #expect(try points(of: inline.readings.last).map { $0[0] } == ["3000000", "5000000"])
        let gpx = Self.gpx.replacing(
            "</trkseg>", with: #"<trkpt lat="1" lon="1"><time>\#(year)-06-17T04:58:41Z</time><hr>60</hr></trkpt></trkseg>"#)
        let export = archive(Self.workout(Self.route("/r/a.gpx")), [("r/a.gpx", gpx)])
        #expect(export.refused == ["route: r/a.gpx, line 4: a location of the route: " + reason])
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        #expect(try points(of: export.readings.last).map { $0[0] } == ["1000000", "2000000"])
    }

    /// Values in the watch's own records are counted, and not read again from the file of a route.
    @Test func numbersOfALocationAreCounted() {
        let gpx = Self.gpx.replacing("<time>", with: "<hr>60</hr><cad>80</cad><sat>7</sat><time>")
        let export = archive(Self.workout(Self.route("/r/a.gpx")), [("r/a.gpx", gpx)])
        #expect(export.refused == [] && export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        #expect(export.skipped.sorted() == ["cad", "cad", "hr", "hr", "sat", "sat"])
    }

    @Test func theSyncIdentifierIsTheRecord() throws {
        let metadata = entry("HKMetadataKeySyncVersion", "3") + entry("HKMetadataKeySyncIdentifier", "ABC") + entry("k", "v")
        let export = archive(
            Self.workout(Self.route("/r/a.gpx", content: metadata)), [("r/a.gpx", Self.gpx)])
        let route = try #require(export.readings.last)
        #expect(route.record == RecordIdentifier(id: "ABC", version: 3) && route.metadata?.entries.count == 1)
        #expect(try #require(export.readings.first?.body).decoded(as: Workout.self).routes == [identity(route)])
    }

    /// A route without times has those of its workout. Several routes of one workout stay separate.
    @Test func withoutTimes() throws {
        let bare = { (path: String) in #"<WorkoutRoute sourceName="Watch"><FileReference path="\#(path)"/></WorkoutRoute>"# }
        let export = archive(Self.workout(bare("/r/a.gpx") + bare("/r/b.gpx")), [("r/b.gpx", Self.gpx), ("r/a.gpx", Self.gpx)])
        #expect(export.refused == [] && export.readings.count == 3)
        #expect(Set(export.readings.map(identity)).count == 3)
        #expect(
            Set(try #require(export.readings.first?.body).decoded(as: Workout.self).routes)
                == Set(export.readings.dropFirst().map(identity)))
        #expect(export.readings[1].time == export.readings[0].time)
    }

    @Test func importsWorkoutWithoutMissingRoutes() {
        let export = archive(
            Self.workout(
                Self.route("/r/missing.gpx") + Self.route("/r/../../etc/passwd") + Self.route(nil) + Self.route("/r/a.gpx")
                    + Self.route("/r/a.gpx") + Self.route("/r/bad.gpx") + Self.route("/r/empty.gpx")
                    + Self.route("/r/a.gpx", start: "2024")),
            [("r/a.gpx", Self.gpx), ("r/bad.gpx", "<gpx><trk>"), ("r/empty.gpx", "")])
        #expect(export.error == nil)
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        #expect(
            export.refused == [
                "route: the archive does not contain the file that the export names",
                "route: the path of its file leaves the export's folder, so it is not read",
                "route: it has no locations, and names no file that has", "route: another one names the same file already",
                "route: WorkoutRoute: startDate is not written as YYYY-MM-DD HH:MM:SS +HHMM",
                "route: r/bad.gpx, line 1: the file ends in the middle",
                "route: r/empty.gpx, line 1: it is not GPX: there is no root element gpx in UTF-8",
            ])
    }

    @Test func unreferencedRouteIsImported() {
        let export = archive(record(), [("workout-routes/a.gpx", Self.gpx), ("notes.txt", "x"), ("pictures/b.json", "{}")])
        #expect(export.readings.map(\.origin.source.id) == ["apple-health/Watch", "gpx"])
        #expect(export.readings.last?.origin.source.name == "Apple Health Export")
        #expect(export.skipped == ["file.json", "file.txt"])
    }

    /// Files beside a single export: links are not followed, and only regular files are opened.
    @Test func readsOnlyRegularFilesNextToExport() throws {
        let root = try #require(Self.temporaryFolder())
        defer { try? FileManager.default.removeItem(atPath: root) }
        let folder = root + "/export"
        for path in ["/export/r/folder.gpx", "/outside", "/export/linked"] {
            try FileManager.default.createDirectory(atPath: root + path, withIntermediateDirectories: true)
        }
        try FileManager.default.removeItem(atPath: folder + "/linked")
        try FileManager.default.createSymbolicLink(atPath: folder + "/linked", withDestinationPath: root + "/outside")
        for path in ["/export/r/a.gpx", "/outside/b.gpx"] {
            try Data(Self.gpx.utf8).write(to: URL(filePath: root + path))
        }
        try FileManager.default.createSymbolicLink(atPath: folder + "/r/link.gpx", withDestinationPath: root + "/outside/b.gpx")
        let elements = Self.workout(
            ["/r/a.gpx", "/linked/b.gpx", "/r/link.gpx", "/r/folder.gpx", "/../outside/b.gpx", "/r/none.gpx"]
                .map { Self.route($0) }.joined())
        try Data("<HealthData>\(elements)</HealthData>".utf8).write(to: URL(filePath: folder + "/export.xml"))
        let export = ImportedExport(path: folder + "/export.xml")
        #expect(export.readings.map(\.origin.type.id) == ["workout", "workoutRoute"])
        #expect(
            export.refused == [
                "route: the file that the export names: it is a link, which is not followed",
                "route: the file that the export names: it is a link, which is not followed",
                "route: the file that the export names: it is not a file",
                "route: the path of its file leaves the export's folder, so it is not read",
                "route: the file that the export names: cannot open it: No such file or directory",
            ])
    }

    private static func temporaryFolder() -> String? {
        var template = Array("/tmp/vitalgate-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func tooManyRoutes() {
        let many = Self.workout((0..<2000).map { Self.route("/r/\($0).gpx") }.joined()) + record()
        let export = archive(many, [("r/1.gpx", Self.gpx)])
        #expect(export.error == nil)
        // A route that nothing refers to any more is independent.
        #expect(export.readings.map(\.origin.type.id) == ["heartRate", "workoutRoute"])
        #expect(export.refused.count == 2001)
        #expect(export.refused.first == "the workout is larger than 4 MiB, or has too many parts")
    }

    /// An archive with routes, damaged at any byte, gives nothing or the same content.
    @Test func survivesDamageAtEveryByte() {
        let whole = ZipWriter([
            ("e/export.xml", Array("<HealthData>\(Self.workout(Self.route("/r/a.gpx")))</HealthData>".utf8)),
            ("e/r/a.gpx", Array(Self.gpx.utf8)),
        ]).bytes
        let events = DamagedArchiveTests.Content(whole).events
        #expect(events.count == 2)
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x10
            for bytes in [damaged, Array(whole[..<index])] {
                let export = ImportedExport(bytes)
                // A changed name no longer matches its file, which is reported. Changed bytes are never delivered.
                let isKnown = export.readings.allSatisfy { reading in
                    guard reading.origin.type.id == "workoutRoute" else { return true }
                    return (try? points(of: reading))?.first?[1] == "35.0"
                }
                #expect(export.error == nil || export.events.isEmpty, "octet \(index)")
                #expect(isKnown, "octet \(index)")
            }
        }
    }

    /// A single export that is cut at any byte never gives half a route.
    @Test func truncationNeverGivesPartialRoute() throws {
        let location = #"<Location date="2024-06-17 13:58:40 +0900" latitude="35" longitude="139"/>"#
        let text = "<HealthData>" + Self.workout(Self.route(nil, content: location + location)) + "</HealthData>"
        let bytes = Array(text.utf8)
        for cut in bytes.indices {
            let export = ImportedExport(bytes[..<cut])
            #expect(export.error != nil && (export.readings.isEmpty || export.readings.count == 2), "cut at \(cut)")
        }
    }
}
