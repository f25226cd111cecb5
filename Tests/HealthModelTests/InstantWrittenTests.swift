import Testing

@testable import HealthModel

/// Times as people write them, at a fixed now. The expected instants were computed with Python's `zoneinfo` or follow from the tests'
/// names.
@Suite struct InstantWrittenTests {
    private static func instant(_ text: String) throws -> Instant { try #require(try Timestamp(iso8601: text).instant) }

    private static func read(_ text: String, at now: String, in zone: String) throws -> String? {
        Instant(written: text, now: try instant(now), zone: try TimeZoneRulesTests.zone(zone))?.description
    }

    /// Monday, 2026-11-23. Midnight in Berlin is 23:00 UTC.
    @Test(arguments: [
        ("monday", "2026-11-22T23:00:00Z"), ("mon", "2026-11-22T23:00:00Z"), ("Monday", "2026-11-22T23:00:00Z"),
        ("sunday", "2026-11-21T23:00:00Z"), ("SUN", "2026-11-21T23:00:00Z"), ("saturday", "2026-11-20T23:00:00Z"),
        ("friday", "2026-11-19T23:00:00Z"), ("thursday", "2026-11-18T23:00:00Z"), ("wednesday", "2026-11-17T23:00:00Z"),
        ("tuesday", "2026-11-16T23:00:00Z"), ("tue", "2026-11-16T23:00:00Z"), ("today", "2026-11-22T23:00:00Z"),
        ("yesterday", "2026-11-21T23:00:00Z"), ("now", "2026-11-23T08:30:00Z"), ("-7d", "2026-11-16T08:30:00Z"),
        ("-90m", "2026-11-23T07:00:00Z"), ("-2w", "2026-11-09T08:30:00Z"), ("-1mo", "2026-10-23T07:30:00Z"),
        ("-1y", "2025-11-23T08:30:00Z"), ("2026-11-20", "2026-11-19T23:00:00Z"), ("2026-11-20T06:30:00", "2026-11-20T05:30:00Z"),
        ("2026-11-20 06:30", "2026-11-20T05:30:00Z"), ("2026-11-20T06:30:00Z", "2026-11-20T06:30:00Z"),
    ])
    func onAMonday(text: String, expected: String) throws {
        #expect(
            try Self.read(text, at: "2026-11-23T09:30:00+01:00", in: "Europe/Berlin") == Self.instant(expected).description)
    }

    /// Sunday, 2026-11-22: Monday is six days back, and Sunday is today from its first moment on.
    @Test func onASunday() throws {
        for now in ["2026-11-22T00:00:00+01:00", "2026-11-22T12:00:00+01:00", "2026-11-22T23:59:59+01:00"] {
            #expect(try Self.read("monday", at: now, in: "Europe/Berlin") == "2026-11-15T23:00:00.000000Z")
            #expect(try Self.read("sunday", at: now, in: "Europe/Berlin") == "2026-11-21T23:00:00.000000Z")
            #expect(try Self.read("saturday", at: now, in: "Europe/Berlin") == "2026-11-20T23:00:00.000000Z")
        }
    }

    /// Each weekday is one of the seven days that end with today, in every zone, also before 1970.
    @Test func weekdaysAreTheLastSevenDays() throws {
        let names = ["thursday", "friday", "saturday", "sunday", "monday", "tuesday", "wednesday"]
        for zone in ["UTC", "Asia/Kathmandu", "Pacific/Kiritimati", "Etc/GMT+5", "America/St_Johns"] {
            let rules = try TimeZoneRulesTests.zone(zone)
            let days = CalendarIntervals(.day, zone: rules)
            for now in ["1969-12-24T12:00:00Z", "1970-01-01T12:00:00Z", "2026-02-28T03:00:00Z", "2027-01-01T23:59:59Z"] {
                let now = try Self.instant(now)
                let today = days.index(of: now)
                for index in today - 6...today {
                    let name = names[(index % 7 + 7) % 7]
                    #expect(
                        Instant(written: name, now: now, zone: rules) == days.start(of: index), "\(name) at \(now) in \(zone)")
                }
            }
        }
    }

    /// Sunday, 2026-10-25, has 25 hours in Berlin: 02:30 occurs twice, and both are that Sunday.
    @Test func overTheAutumnHour() throws {
        for now in ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-25T23:30:00+01:00"] {
            #expect(try Self.read("today", at: now, in: "Europe/Berlin") == "2026-10-24T22:00:00.000000Z")
            #expect(try Self.read("sunday", at: now, in: "Europe/Berlin") == "2026-10-24T22:00:00.000000Z")
            #expect(try Self.read("monday", at: now, in: "Europe/Berlin") == "2026-10-18T22:00:00.000000Z")
        }
        let monday = "2026-10-26T00:30:00+01:00"
        #expect(try Self.read("monday", at: monday, in: "Europe/Berlin") == "2026-10-25T23:00:00.000000Z")
        #expect(try Self.read("yesterday", at: monday, in: "Europe/Berlin") == "2026-10-24T22:00:00.000000Z")
        // The same time of day, though 25 hours before.
        #expect(try Self.read("-1d", at: "2026-10-25T09:00:00+01:00", in: "Europe/Berlin") == "2026-10-24T07:00:00.000000Z")
        // A wall time that occurs twice is its first, so that a stretch from it on has both.
        #expect(try Self.read("2026-10-25T02:30:00", at: monday, in: "Europe/Berlin") == "2026-10-25T00:30:00.000000Z")
    }

    /// 02:00 to 03:00 of 2026-03-29 is not shown in Berlin.
    @Test func overTheSpringHour() throws {
        let now = "2026-03-30T12:00:00+02:00"
        #expect(try Self.read("sunday", at: now, in: "Europe/Berlin") == "2026-03-28T23:00:00.000000Z")
        #expect(try Self.read("today", at: now, in: "Europe/Berlin") == "2026-03-29T22:00:00.000000Z")
        #expect(try Self.read("2026-03-29T02:30:00", at: now, in: "Europe/Berlin") == nil)
    }

    /// If clocks go forward at midnight, a day begins at 01:00. If they go back at one o'clock, it has two midnights.
    @Test func daysWithoutMidnight() throws {
        let beirut = "2026-03-30T12:00:00+03:00"
        for text in ["yesterday", "sunday", "2026-03-29"] {
            #expect(try Self.read(text, at: beirut, in: "Asia/Beirut") == "2026-03-28T22:00:00.000000Z", "\(text)")
        }
        #expect(try Self.read("2018-11-04", at: beirut, in: "America/Sao_Paulo") == "2018-11-04T03:00:00.000000Z")
        // Also of a length that a date has, and of a year before the zone's first rule.
        #expect(try Self.read("1850-06-01", at: beirut, in: "UTC") == "1850-06-01T00:00:00.000000Z")
        let havana = "2026-11-02T12:00:00-05:00"
        for text in ["yesterday", "sunday", "2026-11-01"] {
            #expect(try Self.read(text, at: havana, in: "America/Havana") == "2026-11-01T04:00:00.000000Z", "\(text)")
        }
    }

    /// Samoa had no Friday, 30 December 2011: Saturday followed Thursday.
    @Test func refusesSkippedDay() throws {
        let saturday = "2011-12-31T12:00:00+14:00"
        #expect(try Self.read("today", at: saturday, in: "Pacific/Apia") == "2011-12-30T10:00:00.000000Z")
        #expect(try Self.read("saturday", at: saturday, in: "Pacific/Apia") == "2011-12-30T10:00:00.000000Z")
        #expect(try Self.read("yesterday", at: saturday, in: "Pacific/Apia") == "2011-12-29T10:00:00.000000Z")
        #expect(try Self.read("thursday", at: saturday, in: "Pacific/Apia") == "2011-12-29T10:00:00.000000Z")
        #expect(try Self.read("friday", at: saturday, in: "Pacific/Apia") == "2011-12-23T10:00:00.000000Z")
        #expect(try Self.read("2011-12-30", at: saturday, in: "Pacific/Apia") == nil)
    }

    @Test(arguments: [
        "", " ", "tomorrow", "m", "mo", "mondays", "last monday", "7d", "-0d", "-d", "--7d", "+7d", "-7 d", "2026-13-01",
        "2026-02-29",
        "2026-1-1", "20261120", "06:30", "2026-11-20T25:00:00", "٢٠٢٦-١١-٢٠", "-10001d",
    ])
    func noTime(text: String) throws {
        #expect(try Self.read(text, at: "2026-11-23T09:30:00+01:00", in: "Europe/Berlin") == nil)
    }
}
