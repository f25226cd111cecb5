import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Measurements in the locations of a GPX file, other than the position.
@Suite struct GPXMeasurementsTests {
    private func gpx(_ content: String, type: String = "") -> [UInt8] {
        Array("<gpx creator='Runner 2'><trk>\(type)<trkseg>\n\(content)</trkseg></trk></gpx>".utf8)
    }

    private func point(_ second: Int, _ extensions: String, place: String = "lat='35.5' lon='139.25'", year: String = "2024")
        -> String
    {
        "<trkpt \(place)><time>\(year)-01-01T10:00:0\(second)Z</time><extensions>\(extensions)</extensions></trkpt>\n"
    }

    private func lines(_ file: ImportedFile) -> [String] {
        file.readings.filter { $0.origin.type.kind == .quantity }.map {
            "\($0.origin.type.id) \($0.numeral.text) \($0.unit.code)"
        }
    }

    @Test func aRideOfGarminConnect() throws {
        let file = try ImportedFile(gpx: try testFile("activities/heart-rate.gpx").bytes)
        #expect(file.error == nil && file.refused.isEmpty && file.counted.isEmpty)
        #expect(lines(file).prefix(2) == ["heartRate 118 /min", "cyclingCadence 80 /min"] && lines(file).count == 12)
        #expect(file.readings.first?.origin.source == SourceRevision(id: "gpx", name: "Garmin Connect"))
        #expect(
            file.readings.first?.time
                == .instants(start: Instant(seconds: 1_763_712_000), end: Instant(seconds: 1_763_712_000), offset: nil))
        #expect(try points(of: file.readings.last).count == 6)
    }

    /// Any prefix and any of the extensions by Garmin, Cluetrust and Strava.
    @Test(
        arguments: [
            (
                "<a:TrackPointExtension><a:hr>118</a:hr><a:cad>80</a:cad><a:atemp>21</a:atemp></a:TrackPointExtension>",
                ["atemp": 1]
            ),
            ("<gpxdata:hr>118</gpxdata:hr><gpxdata:cadence>80</gpxdata:cadence><gpxdata:temp>21</gpxdata:temp>", ["temp": 1]),
            ("<hr>118</hr><cad>80</cad>", [:]), ("<bpm>118</bpm><cad>80</cad>", [:]),
            ("<heartrate>118</heartrate><cadence>80</cadence>", [:]),
        ] as [(String, [String: Int])])
    func extensions(of text: String, counted: [String: Int]) throws {
        let ride = try ImportedFile(gpx: gpx(point(0, text), type: "<type>Ride</type>"))
        #expect(ride.refused.isEmpty && lines(ride) == ["heartRate 118 /min", "cyclingCadence 80 /min"])
        #expect(ride.counted == counted)
        // HealthKit has no cadence of steps, and without a sport the meaning of a cadence is unknown.
        for type in ["<type>running</type>", "", "<type>9</type>", "<type>77</type>"] {
            let file = try ImportedFile(gpx: gpx(point(0, text), type: type))
            #expect(lines(file) == ["heartRate 118 /min"])
            #expect(file.counted == counted.merging(["cad": 1]) { $0 + $1 })
        }
    }

    @Test func powerAndSpeed() throws {
        let text = point(0, "<power>210</power><speed>3.5</speed>") + point(1, "<p:PowerInWatts>211</p:PowerInWatts>")
        let ride = try ImportedFile(gpx: gpx(text, type: "<type>cycling</type>"))
        #expect(lines(ride) == ["cyclingPower 210 W", "cyclingSpeed 3.5 m/s", "cyclingPower 211 W"] && ride.counted.isEmpty)
        let run = try ImportedFile(gpx: gpx(text, type: "<type>Run</type>"))
        #expect(lines(run) == ["runningPower 210 W", "runningSpeed 3.5 m/s", "runningPower 211 W"])
        // The route has the speed.
        let unknown = try ImportedFile(gpx: gpx(text))
        #expect(lines(unknown).isEmpty && unknown.counted == ["power": 2])
        #expect(try points(of: unknown.readings.last).map { $0[7] } == ["3.5", "-"])
    }

    @Test func theSportIsTheTracks() throws {
        let text =
            "<gpx>"
            + ["<type>cycling</type>", ""].map { "<trk>\($0)<trkseg>\(point(0, "<cad>80</cad>"))</trkseg></trk>" }.joined()
            + "</gpx>"
        let file = try ImportedFile(gpx: Array(text.utf8))
        #expect(lines(file) == ["cyclingCadence 80 /min"] && file.counted == ["cad": 1])
    }

    /// A location without a place is refused by itself, and its heart rate is not.
    @Test func withoutAPlaceOrATime() throws {
        let walk = try ImportedFile(gpx: try testFile("activities/without-place.gpx").bytes)
        #expect(walk.refused == [Refusal("a location has no latitude", at: Place(.line, 7))])
        #expect(try points(of: walk.readings.first).map { $0[0] } == (0..<5).map { "\($0 * 10_000_000)" })
        let file = try ImportedFile(
            gpx: gpx(
                point(0, "<hr>60</hr>", place: "") + point(1, "<hr>61</hr>") + point(2, "<hr>many</hr>")
                    + "<trkpt lat='35' lon='139'><hr>62</hr></trkpt>\n" + point(3, "<hr>NaN</hr>")))
        #expect(
            file.refused == [
                Refusal("a location has no latitude", at: Place(.line, 2)),
                Refusal("the heart rate is not a possible number", at: Place(.line, 4)),
                Refusal("the heart rate has no time", at: Place(.line, 5)),
            ])
        #expect(lines(file) == ["heartRate 60 /min", "heartRate 61 /min"])
        #expect(try points(of: file.readings.last).map { $0[0] } == ["0", "1000000", "-", "2000000"])
    }

    @Test(arguments: [
        ("1901", "the time is before 1971: the clock was not set"), ("2099", "the time is in the future"),
    ])
    func refusesOnlyPointWithImpossibleTime(year: String, reason: String) throws {
        let good = [point(0, "<hr>60</hr>"), point(2, "<hr>62</hr>", place: "lat='36' lon='139'")]
        for bad in [point(1, "<hr>61</hr>", year: year), point(1, "", year: year)] {
            for position in 0...2 {
                var all = good
                all.insert(bad, at: position)
                let file = try ImportedFile(gpx: gpx(all.joined()))
                #expect(file.refused == [Refusal("a location of the route: " + reason, at: Place(.line, 2 + position))])
                #expect(lines(file) == ["heartRate 60 /min", "heartRate 62 /min"])
                #expect(try points(of: file.readings.last).map { $0[0] } == ["0", "2000000"])
            }
        }
        // None is left: the route is not refused once more.
        let none = try ImportedFile(gpx: gpx(point(1, "<hr>61</hr>", year: year)))
        #expect(none.refused.count == 1 && none.readings.isEmpty)
    }

    /// The border of two segments that share a point, and a repeated point.
    @Test func aPlaceOfTheSameTimeIsStoredOnce() throws {
        let (one, two) = (point(0, ""), point(1, "", place: "lat='36' lon='139'"))
        let file = try ImportedFile(
            gpx: gpx(one + two + "</trkseg><trkseg>" + two + point(1, "", place: "lat='37' lon='139'") + one))
        #expect(try points(of: file.readings.first).map { $0[1] } == ["35.5", "36", "37"])
    }

    /// Counts are bounded and contain only names.
    @Test func elementsAreCountedByName() throws {
        let file = try ImportedFile(
            gpx: gpx(
                point(0, "<sat>7</sat><x:deep><x:hdop>1</x:hdop></x:deep>") + point(1, "<sat>8</sat><empty/>"),
                type: "<desc>a walk</desc><number>3</number>"))
        #expect(file.counted == ["sat": 2, "hdop": 1, "empty": 1, "desc": 1, "number": 1])
        let many = (0..<1000).map { "<n\($0)/>" }.joined()
        let flood = try ImportedFile(gpx: gpx(point(0, many)))
        #expect(flood.counted.count <= SkipNames.maximum + 1 && flood.counted.values.reduce(0, +) == 1000)
    }

    /// A file that is cut anywhere gives each heart rate before the cut.
    @Test func truncationKeepsEarlierHeartRates() throws {
        let bytes = gpx(point(0, "<hr>60</hr>") + point(1, "<hr>61</hr>", place: ""), type: "<type>running</type>")
        let text = String(decoding: bytes, as: UTF8.self)
        for cut in bytes.indices {
            let file = try ImportedFile(gpx: bytes[..<cut])
            let whole = text.prefix(cut).ranges(of: "</trkpt>").count
            #expect(lines(file).count == whole && file.error != nil, "cut at \(cut)")
        }
    }
}
