import HealthModel

/// Writes times in the format of RFC 3339 and FHIR's dateTime, in the local time of the measurement and at their own precision.
///
///     2026-09-21T15:13:20+01:00
package struct ZonedTimeText {
    private var day: (number: Int64, text: WallTime.Digits)?

    /// A writer that caches the date, which most times share with the previous one.
    package init() {}

    /// Appends an instant in the local time of a zone, or in UTC if there is none.
    package mutating func append(_ instant: Instant, _ zone: ZoneOffset?, to bytes: inout [UInt8]) {
        // An offset has no seconds, and FHIR allows at most 14 hours.
        let offset = zone.flatMap { $0.seconds % 60 == 0 && $0.seconds.magnitude <= 14 * 3600 ? $0 : nil } ?? .utc
        let wall = instant.wallTime(at: offset).microseconds
        let (quotient, remainder) = wall.quotientAndRemainder(dividingBy: Calendar.day)
        let (number, rest) = remainder < 0 ? (quotient - 1, remainder + Calendar.day) : (quotient, remainder)
        if day?.number != number { day = (number, WallTime.dateDigits(days: Int(number))) }
        guard let day else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 48) { buffer in
            withUnsafeBytes(of: day.text) { for place in 0..<10 { buffer[place] = $0[place] } }
            WallTime.write(timeOfDay: rest, into: buffer, at: 10)
            var length = rest % 1_000_000 == 0 ? 19 : rest % 1000 == 0 ? 23 : 26
            if offset.seconds == 0 {
                buffer[length] = UInt8(ascii: "Z")
                length += 1
            } else {
                let minutes = Int(offset.seconds.magnitude) / 60
                buffer[length] = UInt8(ascii: offset.seconds < 0 ? "-" : "+")
                for (place, number) in [(1, minutes / 60), (4, minutes % 60)] {
                    buffer[length + place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
                    buffer[length + place + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
                }
                buffer[length + 3] = UInt8(ascii: ":")
                length += 6
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<length]))
        }
    }
}
