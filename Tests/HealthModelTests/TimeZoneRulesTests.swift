import FoundationEssentials
import Testing

@testable import HealthModel

/// `Vectors/time_zones.json`: zone files of tzdata 2025b, some with all transitions and some that rely on the rule in their last line, and
/// the results of Python's `zoneinfo`: offsets at instants around the transitions, long before the first and long after the last, and the
/// possible offsets of a local time, found by asking `zoneinfo` for every offset that the zone ever had.
@Suite struct TimeZoneRulesTests {
    struct Zone: Decodable {
        let zone: String
        let tzif: Data
        /// Seconds since 1970, seconds ahead of UTC.
        let instants: [[Int64]]
        /// Seconds on the wall clock, then the offsets, the earlier instant first.
        let walls: [[Int64]]

        var rules: TimeZoneRules {
            get throws(TimeZoneError) { try TimeZoneRules(identifier: zone, tzif: Array(tzif)) }
        }
    }

    static func zones() throws -> [Zone] { try TestFile.json([Zone].self, "Vectors/time_zones.json") }

    static func zone(_ name: String) throws -> TimeZoneRules {
        try #require(try zones().first { $0.zone == name }).rules
    }

    @Test func offsetsAtInstants() throws {
        let zones = try Self.zones()
        #expect(zones.count >= 19)
        for zone in zones {
            let rules = try zone.rules
            #expect(rules.identifier == zone.zone)
            for pair in zone.instants {
                #expect(
                    rules.offset(at: Instant(seconds: pair[0])).seconds == Int32(pair[1]),
                    "\(zone.zone) at \(Instant(seconds: pair[0]))")
            }
        }
    }

    @Test func offsetsOfWallTimes() throws {
        for zone in try Self.zones() {
            let rules = try zone.rules
            for entry in zone.walls {
                let wall = WallTime(microseconds: entry[0] * 1_000_000)
                #expect(rules.offsets(at: wall).map { Int64($0.seconds) } == Array(entry.dropFirst()), "\(zone.zone) at \(wall)")
            }
        }
    }

    /// A period ends at a change of the offset, and periods follow each other without gaps.
    @Test func periodsMeet() throws {
        for zone in try Self.zones() {
            let rules = try zone.rules
            var instant = Instant(seconds: -4_000_000_000)
            var steps = 0
            while instant < Instant(seconds: 2_900_000_000) {
                let period = rules.period(at: instant)
                #expect(period.from <= instant && instant < period.until, "\(zone.zone) at \(instant)")
                #expect(period.offset == rules.offset(at: instant))
                if period.until.microseconds < 4_000_000_000_000_000 {
                    #expect(rules.offset(at: Instant(microseconds: period.until.microseconds - 1)) == period.offset)
                }
                guard period.until > instant else { break }
                instant = period.until
                steps += 1
            }
            #expect(steps < 500, "\(zone.zone)")
        }
    }

    /// Times at the limits of a microsecond count neither trap nor hang.
    @Test func farTimes() throws {
        for zone in try Self.zones() {
            let rules = try zone.rules
            for year in [1, 1600, 9999] {
                let wall = WallTime(microseconds: Int64(Calendar.days(year: year, month: 6, day: 30)) * Calendar.day)
                #expect(rules.offsets(at: wall).count == 1, "\(zone.zone) in \(year)")
            }
            _ = rules.period(at: Instant(microseconds: .min))
            _ = rules.period(at: Instant(microseconds: .max))
        }
    }

    @Test func gapsAndOverlaps() throws {
        func offsets(_ zone: String, _ text: String) throws -> [String] {
            try Self.zone(zone).offsets(at: Timestamp(iso8601: text).wall).map(\.description)
        }
        #expect(try offsets("Europe/Berlin", "2026-03-29T01:59:59.999999") == ["+01:00"])
        #expect(try offsets("Europe/Berlin", "2026-03-29T02:00:00") == [])
        #expect(try offsets("Europe/Berlin", "2026-03-29T02:59:59.999999") == [])
        #expect(try offsets("Europe/Berlin", "2026-03-29T03:00:00") == ["+02:00"])
        #expect(try offsets("Europe/Berlin", "2026-10-25T01:59:59.999999") == ["+02:00"])
        #expect(try offsets("Europe/Berlin", "2026-10-25T02:00:00") == ["+02:00", "+01:00"])
        #expect(try offsets("Europe/Berlin", "2026-10-25T02:59:59.999999") == ["+02:00", "+01:00"])
        #expect(try offsets("Europe/Berlin", "2026-10-25T03:00:00") == ["+01:00"])
        // Half an hour only.
        #expect(try offsets("Australia/Lord_Howe", "2026-04-05T01:30:00") == ["+11:00", "+10:30"])
        #expect(try offsets("Australia/Lord_Howe", "2026-04-05T02:00:00") == ["+10:30"])
        #expect(try offsets("Australia/Lord_Howe", "2026-10-04T02:15:00") == [])
        // A whole day that never was.
        #expect(try offsets("Pacific/Apia", "2011-12-29T23:59:59") == ["-10:00"])
        #expect(try offsets("Pacific/Apia", "2011-12-30T00:00:00") == [])
        #expect(try offsets("Pacific/Apia", "2011-12-30T23:59:59") == [])
        #expect(try offsets("Pacific/Apia", "2011-12-31T00:00:00") == ["+14:00"])
        // Ramadan: clocks go back in spring and forward again a month later.
        #expect(try offsets("Africa/Casablanca", "2026-02-15T02:30:00") == ["+01:00", "+00:00"])
        #expect(try offsets("Africa/Casablanca", "2026-03-22T02:30:00") == [])
    }

    @Test func truncatedFilesAreRefused() throws {
        for zone in try Self.zones() where ["Europe/Berlin", "Asia/Kathmandu", "Etc/GMT+5"].contains(zone.zone) {
            let bytes = Array(zone.tzif)
            let footer = try #require(bytes.dropLast().lastIndex(of: UInt8(ascii: "\n")))
            for count in 0..<bytes.count {
                if count < footer {
                    #expect(throws: TimeZoneError.self, "\(zone.zone) cut at \(count)") {
                        try TimeZoneRules(identifier: "cut", tzif: Array(bytes[..<count]))
                    }
                } else {
                    // The rest of the last line may itself be a rule. It must only not trap.
                    _ = try? TimeZoneRules(identifier: "cut", tzif: Array(bytes[..<count]))
                }
            }
        }
    }

    /// Every byte is set to values that are bad for counts, offsets and times. The file is refused or read, and one that was read gives
    /// results.
    @Test func damagedFilesDoNotTrap() throws {
        for zone in try Self.zones()
        where ["Asia/Kolkata", "Asia/Kathmandu", "Etc/GMT+5", "Pacific/Kiritimati"].contains(zone.zone) {
            let bytes = Array(zone.tzif)
            for index in bytes.indices {
                for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF, bytes[index] ^ 0x10] {
                    var damaged = bytes
                    damaged[index] = value
                    guard let rules = try? TimeZoneRules(identifier: "damaged", tzif: damaged) else { continue }
                    let wall = try Timestamp(iso8601: "2026-10-25T02:30:00").wall
                    #expect(rules.offsets(at: wall).count <= 4)
                    _ = rules.period(at: Instant(seconds: 4_000_000_000))
                    _ = rules.period(at: Instant(seconds: -4_000_000_000))
                }
            }
        }
    }

    /// The rule, and offsets at instants, each computed by Python's `zoneinfo` from a file with that last line.
    @Test(arguments: [
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2050-03-27T01:00:00Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2050-03-27T00:59:59Z", 3600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2050-10-30T00:59:59Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2050-10-30T01:00:00Z", 3600),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2050-10-01T15:29:59Z", 37800),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2050-10-01T15:30:00Z", 39600),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2051-04-01T14:59:59Z", 39600),
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2051-04-01T15:00:00Z", 37800),
        ("<+0545>-5:45", "2050-01-01T00:00:00Z", 20700), ("<-03>3", "2050-01-01T00:00:00Z", -10800),
        ("EST5EDT,M3.2.0,M11.1.0", "2050-03-13T06:59:59Z", -18000), ("EST5EDT,M3.2.0,M11.1.0", "2050-03-13T07:00:00Z", -14400),
        ("NST3:30NDT,M3.2.0,M11.1.0", "2050-07-01T00:00:00Z", -9000),
        ("NST3:30NDT,M3.2.0,M11.1.0", "2050-01-01T00:00:00Z", -12600),
        // A negative time: on the day before.
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2050-03-27T00:59:59Z", -7200),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2050-03-27T01:00:00Z", -3600),
        // More than a day, and daylight saving time that is behind standard time: Dublin's winter.
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2050-03-25T23:59:59Z", 7200),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2050-03-26T00:00:00Z", 10800),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2050-07-01T00:00:00Z", 3600), ("IST-1GMT0,M10.5.0,M3.5.0/1", "2050-12-01T00:00:00Z", 0),
        // Days of the year: with and without 29 February.
        ("AAA3BBB,J60/0,J300/0", "2048-03-01T02:59:59Z", -10800), ("AAA3BBB,J60/0,J300/0", "2048-03-01T03:00:00Z", -7200),
        ("AAA3BBB,59/0,300/0", "2048-02-29T02:59:59Z", -10800), ("AAA3BBB,59/0,300/0", "2048-02-29T03:00:00Z", -7200),
        ("AAA3BBB,59/0,300/0", "2049-03-01T03:00:00Z", -7200),
        // Daylight saving all year (RFC 9636, section 3.3.1): it ends as it begins.
        ("XXX3EDT4,0/0,J365/23", "2050-01-01T03:00:00Z", -14400), ("XXX3EDT4,0/0,J365/23", "2050-07-01T00:00:00Z", -14400),
        ("XXX3EDT4,0/0,J365/23", "2050-12-31T23:59:59Z", -14400),
        // A change close to the new year, in a zone far from UTC.
        ("AAA-14BBB,J365/23,J90/1", "2050-12-31T08:59:59Z", 50400), ("AAA-14BBB,J365/23,J90/1", "2050-12-31T09:00:00Z", 54000),
        ("AAA-14BBB,J365/23,J90/1", "2051-01-01T12:00:00Z", 54000),
    ])
    func rules(posix: String, instant: String, expected: Int32) throws {
        let rules = TimeZoneRules(identifier: posix, transitions: [], offsets: [.utc], rule: try YearlyRule(posix: posix))
        let instant = try #require(try Timestamp(iso8601: instant).instant)
        #expect(rules.offset(at: instant).seconds == expected)
    }

    @Test(arguments: [
        "", "C", "CE-1", "CET", "CET-", "CET-1CEST", "CET-1CEST,", "CET-1CEST,M3.5.0", "CET-1CEST,M3.5.0,",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0x", "CET-1CEST,J0,J365",
        "CET-1CEST,J1,J366",
        "CET-1CEST,366,1", "<+01-1", "CET-1CEST,M3.5.0/,M10.5.0", "CET-1:CEST,M3.5.0,M10.5.0", "CET-99999",
        "CET-1CEST,M0.5.0,M10.5.0",
        "CET-1CEST,M3.0.0,M10.5.0", "CET-25", "CET200",
    ])
    func malformedRules(posix: String) {
        #expect(throws: TimeZoneError.malformedRule(posix)) { try YearlyRule(posix: posix) }
    }

    /// Older compilers of zone files begin with the Big Bang, 2^59 seconds before 1970.
    @Test func bigBang() throws {
        let kathmandu = try #require(try Self.zones().first { $0.zone == "Asia/Kathmandu" })
        var bytes = Array(kathmandu.tzif)
        // The second header's counts give the start of the 64-bit times.
        let second = try #require((44..<bytes.count - 4).first { Array(bytes[$0..<$0 + 4]) == Array("TZif".utf8) })
        bytes.replaceSubrange(second + 44..<second + 52, with: [0xF8, 0, 0, 0, 0, 0, 0, 0])
        let rules = try TimeZoneRules(identifier: "Asia/Kathmandu", tzif: bytes)
        #expect(rules.period(at: Instant(seconds: -3_000_000_000)).from.microseconds == .min)
        #expect(rules.offset(at: Instant(seconds: 1_700_000_000)).seconds == 20_700)
    }

    @Test func fixedZones() {
        let zone = TimeZoneRules(fixed: ZoneOffset(seconds: -12_600))
        #expect(zone.identifier == "-03:30")
        #expect(TimeZoneRules(fixed: .utc).identifier == "UTC")
        #expect(zone.offsets(at: WallTime(microseconds: 0)) == [ZoneOffset(seconds: -12_600)])
        #expect(zone.period(at: Instant(microseconds: .min)).until.microseconds == .max)
    }
}
