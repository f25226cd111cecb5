import Formats
import HealthModel

/// Encodes times as FHIR dateTime, in local time and with their original precision.
struct TimeText {
    private var times = ZonedTimeText()

    /// Appends `"effectiveDateTime":"…"`, or `"effectivePeriod":{…}` for an interval.
    mutating func append(_ start: Instant, _ end: Instant, _ zone: ZoneOffset?, to bytes: inout [UInt8]) {
        if start == end {
            bytes += "\"effectiveDateTime\":\"".utf8
            times.append(start, zone, to: &bytes)
            bytes.append(UInt8(ascii: "\""))
        } else {
            bytes += "\"effectivePeriod\":{\"start\":\"".utf8
            times.append(start, zone, to: &bytes)
            bytes += "\",\"end\":\"".utf8
            times.append(end, zone, to: &bytes)
            bytes += "\"}".utf8
        }
    }
}
