import Testing

@testable import HealthModel

@Suite struct TimestampTests {
    /// Text, wall clock, offset.
    @Test(arguments: [
        ("2026-11-20T06:31:00.25+01:00", "2026-11-20T06:31:00.250000", "+01:00"),
        ("2026-11-20T06:31", "2026-11-20T06:31:00.000000", nil),
        ("2026-11-20 06:31:59", "2026-11-20T06:31:59.000000", nil),
        ("2026-11-20t06:31:59z", "2026-11-20T06:31:59.000000", "+00:00"),
        ("2026-11-20T06:31Z", "2026-11-20T06:31:00.000000", "+00:00"),
        ("2026-11-20 06:31:00 +0100", "2026-11-20T06:31:00.000000", "+01:00"),
        ("2026-11-20 06:31:00 -03:30", "2026-11-20T06:31:00.000000", "-03:30"),
        ("2026-11-20T06:31:00-08", "2026-11-20T06:31:00.000000", "-08:00"),
        ("2026-11-20T06:31:00,5", "2026-11-20T06:31:00.500000", nil),
        ("2026-11-20T06:31:00.123456789Z", "2026-11-20T06:31:00.123456", "+00:00"),
        ("2024-02-29T23:59:59.999999Z", "2024-02-29T23:59:59.999999", "+00:00"),
        ("2000-02-29T00:00", "2000-02-29T00:00:00.000000", nil),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000", "+00:00"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000000", "+00:00"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999", "+00:00"),
        ("2026-11-20T06:31:00+18:00", "2026-11-20T06:31:00.000000", "+18:00"),
    ])
    func reading(text: String, wall: String, offset: String?) throws {
        let stamp = try Timestamp(iso8601: text)
        #expect(stamp.wall.description == wall)
        #expect(stamp.offset?.description == offset)
    }

    @Test(arguments: [
        ("", TimestampError.malformed), ("2026-11-20", .malformed), ("2026-11-20T06", .malformed),
        ("2026-11-20T06:31:", .malformed),
        ("2026-11-20T06:31:00.", .malformed), ("2026-11-20T06:31:00.Z", .malformed), ("2026-11-20T06:31:00 ", .malformed),
        ("2026-11-20T06:31:00+", .malformed), ("2026-11-20T06:31:00+1", .malformed), ("2026-11-20T06:31:00+19:00", .malformed),
        ("2026-11-20T06:31:00+01:60", .malformed), ("2026-11-20T06:31:00+01:", .malformed), ("2026-11-20T06:31:00ZZ", .malformed),
        ("20.11.2026 06:31:00", .malformed), ("2026-11-20T06:31:00.1234567890123Z", .malformed),
        ("2026-11-20  06:31:00", .malformed),
        ("２026-11-20T06:31:00", .malformed), ("2026-11-20T06:31:00\u{2212}01:00", .malformed),
        ("2025-02-29T00:00:00Z", .noSuchDay), ("1900-02-29T00:00:00Z", .noSuchDay), ("2026-13-01T00:00:00Z", .noSuchDay),
        ("2026-00-10T00:00:00Z", .noSuchDay), ("2026-04-31T00:00:00Z", .noSuchDay), ("0000-01-01T00:00:00Z", .noSuchDay),
        ("2026-11-20T24:00:00Z", .noSuchTime), ("2026-11-20T23:60:00Z", .noSuchTime), ("2026-11-20T23:59:60Z", .noSuchTime),
    ])
    func refused(text: String, error: TimestampError) {
        #expect(throws: error) { try Timestamp(iso8601: text) }
    }

    @Test func everyDayOfThreeThousandYears() {
        var day = Calendar.days(year: 1, month: 1, day: 1)
        #expect(Calendar.days(year: 1970, month: 1, day: 1) == 0)
        for year in 1...3000 {
            for month in 1...12 {
                for number in [1, Calendar.daysInMonth(month, year: year)] {
                    let days = Calendar.days(year: year, month: month, day: number)
                    #expect(Calendar.date(days: days) == (year, month, number))
                }
                #expect(Calendar.days(year: year, month: month, day: 1) == day)
                day += Calendar.daysInMonth(month, year: year)
            }
        }
    }

    @Test func textsComeBack() throws {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<2000 {
            let instant = Instant(
                microseconds: Int64.random(in: -62_000_000_000_000_000...253_000_000_000_000_000, using: &random))
            #expect(try Timestamp(iso8601: instant.description).instant == instant)
        }
    }

    @Test func offsets() {
        #expect(ZoneOffset(seconds: -4772).description == "-01:19:32")
        #expect(ZoneOffset("+0545")?.seconds == 20_700)
        #expect(ZoneOffset("Z") == .utc)
        for text in ["", "+", "1", "0100", "+1:00", "+01:0", "+01:000", "+01:00:00:00", "UTC", "+24:00", " +01:00"] {
            #expect(ZoneOffset(text) == nil, "\(text)")
        }
    }
}
