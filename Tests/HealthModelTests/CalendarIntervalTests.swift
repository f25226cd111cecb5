import Testing

@testable import HealthModel

@Suite struct CalendarIntervalTests {
    private static func intervals(_ text: String, _ zone: String = "Europe/Berlin", anchor: String? = nil) throws
        -> CalendarIntervals
    {
        CalendarIntervals(
            try #require(CalendarInterval(text)), zone: try TimeZoneRulesTests.zone(zone), anchor: try anchor.map(instant))
    }

    private static func instant(_ text: String) throws -> Instant { try #require(try Timestamp(iso8601: text).instant) }

    @Test(arguments: [
        ("15m", 15, CalendarInterval.Unit.minute), ("1h", 1, .hour), ("1d", 1, .day), ("2w", 2, .week), ("1mo", 1, .month),
        ("1y", 1, .year),
        ("10000d", 10_000, .day), ("007d", 7, .day),
    ])
    func reading(text: String, count: Int, unit: CalendarInterval.Unit) throws {
        let interval = try #require(CalendarInterval(text))
        #expect((interval.count, interval.unit) == (count, unit))
        #expect(CalendarInterval(interval.description) == interval)
    }

    @Test(arguments: ["", "d", "0d", "-1d", "1", "1D", "1 d", "10001d", "99999999999999999999d", "1month", "١d", "1.5h", "1md"])
    func refused(text: String) { #expect(CalendarInterval(text) == nil) }

    @Test func hoursOfDays() throws {
        let days = try Self.intervals("1d")
        func hours(_ day: String) throws -> Double {
            let index = days.index(of: try Self.instant(day + "T12:00:00Z"))
            return Double(days.start(of: index + 1).microseconds - days.start(of: index).microseconds) / 3.6e9
        }
        #expect(try hours("2026-03-28") == 24)
        #expect(try hours("2026-03-29") == 23)
        #expect(try hours("2026-03-30") == 24)
        #expect(try hours("2026-10-25") == 25)
        #expect(try hours("2024-02-29") == 24)
        #expect(
            days.start(of: days.index(of: try Self.instant("2026-10-25T23:30:00+01:00"))).description
                == "2026-10-24T22:00:00.000000Z")
    }

    /// Midnight that does not exist, and midnight that occurs twice.
    @Test func midnights() throws {
        let beirut = try Self.intervals("1d", "Asia/Beirut")
        let spring = beirut.index(of: try Self.instant("2026-03-29T12:00:00+03:00"))
        #expect(beirut.start(of: spring).description == "2026-03-28T22:00:00.000000Z")
        #expect(beirut.start(of: spring + 1).description == "2026-03-29T21:00:00.000000Z")
        let havana = try Self.intervals("1d", "America/Havana")
        let autumn = havana.index(of: try Self.instant("2026-11-01T12:00:00-05:00"))
        #expect(havana.start(of: autumn).description == "2026-11-01T04:00:00.000000Z")
        #expect(havana.start(of: autumn + 1).description == "2026-11-02T05:00:00.000000Z")
    }

    /// 30 December 2011 did not occur in Samoa: its interval is empty and contains no instant.
    @Test func skippedDay() throws {
        let days = try Self.intervals("1d", "Pacific/Apia")
        let before = days.index(of: try Self.instant("2011-12-29T12:00:00-10:00"))
        let after = days.index(of: try Self.instant("2011-12-31T12:00:00+14:00"))
        #expect(after == before + 2)
        #expect(days.start(of: before + 1) == days.start(of: before + 2))
        #expect(days.start(of: after).description == "2011-12-30T10:00:00.000000Z")
        #expect(days.index(of: days.start(of: after)) == after)
    }

    /// An anchor whose time of day is inside the gap: the interval begins when the clocks go forward.
    @Test func anchorsInTheGap() throws {
        let days = try Self.intervals("1d", anchor: "2026-03-27T02:30:00+01:00")
        #expect(days.start(of: 0).description == "2026-03-27T01:30:00.000000Z")
        #expect(days.start(of: 1).description == "2026-03-28T01:30:00.000000Z")
        #expect(days.start(of: 2).description == "2026-03-29T01:00:00.000000Z")
        #expect(days.start(of: 3).description == "2026-03-30T00:30:00.000000Z")
        #expect(days.index(of: try Self.instant("2026-03-29T12:00:00Z")) == 2)
        #expect(days.index(of: try Self.instant("2026-03-29T00:59:59Z")) == 1)
        #expect(days.index(of: try Self.instant("2026-11-20T12:00:00Z")) == 238)
    }

    @Test func monthsAndYears() throws {
        let months = try Self.intervals("1mo", "UTC", anchor: "2024-01-31T00:00:00Z")
        #expect(
            (-2...4).map { months.start(of: $0).description.prefix(10) } == [
                "2023-11-30", "2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31",
            ])
        #expect(months.index(of: try Self.instant("2024-02-28T23:59:59Z")) == 0)
        #expect(months.index(of: try Self.instant("2024-02-29T00:00:00Z")) == 1)
        let years = try Self.intervals("1y", "UTC", anchor: "2024-02-29T12:00:00Z")
        #expect(
            (-4...4).map { years.start(of: $0).description.prefix(10) } == [
                "2020-02-29", "2021-02-28", "2022-02-28", "2023-02-28", "2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28",
                "2028-02-29",
            ])
        #expect(try Self.intervals("1y").start(of: 56).description == "2025-12-31T23:00:00.000000Z")
    }

    @Test func weeksBeginOnMonday() throws {
        let weeks = try Self.intervals("1w")
        let index = weeks.index(of: try Self.instant("2026-11-22T23:59:59+01:00"))
        #expect(weeks.start(of: index).description == "2026-11-15T23:00:00.000000Z")
        #expect(weeks.index(of: try Self.instant("2026-11-23T00:00:00+01:00")) == index + 1)
    }

    /// Hours are of one length: an anchored hour never notices the clocks' change.
    @Test func hoursAreHours() throws {
        let hours = try Self.intervals("1h", anchor: "2026-10-24T00:30:00+02:00")
        #expect(hours.start(of: 30).microseconds - hours.start(of: 0).microseconds == 30 * 3_600_000_000)
        #expect(hours.index(of: try Self.instant("2026-10-24T00:29:59+02:00")) == -1)
        let quarters = try Self.intervals("15m", "Asia/Kathmandu")
        #expect(
            quarters.start(of: quarters.index(of: try Self.instant("2026-01-01T00:05:00+05:45"))).description
                == "2025-12-31T18:15:00.000000Z")
    }

    /// For any interval, zone and anchor, an instant is within its interval, and starts never go back.
    @Test(arguments: ["1m", "7h", "1d", "3d", "1w", "1mo", "5mo", "1y", "3y"])
    func everyInstantIsInOwnInterval(text: String) throws {
        var random = SeededGenerator(seed: 24)
        for zone in ["Europe/Berlin", "Pacific/Apia", "Asia/Beirut", "America/St_Johns", "Africa/Casablanca", "Asia/Kolkata"] {
            for anchor in [nil, "1999-12-31T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2031-05-31T23:59:59Z"] {
                let intervals = try Self.intervals(text, zone, anchor: anchor)
                for _ in 0..<40 {
                    let instant = Instant(
                        microseconds: Int64.random(in: -500_000_000_000_000...2_900_000_000_000_000, using: &random))
                    let index = intervals.index(of: instant)
                    let (start, end) = (intervals.start(of: index), intervals.start(of: index + 1))
                    #expect(start <= instant && instant < end, "\(zone) \(anchor ?? "-") \(instant): \(start) to \(end)")
                }
            }
        }
    }
}

/// SplitMix64: the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
