import HealthModel

/// Parses ISO 8601 times. It caches the date, because most times have the same date as the previous one.
struct ISO8601Memo {
    private var date: (UInt64, UInt16) = (0, 0)
    /// The date's midnight, in microseconds since 1970.
    private var midnight: Int64 = 0

    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Timestamp? {
        if bytes.count >= 19 {
            let key = (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
            if key == date, let time = Self.timeOfDay(bytes), bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " ") {
                if bytes.count == 19 { return Timestamp(wall: WallTime(microseconds: midnight + time), offset: nil) }
                if bytes.count == 20, bytes[19] == UInt8(ascii: "Z") {
                    return Timestamp(wall: WallTime(microseconds: midnight + time), offset: .utc)
                }
            }
        }
        guard let timestamp = try? Timestamp(iso8601: bytes) else { return nil }
        if bytes.count >= 19 {
            date = (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
            midnight = timestamp.wall.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day).quotient * Calendar.day
        }
        return timestamp
    }

    /// The time `HH:mm:ss` at byte 11, in microseconds.
    @inline(__always) private static func timeOfDay(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        func two(_ index: Int) -> Int {
            let tens = bytes[index] &- UInt8(ascii: "0")
            let ones = bytes[index + 1] &- UInt8(ascii: "0")
            return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : 100
        }
        let hour = two(11)
        let minute = two(14)
        let second = two(17)
        guard hour < 24, minute < 60, second < 60, bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":") else {
            return nil
        }
        return Int64(hour * 3600 + minute * 60 + second) * 1_000_000
    }
}
