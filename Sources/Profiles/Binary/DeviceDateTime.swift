import HealthModel
import Wire

/// A date and time as Bluetooth devices send it: seven bytes in the device's local time. A year, month or day that is not known is 0 (GATT
/// Specification Supplement, Date Time).
///
///     ┌──────────────┬───────┬─────┬───────┬─────────┬─────────┐
///     │ year u16     │ month │ day │ hours │ minutes │ seconds │
///     └──────────────┴───────┴─────┴───────┴─────────┴─────────┘
package struct DeviceDateTime: Hashable, Sendable, CustomStringConvertible {
    /// 1582 to 9999, or 0 if the device does not know it.
    package var year: Int
    /// 1 to 12, or 0 if the device does not know it.
    package var month: Int
    /// 1 to 31, or 0 if the device does not know it.
    package var day: Int
    /// 0 to 23.
    package var hours: Int
    /// 0 to 59.
    package var minutes: Int
    /// 0 to 59.
    package var seconds: Int

    static let width = 7

    /// Whether the known parts can be a date and time. The calendar begins in 1582.
    var isValid: Bool {
        guard year == 0 || (1582...9999).contains(year), month <= 12, hours < 24, minutes < 60, seconds < 60 else { return false }
        // Use a leap year for an unknown year, and a long month for an unknown month.
        return day <= (month == 0 ? 31 : Calendar.daysInMonth(month, year: year == 0 ? 2000 : year))
    }

    /// The time on a wall clock, or `nil` if a part is unknown.
    package var wallTime: WallTime? {
        guard year > 0, month > 0, day > 0 else { return nil }
        let days = Int64(Calendar.days(year: year, month: month, day: day))
        return WallTime(microseconds: (days * 86_400 + Int64(hours * 3600 + minutes * 60 + seconds)) * 1_000_000)
    }

    /// The text in the form `2026-11-20T06:31:00`. Unknown parts print as zeros.
    package var description: String {
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(hours, 2) + ":" + padded(minutes, 2)
            + ":" + padded(seconds, 2)
    }
}

extension WallTime {
    /// Returns the time some minutes later, or `nil` if it is out of range.
    func later(minutes: Int64) -> WallTime? {
        let (time, overflow) = minutes.multipliedReportingOverflow(by: 60_000_000)
        let (sum, overflows) = microseconds.addingReportingOverflow(time)
        // Leave room for subtracting a time zone's offset.
        return overflow || overflows || sum.magnitude > UInt64(Int64.max) / 2 ? nil : WallTime(microseconds: sum)
    }
}

extension DeviceDateTime {
    /// Creates the date and time of a wall clock, to the second. Returns `nil` outside the years 1582 to 9999.
    init?(_ wall: WallTime) {
        let (days, rest) = wall.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        let date = Calendar.date(days: Int(days))
        guard (1582...9999).contains(date.year) else { return nil }
        let second = Int(rest / 1_000_000)
        self.init(
            year: date.year, month: date.month, day: date.day, hours: second / 3600, minutes: second / 60 % 60,
            seconds: second % 60)
    }

    /// Unpacks the integer that stores the date and time in a field's value.
    init(packed: Int64) {
        func part(_ shift: Int64) -> Int { Int(packed >> shift & 0xFF) }
        self.init(
            year: Int(packed >> 40 & 0xFFFF), month: part(32), day: part(24), hours: part(16), minutes: part(8), seconds: part(0))
    }

    var packed: Int64 {
        Int64(year) << 40 | Int64(month) << 32 | Int64(day) << 24 | Int64(hours) << 16 | Int64(minutes) << 8 | Int64(seconds)
    }

    @inline(__always) static func read(_ reader: inout ByteReader) -> DeviceDateTime? {
        guard reader.remaining >= width, let year = reader.unsigned(2), let rest = reader.unsigned(5) else { return nil }
        func part(_ index: UInt64) -> Int { Int(rest >> (8 * index) & 0xFF) }
        return DeviceDateTime(
            year: Int(year), month: part(0), day: part(1), hours: part(2), minutes: part(3), seconds: part(4))
    }
}
