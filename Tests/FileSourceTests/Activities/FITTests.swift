import HealthModel
import Pipeline
import Testing

@testable import FileSource

/// Files that `Files/activities/make.py` wrote after the protocol. The figures are those that fitdecode 0.11.0 reads in them, and of all before
/// the first time in a header garmin-fit-sdk 21.218.0 as well, which knows no such times.
@Suite struct FITTests {
    private func file(_ name: String = "ride") throws -> [UInt8] { try testFile("activities/\(name).fit").bytes }

    @Test(arguments: ["ride", "ride-big-endian"]) func readsRecordMessages(_ name: String) throws {
        let file = try ImportedActivity(fit: try file(name))
        #expect(file.error == nil)
        #expect(file.refused.isEmpty)
        #expect(file.counted == ["hrv": 1, "record.distance": 2, "developer.field_0": 1])
        #expect(
            file.lines == [
                "heartRate 112 /min 115200 +02:00", "cyclingCadence 80.5000000 /min 115200 +02:00",
                "cyclingPower 180 W 115200 +02:00", "cyclingSpeed 6.500 m/s 115200 +02:00", "heartRate 128 /min 115230 +02:00",
                "heartRate 129 /min 115231 +02:00", "heartRate 133 /min 115321 +02:00",
            ])
        #expect(
            try points(of: file.of(.workoutRoute).first) == [
                ["0", "52.51627461", "13.37770413", "34.2", "-", "-", "-", "6.500"],
                ["30000000", "-33.85678444", "-151.21529670", "34.4", "-", "-", "-", "-"],
            ])
        let device = try #require(file.readings.first?.origin.device)
        #expect(device.key == "Garmin/product 3121/3123456789")
    }

    @Test func makesWorkoutWithPauses() throws {
        let file = try ImportedActivity(fit: try file())
        let reading = try #require(file.of(.workout).first)
        #expect(reading.numeral.text == "13")
        guard case .instants(let start, let end, _) = reading.time else { return }
        #expect(start == Instant(seconds: 1_777_708_800))
        #expect(end == Instant(microseconds: 1_777_708_950_500_000))
        let workout = try #require(file.workout)
        #expect(workout.duration?.numeral.text == "90.500")
        #expect(workout.events.map(\.type) == ["lap", "pause", "resume", "lap"])
        #expect(workout.events.map(\.start) == [0, 60_000_000, 120_000_000, 120_000_000])
        #expect(workout.statistics.map(\.type) == ["distanceCycling", "totalEnergyBurned", "heartRate"])
        #expect(workout.statistics[0].sum?.numeral.text == "600.75")
        #expect(workout.statistics[2].average?.numeral.text == "124")
        #expect(workout.statistics[2].maximum?.numeral.text == "133")
        // Without the timer's events, start, end and pauses give the same result: 150.5 s minus 60.
        var untimed = workout
        untimed.duration = nil
        #expect(untimed.seconds(from: start, to: end) == 90.5)
    }

    /// Sessions come after all records, and not in the order of their starts.
    @Test func pointsBelongToTheSessionOfTheirTime() throws {
        let file = try ImportedActivity(fit: try file("multisport"))
        #expect(file.refused.isEmpty)
        #expect(
            file.readings.map { "\($0.origin.type.id) \($0.numeral.text)" } == [
                "heartRate 100", "heartRate 140", "workout 46", "heartRate 141", "runningPower 220", "workout 37", "workout 16",
            ])
        #expect(file.readings.first?.origin.device?.key == "Wahoo Fitness/ELEMNT")
        let both = try ImportedActivity(fit: try self.file("chained"))
        #expect(both.readings.count == 16)
        #expect(both.error == nil)
    }

    @Test func derivesWorkoutFromPointsWithoutSession() throws {
        let file = try ImportedActivity(fit: try file("no-session"))
        #expect(file.lines == ["heartRate 100 /min 2700000 -"])
        // The second point has its time in seconds since the device was switched on.
        #expect(file.refused.map(\.reason) == ["the point has no time"])
        let workout = try #require(file.of(.workout).first)
        #expect(workout.numeral.text == "3000" && workout.ordinal == 0 && workout.metadata == nil)
        let only = Instant(seconds: 1_777_593_600 + 2_700_000)
        #expect(workout.time == .instants(start: only, end: only, offset: nil))
    }

    @Test func otherFilesAreRefused() throws {
        let file = try ImportedActivity(fit: try file("settings"))
        #expect(file.error?.reason == "it is a FIT file of type 2, and only activities (type 4) are supported")
        let fit = TemporaryFile(try self.file())
        #expect(FITFile.recognises(try InputFile(path: fit.path)))
        #expect(!TCXFile.recognises(try InputFile(path: fit.path)))
        #expect(try ImportedActivity(fit: []).error?.reason == "the file ends in the middle (nothing was imported)")
    }

    @Test func truncatedFileGivesNoReadings() throws {
        let whole = try file()
        for end in 0..<whole.count {
            let file = try ImportedActivity(fit: whole[..<end])
            #expect(file.error?.kind == .malformed, "cut at \(end)")
            #expect(file.readings.isEmpty)
        }
    }

    @Test func detectsAnyDamagedByte() throws {
        let whole = try file()
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x10
            let file = try ImportedActivity(fit: damaged)
            #expect(file.error?.kind == .malformed, "octet \(index)")
            #expect(file.readings.isEmpty)
        }
    }

    @Test func checksumIsCRC16() {
        var checksum = FITChecksum()
        checksum.add(Array("123456789".utf8))
        // The check value of CRC-16/ARC.
        #expect(checksum.value == 0xBB3D)
        #expect(FITBytes.checksum(Array("123456789".utf8)) == 0xBB3D)
    }

    @Test(
        arguments: [
            ([0x00, 1], "a message has no definition"), ([0x81], "a time offset has no time before it"),
            ([0x40, 0, 2, 20, 0, 0], "a definition has an unknown byte order"),
            ([0x40, 0, 0, 20, 0, 255, 253, 4, 0x86], "a message is longer than the data that its header announces"),
            ([0x40, 0, 0, 20, 0, 1, 3, 255, 2, 0x00, 1], "a message is longer than the data that its header announces"),
            ([0x60, 0, 0, 20, 0, 0, 255, 1, 1], "a message is longer than the data that its header announces"),
        ] as [([UInt8], String)]) func refusesInvalidMessages(_ data: [UInt8], _ reason: String) throws
    {
        let file = try ImportedActivity(fit: FITBytes(data: data).file)
        #expect(file.error?.reason == reason)
    }

    /// The largest possible definition: 255 fields of 255 bytes and as many developer fields, none of which fits its type.
    @Test func readsTheLargestMessages() throws {
        var bytes = FITBytes(data: [0x40, 0, 0, 0, 0, 1, 0, 1, 0, 0x00, 4])
        bytes.data += [0x61, 0, 0, 20, 0, 255]
        for number in UInt8(0)...254 { bytes.data += [number, 255, 0x86] }
        bytes.data.append(255)
        for number in UInt8(0)...254 { bytes.data += [number, 255, 0] }
        for byte in UInt8(0)..<3 { bytes.data += [0x01] + [UInt8](repeating: byte, count: 2 * 255 * 255) }
        let file = try ImportedActivity(fit: bytes.file)
        #expect(file.error == nil)
        #expect(file.readings.isEmpty)
        #expect(file.refused.count == 4)
    }

    /// Correct checksums around random bytes of few values, so that definitions and data occur.
    @Test func survivesRandomBytes() throws {
        var random = SystemRandom(seed: 17)
        let words: [UInt8] = [0, 1, 2, 3, 4, 18, 19, 20, 21, 34, 253, 0x40, 0x41, 0x60, 0x80, 0x84, 0x85, 0x86, 7, 255]
        for _ in 0..<3000 {
            var bytes = FITBytes(data: [0x40, 0, 0, 0, 0, 1, 0, 1, 0, 0x00, 4])
            for _ in 0..<Int(random.next() % 120) { bytes.data.append(words[Int(random.next() % UInt64(words.count))]) }
            let file = try ImportedActivity(fit: bytes.file)
            #expect(file.error != nil || file.readings.isEmpty || file.readings.allSatisfy { $0.ordinal < 1 << 31 })
        }
    }

    /// The same every time.
    private struct SystemRandom {
        var seed: UInt64
        mutating func next() -> UInt64 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return seed >> 33
        }
    }
}
