import HealthModel

/// Times as FHIR's dateTime: on the clock of the place where it was measured, and no finer than they are.
struct TimeText {
    private var day: (number: Int64, text: WallTime.Digits)?

    /// Appends `"effectiveDateTime":"…"`, or `"effectivePeriod":{…}` for what took time.
    mutating func append(_ start: Instant, _ end: Instant, _ zone: ZoneOffset?, to octets: inout [UInt8]) {
        if start == end {
            octets += "\"effectiveDateTime\":\"".utf8
            append(start, zone, to: &octets)
            octets.append(UInt8(ascii: "\""))
        } else {
            octets += "\"effectivePeriod\":{\"start\":\"".utf8
            append(start, zone, to: &octets)
            octets += "\",\"end\":\"".utf8
            append(end, zone, to: &octets)
            octets += "\"}".utf8
        }
    }

    private mutating func append(_ instant: Instant, _ zone: ZoneOffset?, to octets: inout [UInt8]) {
        // FHIR has no seconds in an offset, and none of more than 14 hours.
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
            octets.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<length]))
        }
    }
}
