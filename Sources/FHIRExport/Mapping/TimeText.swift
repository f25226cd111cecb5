import Formats
import HealthModel

/// Encodes times as FHIR dateTime, in local time and with their original precision.
struct TimeText {
    private var times = ZonedTimeText()

    /// Appends `"effectiveDateTime":"…"`, or `"effectivePeriod":{…}` for an interval.
    mutating func append(_ start: Instant, _ end: Instant, _ zone: ZoneOffset?, to octets: inout [UInt8]) {
        if start == end {
            octets += "\"effectiveDateTime\":\"".utf8
            times.append(start, zone, to: &octets)
            octets.append(UInt8(ascii: "\""))
        } else {
            octets += "\"effectivePeriod\":{\"start\":\"".utf8
            times.append(start, zone, to: &octets)
            octets += "\",\"end\":\"".utf8
            times.append(end, zone, to: &octets)
            octets += "\"}".utf8
        }
    }
}
