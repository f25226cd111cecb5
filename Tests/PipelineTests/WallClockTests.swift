import HealthModel
import PipelineTesting
import Testing

@testable import Pipeline

/// Local times of a file: which instants they are, in the order of the file.
@Suite struct WallClockTests {
    /// Rows are `HH:MM` on 25 October 2026, when clocks in Berlin go back from 03:00 to 02:00, or complete times. `=36.7` is the value.
    private static func readings(_ rows: [String], ticks: [Int64]? = nil) throws -> [Reading] {
        try rows.enumerated().map { index, row in
            let parts = row.split(separator: "=").map(String.init)
            let text = parts[0].count == 5 ? "2026-10-25T\(parts[0]):00" : parts[0]
            let wall = try WallTime(text)
            return try NormaliserTests.reading(
                parts.count > 1 ? parts[1] : "36.\(index)", "Cel", .wall(start: wall, end: wall, ticks: ticks?[index]),
                line: index + 1)
        }
    }

    /// Instants of the rows as `HH:MM` in UTC, `-` for a refused row, and the whole output.
    private static func resolve(
        _ rows: [String], ticks: [Int64]? = nil, zone: TimeZoneRules? = nil
    ) throws -> (times: [String], output: Normaliser.Output) {
        let zone = try zone ?? .berlin
        let output = NormaliserTests.normalise(try readings(rows, ticks: ticks).map { [$0] }, zone: zone)
        var times = [String](repeating: "?", count: rows.count)
        for sample in output.samples {
            times[sample.place.number - 1] = String(sample.sample.start.description.dropFirst(11).prefix(5))
        }
        for refusal in output.refusals { times[refusal.place.number - 1] = "-" }
        return (times, output)
    }

    @Test func ascending() throws {
        let rows = ["01:30", "02:00", "02:30", "02:59", "02:00", "02:30", "03:00", "04:00"]
        let (times, output) = try Self.resolve(rows)
        #expect(times == ["23:30", "00:00", "00:30", "00:59", "01:00", "01:30", "02:00", "03:00"])
        #expect(
            output.samples.map { $0.sample.zone?.description } == [
                "+02:00", "+02:00", "+02:00", "+02:00", "+01:00", "+01:00", "+01:00", "+01:00",
            ])
    }

    @Test func descending() throws {
        let (times, _) = try Self.resolve(["04:00", "03:00", "02:30", "02:00", "02:59", "02:30", "02:00", "01:30"])
        #expect(times == ["03:00", "02:00", "01:30", "01:00", "00:59", "00:30", "00:00", "23:30"])
    }

    @Test func theFilesEndsMayLieInTheHour() throws {
        #expect(try Self.resolve(["01:30", "02:30", "02:10"]).times == ["23:30", "00:30", "01:10"])
        #expect(try Self.resolve(["02:30", "02:10", "03:10"]).times == ["00:30", "01:10", "02:10"])
        #expect(
            try Self.resolve(["02:10", "02:20", "02:30", "02:00", "02:10"]).times == [
                "00:10", "00:20", "00:30", "01:00", "01:10",
            ])
        #expect(
            try Self.resolve(["02:10", "02:00", "02:40", "02:30", "02:20"]).times == [
                "01:10", "01:00", "00:40", "00:30", "00:20",
            ])
    }

    /// Nothing resolves the time, so the row is refused and not guessed. The rows around it are kept.
    @Test(arguments: [
        ["02:30"], ["02:30", "02:40"], ["01:30", "02:30", "03:30"], ["03:30", "02:30", "01:30"],
        ["01:30", "02:10", "02:20", "03:30"],
        // Two steps back match neither one pass nor two.
        ["01:30", "02:30", "02:10", "02:40", "02:20", "03:30"], ["02:30", "02:10"],
    ])
    func withoutEvidence(rows: [String]) throws {
        let (times, output) = try Self.resolve(rows)
        for (row, time) in zip(rows, times) { #expect((time == "-") == row.hasPrefix("02"), "\(rows) gives \(times)") }
        #expect(output.refusals.allSatisfy { $0.reason.contains("occurs twice in Europe/Berlin") })
    }

    @Test func theGapIsRefused() throws {
        let day = "2026-03-29T"
        let (times, output) = try Self.resolve(["\(day)01:59:00", "\(day)02:00:00", "\(day)02:59:59", "\(day)03:00:00"])
        #expect(times == ["00:59", "-", "-", "01:00"])
        #expect(output.refusals.allSatisfy { $0.reason.contains("does not exist in Europe/Berlin") })
    }

    /// A sequence across years and back is right without a memory of earlier rows.
    @Test func jumpsBetweenSeasons() throws {
        let rows = [
            "2026-07-01T12:00:00", "2026-01-01T12:00:00", "2025-07-01T12:00:00", "2026-10-25T01:59:00", "2026-10-25T03:00:00",
            "2026-03-29T03:00:00",
            "2026-03-29T01:59:00", "2026-10-25T03:00:00", "2026-10-25T01:59:00",
        ]
        #expect(
            try Self.resolve(rows).times == ["10:00", "11:00", "10:00", "23:59", "02:00", "01:00", "00:59", "02:00", "23:59"])
    }

    /// Two years' double hours in one file are two stretches.
    @Test func twoAutumns() throws {
        let rows = [
            "2025-10-26T02:30:00", "2025-10-26T02:10:00", "2026-10-25T02:30:00", "2026-10-25T02:10:00", "2026-10-25T04:00:00",
        ]
        #expect(try Self.resolve(rows).times == ["00:30", "01:10", "00:30", "01:10", "03:00"])
    }

    /// A zone without daylight saving is equivalent to a fixed offset. So is one that abolished it. Times near the limits are covered.
    @Test(arguments: [("IST-5:30", "06:30"), ("<-05>5", "17:00"), ("UTC0", "12:00"), ("<+14>-14", "22:00"), ("<-12>12", "00:00")])
    func zonesWithoutDaylightSaving(rule: String, expected: String) throws {
        let zone = try TimeZoneRules(rule: rule, identifier: "Zone")
        let (times, _) = try Self.resolve(["2026-06-01T12:00:00", "2026-01-01T12:00:00"], zone: zone)
        #expect(times == [expected, expected])
    }

    @Test func fixedZones() throws {
        let (times, _) = try Self.resolve(["02:30", "02:30", "02:10"], zone: TimeZoneRules(fixed: ZoneOffset(seconds: 3600)))
        #expect(times == ["01:30", "01:30", "01:10"])
    }

    /// A counter that continues distinguishes the two passes, even if the order of the rows does not.
    @Test func ticksResolveRepeatedHour() throws {
        // Half-hourly from 01:30 on: the clock goes back between the third and the fourth.
        let rows = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"]
        #expect(
            try Self.resolve(rows, ticks: [100, 1900, 3700, 5500, 7300, 9100]).times == [
                "23:30", "00:00", "00:30", "01:00", "01:30", "02:00",
            ])
        // One row in the hour, and only the counter knows which pass.
        #expect(try Self.resolve(["01:30", "02:30", "03:30"], ticks: [0, 3600, 10_800]).times == ["23:30", "00:30", "02:30"])
        #expect(try Self.resolve(["01:30", "02:30", "03:30"], ticks: [0, 7200, 10_800]).times == ["23:30", "01:30", "02:30"])
    }

    /// A receiver whose clock was not changed continues in daylight saving time, as its counter shows.
    @Test func ticksOfAClockThatWasNotChanged() throws {
        let rows = ["01:30", "02:30", "03:30", "04:30"]
        #expect(try Self.resolve(rows, ticks: [0, 3600, 7200, 10_800]).times == ["23:30", "00:30", "01:30", "02:30"])
        let spring = ["2026-03-29T01:30:00", "2026-03-29T02:30:00", "2026-03-29T03:30:00"]
        #expect(try Self.resolve(spring, ticks: [0, 3600, 7200]).times == ["00:30", "01:30", "02:30"])
    }

    /// A counter that was reset proves nothing, and the zone decides.
    @Test func resetTicksProveNothing() throws {
        #expect(try Self.resolve(["01:30", "12:00", "12:05"], ticks: [1_000_000, 3, 303]).times == ["23:30", "11:00", "11:05"])
        #expect(try Self.resolve(["12:00", "12:05"], ticks: [.min, .max]).times == ["11:00", "11:05"])
    }

    // MARK: equal values in both passes

    private static func identities(_ output: Normaliser.Output) -> [SampleIdentity] {
        output.samples.sorted { $0.place.number < $1.place.number }.map(\.sample.identity)
    }

    /// The same value at the same local time in both passes is two readings. Once more in one pass is a repeated row.
    @Test func equalValuesInBothPasses() throws {
        let rows = ["01:30=36.6", "02:10=36.6", "02:30=36.6", "02:30=36.6", "02:10=36.6", "02:30=36.6", "03:30=36.6"]
        let (times, output) = try Self.resolve(rows)
        #expect(times == ["23:30", "00:10", "00:30", "00:30", "01:10", "01:30", "02:30"])
        let identities = Self.identities(output)
        #expect(Set(identities).count == 6)
        #expect(identities[2] == identities[3])
    }

    /// Written with more digits it is still the same value: two readings all the same.
    @Test func equalValuesWrittenDifferently() throws {
        let (_, output) = try Self.resolve(["01:30=36.6", "02:30=36.6", "02:10=36.1", "02:30=36.60", "03:30=36.6"])
        #expect(Set(Self.identities(output)).count == 5)
    }

    @Test func equalValuesWithTicks() throws {
        let (times, output) = try Self.resolve(
            ["01:30=36.6", "02:30=36.6", "02:30=36.6", "03:30=36.6"], ticks: [0, 3600, 7200, 10_800])
        #expect(times == ["23:30", "00:30", "01:30", "02:30"])
        #expect(Set(Self.identities(output)).count == 4)
        // The file begins within the hour, so the counter has no reference.
        let (_, early) = try Self.resolve(
            ["02:10=36.6", "02:30=36.6", "02:10=36.6", "02:30=36.6", "03:30=36.6"], ticks: [0, 1200, 3600, 4800, 8400])
        #expect(Set(Self.identities(early)).count == 5)
    }

    /// Another assumption about the zone gives other instants and the same UUIDs (story 23).
    @Test func identityDoesNotDependOnZone() throws {
        let rows = ["01:30", "02:00", "02:30", "02:10", "02:40", "03:00"]
        let berlin = try Self.resolve(rows).output
        let fixed = try Self.resolve(rows, zone: TimeZoneRules(fixed: ZoneOffset(seconds: -18_000))).output
        let kolkata = try Self.resolve(rows, zone: TimeZoneRules(rule: "IST-5:30", identifier: "Asia/Kolkata")).output
        #expect(Self.identities(berlin) == Self.identities(fixed))
        #expect(Self.identities(berlin) == Self.identities(kolkata))
        #expect(berlin.samples.map(\.sample.start) != fixed.samples.map(\.sample.start))
        #expect(berlin.samples.map(\.sample.nominalStart) == fixed.samples.map(\.sample.nominalStart))
    }

    /// Read up or down, one file gives the same set of UUIDs.
    @Test func identityDoesNotDependOnOrder() throws {
        let rows = ["01:30=36.6", "02:00=36.6", "02:30=36.6", "02:00=36.6", "02:30=36.7", "03:00=36.6"]
        let up = try Self.resolve(rows).output
        let down = try Self.resolve(rows.reversed()).output
        #expect(Set(Self.identities(up)) == Set(Self.identities(down)))
        #expect(Set(Self.identities(up)).count == 6)
    }

    /// A frame of several readings is quarantined and released as a whole, with its group.
    @Test func framesInTheDoubleHour() throws {
        func frame(_ time: String, line: Int) throws -> [Reading] {
            let wall = try WallTime("2026-10-25T\(time):00")
            return try ["36.1", "36.2"].map {
                try NormaliserTests.reading($0, "Cel", .wall(start: wall, end: wall, ticks: nil), line: line, group: .frame)
            }
        }
        let frames = try [("01:30", 1), ("02:30", 2), ("02:10", 3), ("02:30", 4), ("03:30", 5)].map {
            try frame($0.0, line: $0.1)
        }
        let output = NormaliserTests.normalise(frames, zone: try .berlin)
        #expect(output.samples.count == 10)
        #expect(Set(output.samples.map(\.sample.identity)).count == 10)
        #expect(Set(output.samples.map(\.sample.group)).count == 5)
        #expect(output.samples.map(\.place.number) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        let refused = NormaliserTests.normalise([try frame("02:30", line: 9)], zone: try .berlin)
        #expect(refused.refusals.map(\.place) == [Place(.line, 9)])
    }

    /// An interval that the change of clocks falls into is as long as it really was.
    @Test func intervalsAcrossTheChange() throws {
        let spring = ReadingTime.wall(
            start: try WallTime("2026-03-29T01:30:00"), end: try WallTime("2026-03-29T03:30:00"), ticks: nil)
        let autumn = ReadingTime.wall(
            start: try WallTime("2026-10-25T01:30:00"), end: try WallTime("2026-10-25T03:30:00"), ticks: nil)
        let output = NormaliserTests.normalise(
            [[try NormaliserTests.reading(spring)], [try NormaliserTests.reading(autumn)]], zone: try .berlin)
        #expect(output.samples.map { ($0.sample.end.microseconds - $0.sample.start.microseconds) / 60_000_000 } == [60, 180])
    }
}
