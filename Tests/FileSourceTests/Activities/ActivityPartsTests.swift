import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// A part that is bad is refused by itself, and a part that nothing is stored of is counted by its name.
@Suite struct ActivityPartsTests {
    private func file(_ name: String) throws -> [UInt8] { try testFile("activities/\(name)").bytes }

    private func count(_ file: ImportedActivity) -> [String: Int] {
        Dictionary(grouping: file.readings, by: \.origin.type.id).mapValues(\.count)
    }

    // MARK: FIT

    /// Heart rates of a strap, chained after the activity without a file_id.
    @Test func messagesOfAChainedFileAreCounted() throws {
        let file = try ImportedActivity(fit: try file("chained-heart-rate.fit"))
        #expect(file.error == nil && file.refused.isEmpty)
        #expect(
            count(file) == [
                "heartRate": 6, "cyclingCadence": 6, "cyclingPower": 6, "cyclingSpeed": 6, "workout": 1, "workoutRoute": 1,
            ])
        #expect(file.counted["hr"] ?? 0 > 0)
    }

    @Test func lapWithoutLengthEndsAtTimestamp() throws {
        let file = try ImportedActivity(fit: try file("lap-without-length.fit"))
        #expect(file.refused.isEmpty)
        #expect(count(file)["workout"] == 1 && count(file)["workoutRoute"] == 1)
        #expect(file.workout?.duration?.numeral.doubleValue == 60)
    }

    @Test func truncatedRecordingUsesSportMessage() throws {
        let file = try ImportedActivity(fit: try file("without-session.fit"))
        #expect(file.refused.isEmpty)
        #expect(
            count(file) == [
                "heartRate": 6, "cyclingCadence": 6, "cyclingPower": 6, "cyclingSpeed": 6, "workout": 1, "workoutRoute": 1,
            ])
        let workout = try #require(file.of(.workout).first)
        #expect(workout.numeral.text == "13" && workout.metadata?["sport"] == .string("cycling"))
        guard case .instants(let start, let end, _) = workout.time else { return }
        #expect(end.microseconds - start.microseconds == 50_000_000)
    }

    /// Two sports, or none: the sport is unknown, and values that need one are counted.
    @Test(arguments: [[], [1, 2]]) func withoutASportNumbersAreCounted(sports: [UInt64]) throws {
        var bytes = FITBytes()
        bytes.addFile(4)
        for sport in sports { bytes.add(12, [(0, 1, 0x00, sport)]) }
        for second in 0..<3 {
            bytes.add(
                20,
                [
                    (253, 4, 0x86, time + UInt64(second)), (3, 1, 0x02, 120), (4, 1, 0x02, 80), (7, 2, 0x84, 200),
                    (6, 2, 0x84, 5000),
                    (13, 1, 0x01, 20), (200, 1, 0x02, 1),
                ])
        }
        let file = try ImportedActivity(fit: bytes.file)
        #expect(file.refused.isEmpty && count(file) == ["heartRate": 3, "workout": 1])
        #expect(file.of(.workout).first?.numeral.text == "3000")
        #expect(
            file.counted == [
                "record.cadence": 3, "record.power": 3, "record.speed": 3, "record.temperature": 3, "record.unknown_200": 3,
            ])
    }

    private let time: UInt64 = 1_150_000_000

    private func activity(_ points: Int) -> [UInt8] {
        var bytes = FITBytes()
        bytes.addFile(4)
        for second in 0..<points { bytes.addPoint(time + UInt64(second), heartRate: 60 + UInt64(second)) }
        return bytes.file
    }

    private func beats(_ count: Int) -> [UInt8] {
        var bytes = FITBytes()
        for _ in 0..<count { bytes.add(132, [(6, 1, 0x02, 70)]) }
        return bytes.file
    }

    /// Each file of a chain is read independently of the others.
    @Test func readsChainedFilesIndependently() throws {
        var random = SeededGenerator(seed: 37)
        for _ in 0..<200 {
            var (bytes, points, beatsCounted, broken, others): ([UInt8], Int, Int, [Int], Int) = ([], 0, 0, [], 0)
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let count = Int.random(in: 1...3, using: &random)
                    bytes += activity(count)
                    points += count
                case 1:
                    let count = Int.random(in: 1...3, using: &random)
                    bytes += beats(count)
                    beatsCounted += count
                case 2:
                    var settings = FITBytes()
                    settings.addFile(2)
                    bytes += settings.file
                    others += 1
                default:
                    // The last byte belongs to the checksum.
                    var damaged = activity(2)
                    damaged[damaged.count - 1] ^= 0x10
                    bytes += damaged
                    broken.append(bytes.count)
                }
            }
            let file = try ImportedActivity(fit: bytes)
            guard points > 0 else {
                #expect(file.error != nil && file.readings.isEmpty)
                continue
            }
            #expect(file.error == nil && count(file)["heartRate"] == points)
            #expect(file.counted["hr"] ?? 0 == beatsCounted && file.counted["file_id"] ?? 0 == others)
            // With the offset of the first byte that cannot be read.
            #expect(file.refused.map(\.place) == broken.map { Place(.byte, $0) })
            #expect(file.refused.allSatisfy { $0.reason.contains("checksum") })
        }
    }

    @Test func truncatedChainGivesEarlierFiles() throws {
        let (one, two) = (activity(2), activity(3))
        let whole = one + beats(1) + two
        for cut in whole.indices {
            let file = try ImportedActivity(fit: whole[..<cut])
            if cut < one.count {
                #expect(file.error?.kind == .malformed && file.readings.isEmpty, "cut at \(cut)")
            } else {
                let isBetween = cut == one.count || cut == whole.count - two.count
                #expect(file.error == nil && count(file)["heartRate"] == 2, "cut at \(cut)")
                #expect(file.refused.count == (isBetween ? 0 : 1), "cut at \(cut)")
                // The message that is cut off begins in the file that is.
                let start = cut < whole.count - two.count ? one.count : whole.count - two.count
                #expect(file.refused.allSatisfy { (start...cut).contains($0.place.number) }, "cut at \(cut)")
            }
        }
    }

    /// Bytes that do not begin a file end the chain and are refused once.
    @Test func refusesTrailingBytesOnce() throws {
        let one = activity(2)
        let file = try ImportedActivity(fit: one + [UInt8](repeating: 0, count: 1000))
        #expect(count(file)["heartRate"] == 2)
        #expect(file.refused == [Refusal("file 2 of 2 in one: it is not a FIT file", at: Place(.byte, one.count))])
    }

    // MARK: Times that cannot be

    /// 1989 is not a time in FIT, 2090 is one.
    @Test func refusesOnlyPointWithImpossibleTime() throws {
        var bytes = FITBytes()
        bytes.addFile(4)
        bytes.addPoint(time, heartRate: 60, place: 0x2000_0000)
        bytes.addPoint(3_170_000_000, heartRate: 61, place: 0x2100_0000)
        bytes.addPoint(time + 1, heartRate: 62, place: 0x2200_0000)
        // Two sessions: a time that cannot be does not end the first.
        for (start, sport) in [(time, UInt64(2)), (time + 100, 1)] {
            bytes.add(18, [(253, 4, 0x86, start + 50), (2, 4, 0x86, start), (5, 1, 0x00, sport), (7, 4, 0x86, 50_000)])
        }
        let fit = try ImportedActivity(fit: bytes.file)
        #expect(fit.refused.map(\.reason) == ["a point: the time is in the future"])
        #expect(fit.readings.map(\.numeral.text) == ["60", "62", "13", "0", "37"])
        #expect(try points(of: fit.of(.workoutRoute).first).map { $0[0] } == ["0", "1000000"])
        for (year, reason) in [
            ("1901", "the time is before 1971: the clock was not set"), ("2099", "the time is in the future"),
        ] {
            let track = ["2025", year, "2025"].enumerated().map { index, year in
                "<Trackpoint><Time>\(year)-05-02T08:00:0\(index)Z</Time><Position><LatitudeDegrees>5</LatitudeDegrees>"
                    + "<LongitudeDegrees>\(index)</LongitudeDegrees></Position><HeartRateBpm><Value>60</Value></HeartRateBpm></Trackpoint>"
            }
            let tcx = try ImportedActivity(tcx: tcx(track.joined(separator: "\n"), sport: "Running"))
            #expect(tcx.refused.map(\.reason) == ["a point: " + reason] && tcx.refused.map(\.place) == [Place(.line, 2)])
            #expect(count(tcx) == ["heartRate": 2, "workout": 1, "workoutRoute": 1])
            #expect(try points(of: tcx.of(.workoutRoute).first).map { $0[2] } == ["0", "2"])
        }
    }

    private func tcx(_ track: String, sport: String) -> [UInt8] {
        Array(
            (#"<TrainingCenterDatabase><Activities><Activity Sport="\#(sport)"><Lap StartTime="2025-05-02T08:00:00Z"><TotalTimeSeconds>9"#
                + "</TotalTimeSeconds><Track>\(track)</Track></Lap></Activity></Activities></TrainingCenterDatabase>").utf8)
    }

    // MARK: TCX

    @Test func aPlaceOfTheSameTimeIsStoredOnce() throws {
        let file = try ImportedActivity(tcx: try file("laps-that-repeat.tcx"))
        #expect(file.refused.isEmpty && count(file)["heartRate"] == 12)
        let route = try points(of: file.of(.workoutRoute).first)
        #expect(route.map { $0[0] } == (0..<6).map { "\($0 * 60_000_000)" })
    }

    /// Random walks over few times and positions. The stored points are those of a set, in the order of their first occurrence.
    @Test func repeatedPlacesAtRandom() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var route = RoutePoints(received: Instant(seconds: 1_800_000_000))
            var expected: [[Int64]] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                let point = [Int64.random(in: 0..<6, using: &random), .random(in: 0..<3, using: &random)]
                let location = RoutePoints.Location(
                    time: 1_700_000_000_000_000 + point[0], latitude: Numeral(coefficient: point[1]),
                    longitude: Numeral(coefficient: 10, exponent: -1))
                let outcome = try route.append(location)
                #expect(outcome == (expected.contains(point) ? .repeated : .added))
                if outcome == .added { expected.append(point) }
            }
            #expect(route.count == expected.count)
        }
    }

    @Test func aWalkOfGoogleFit() throws {
        let file = try ImportedActivity(tcx: try file("walking.tcx"))
        #expect(file.refused.isEmpty)
        let workout = try #require(file.of(.workout).first)
        #expect(workout.numeral.text == "52" && workout.metadata?["sport"] == .string("Walking"))
        #expect(file.workout?.statistics.first?.type == "distanceWalkingRunning")
    }

    @Test(arguments: [
        ("Running", 37), ("running", 37), ("RUN", 37), ("Biking", 13), ("Cycling", 13), ("MountainBikeRide", 13), ("Walking", 52),
        ("Hiking", 24), ("hike", 24), ("Swimming", 46), ("open_water_swimming", 46), ("Rowing", 35), ("Yoga", 57),
        ("cross_country_skiing", 60), ("Elliptical", 16), ("Strength training", 50), ("Other", 3000), ("Chess", 3000),
        ("Spaziergang", 3000),
    ])
    func sportsInOtherWords(word: String, number: Int) {
        let sport = ActivitySport(word: word)
        #expect(sport.number == number)
        #expect(sport.isUnknown == ["Chess", "Spaziergang"].contains(word))
    }

    @Test(arguments: [
        ("Running", "runningSpeed"), ("Biking", "cyclingSpeed"), ("Walking", "walkingSpeed"), ("Rowing", "rowingSpeed"),
        ("Kayaking", "paddleSportsSpeed"), ("Cross country skiing", "crossCountrySkiingSpeed"), ("Hiking", nil), ("Other", nil),
    ])
    func speedsOfSports(sport: String, type: String?) throws {
        let values = "<Extensions><TPX><Speed>2.5</Speed><RunCadence>80</RunCadence></TPX></Extensions>"
        let placed = "<Position><LatitudeDegrees>5</LatitudeDegrees><LongitudeDegrees>5</LongitudeDegrees></Position>"
        let track =
            "<Trackpoint><Time>2025-05-02T08:00:00Z</Time>\(values)</Trackpoint>"
            + "<Trackpoint><Time>2025-05-02T08:00:01Z</Time>\(placed)\(values)</Trackpoint>"
        let file = try ImportedActivity(tcx: tcx(track, sport: sport))
        #expect(file.refused.isEmpty)
        #expect(file.of(.quantity).map(\.origin.type.id) == (type.map { [$0, $0] } ?? []))
        // The speed of a place is stored with it.
        #expect(file.counted == (type == nil ? ["RunCadence": 2, "Speed": 1] : ["RunCadence": 2]))
    }

    /// The values stored for a point do not depend on errors in the rest of it.
    @Test func refusesOnlyInvalidValuesOfPoint() throws {
        let track =
            "<Trackpoint><Time>2025-05-02T08:00:00Z</Time><Position><LatitudeDegrees>95</LatitudeDegrees><LongitudeDegrees>5"
            + "</LongitudeDegrees></Position><HeartRateBpm><Value>61</Value></HeartRateBpm></Trackpoint>\n"
            + "<Trackpoint><Time>2025-05-02T08:00:01Z</Time><Position><LatitudeDegrees>5</LatitudeDegrees><LongitudeDegrees>5"
            + "</LongitudeDegrees></Position><HeartRateBpm><Value>many</Value></HeartRateBpm></Trackpoint>"
        let file = try ImportedActivity(tcx: tcx(track, sport: "Running"))
        #expect(
            file.refused.map(\.reason) == ["the latitude is not a possible number", "the heart rate is not a possible number"])
        #expect(file.refused.map(\.place) == [Place(.line, 1), Place(.line, 2)])
        #expect(count(file) == ["heartRate": 1, "workout": 1, "workoutRoute": 1])
    }
}
