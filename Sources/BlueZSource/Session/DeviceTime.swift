import HealthModel

/// A device's date and time in bytes (GATT Specification Supplement, Current Time and Date Time), little-endian.
///
///     0..1 year   2 month   3 day   4 hour   5 minute   6 second      7 day of week   8 fractions/256   9 reason
package enum DeviceTime {
    /// Returns the time on the device's clock, or nil if a part is unknown or invalid.
    package static func read(_ bytes: [UInt8], layout: DeviceClock.Layout) -> WallTime? {
        guard bytes.count >= (layout == .currentTime ? 9 : 7) else { return nil }
        let year = Int(bytes[0]) | Int(bytes[1]) << 8
        guard Calendar.isValid(year: year, month: Int(bytes[2]), day: Int(bytes[3])), bytes[4] < 24, bytes[5] < 60, bytes[6] < 60
        else { return nil }
        let days = Int64(Calendar.days(year: year, month: Int(bytes[2]), day: Int(bytes[3])))
        let seconds = Int64(bytes[4]) * 3600 + Int64(bytes[5]) * 60 + Int64(bytes[6])
        let fractions = layout == .currentTime ? Int64(bytes[8]) * 1_000_000 / 256 : 0
        return WallTime(microseconds: days * Calendar.day + seconds * 1_000_000 + fractions)
    }

    static func bytes(_ time: WallTime, layout: DeviceClock.Layout) -> [UInt8] {
        let days = (Double(time.microseconds) / Double(Calendar.day)).rounded(.down)
        let rest = time.microseconds - Int64(days) * Calendar.day
        let date = Calendar.date(days: Int(days))
        let seconds = rest / 1_000_000
        var bytes = [
            UInt8(date.year & 0xFF), UInt8(date.year >> 8 & 0xFF), UInt8(date.month), UInt8(date.day), UInt8(seconds / 3600),
            UInt8(seconds / 60 % 60), UInt8(seconds % 60),
        ]
        if layout == .currentTime {
            // 1970-01-01 was a Thursday, and Monday is 1. The reason is an external reference.
            let weekday = ((Int(days) + 3) % 7 + 7) % 7 + 1
            bytes += [UInt8(weekday), UInt8(rest % 1_000_000 * 256 / 1_000_000), 0x02]
        }
        return bytes
    }
}
