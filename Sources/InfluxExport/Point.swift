import HealthModel
import Pipeline

/// A sample as a point: a measurement named by its type, tags that say where it comes from, and its time.
///
/// InfluxDB knows a point by measurement, tags and time alone: what has all of them in common is one. So the UUID has to be in there, or of two intervals
/// of one packet only the second would stay: its hash is in the nanoseconds, of which no reading has any, and for the readings of a packet in the tag
/// `slot`, too. Two of a million that start in the same microsecond have the same.
struct Point {
    let measurement: String
    /// Sorted by key, as InfluxDB likes them; none is empty.
    let tags: [(key: String, value: String)]
    /// Since 1970.
    let nanoseconds: Int64

    /// By what stays as it is: a device may get another name, and its points have to be found again.
    init(_ sample: QuantitySample) {
        let origin = sample.origin
        measurement = origin.type.id
        let hash = sample.identity.low
        var tags = [("source", origin.source.id), ("subject", origin.subject)]
        if let device = origin.device { tags.append(("device", device.key)) }
        if sample.group != nil { tags.append(("slot", "\(hash / 1000 % 1000)")) }
        self.tags = tags.map { ($0.0, Self.tagText($0.1)) }.filter { !$0.1.isEmpty }.sorted { $0.key < $1.key }
        nanoseconds = sample.start.microseconds &* 1000 &+ Int64(hash % 1000)
    }

    /// A tag is one line, and its last character no backslash, which would take the next one's meaning.
    private static func tagText(_ text: String) -> String {
        var text = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        while text.hasSuffix("\\") || text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}

/// Points as line protocol.
enum LineProtocol {
    static func append(_ sample: QuantitySample, value: Double, unit: Unit, to octets: inout [UInt8]) {
        let point = Point(sample)
        append(escaping: point.measurement, [",", " "], to: &octets)
        for (key, text) in point.tags {
            octets.append(UInt8(ascii: ","))
            append(escaping: key, [",", " ", "="], to: &octets)
            octets.append(UInt8(ascii: "="))
            append(escaping: text, [",", " ", "="], to: &octets)
        }
        // Always with a point: a field that began as an integer takes nothing else ever after.
        octets += " value=\(value)".utf8
        let seconds = Double(sample.end.microseconds &- sample.start.microseconds) / 1_000_000
        if seconds > 0 { octets += ",duration=\(seconds)".utf8 }
        append(field: "unit", unit.code, to: &octets)
        append(field: "uuid", sample.identity.description, to: &octets)
        append(field: "numeral", sample.numeral.text, to: &octets)
        append(field: "numeral_unit", sample.unit.code, to: &octets)
        append(field: "source_name", sample.origin.source.name, to: &octets)
        if let name = sample.origin.device?.name { append(field: "device_name", name, to: &octets) }
        octets += " \(point.nanoseconds)\n".utf8
    }

    static func append(field name: String, _ text: String, to octets: inout [UInt8]) {
        octets += ",\(name)=\"".utf8
        append(escaping: text, ["\"", "\\"], to: &octets)
        octets.append(UInt8(ascii: "\""))
    }

    static func append(escaping text: String, _ special: Set<Unicode.Scalar>, to octets: inout [UInt8]) {
        for byte in text.utf8 {
            if byte < 0x80, special.contains(Unicode.Scalar(byte)) { octets.append(UInt8(ascii: "\\")) }
            octets.append(byte)
        }
    }
}
