import HealthModel

/// A continuous monitor's Session Start Time (2AAA): date-time 7, zone s8 in quarters of an hour, summer time u8 in quarters.
///
/// Source: GATT Specification Supplement, cgm_session_start_time. -128 and 255 stand for not known; what is more than 18 hours from UTC is no start.
public enum SessionStart {
    /// When the session began; none where the date is not known.
    public static func timestamp(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        guard bytes.count >= 9 else { return nil }
        let year = Int(bytes[0]) | Int(bytes[1]) << 8
        guard Calendar.isValid(year: year, month: Int(bytes[2]), day: Int(bytes[3])), bytes[4] < 24, bytes[5] < 60, bytes[6] < 60
        else { return nil }
        let days = Int64(Calendar.days(year: year, month: Int(bytes[2]), day: Int(bytes[3])))
        let seconds = Int64(bytes[4]) * 3600 + Int64(bytes[5]) * 60 + Int64(bytes[6])
        let zone = Int8(bitPattern: bytes[7])
        let isKnown = zone != -128 && bytes[8] != 255
        let offset = (Int32(zone) + Int32(bytes[8])) * 900
        // No place is further from Greenwich: octets that say so are damaged, and so may be the date.
        guard !isKnown || abs(offset) <= 18 * 3600 else { return nil }
        return Timestamp(
            wall: WallTime(microseconds: days * Calendar.day + seconds * 1_000_000),
            offset: isKnown ? ZoneOffset(seconds: offset) : nil)
    }
}
