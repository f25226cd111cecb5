import HealthModel
import Pipeline

/// A sample as a point: the measurement is its type, the tags are its origin, and the time is its start.
///
/// InfluxDB identifies a point only by measurement, tags and time, so these must include the UUID. Otherwise only the second of
/// two intervals in a packet would be kept. A hash of the UUID is in the nanoseconds, which no reading uses. For readings in a
/// packet it is also in the tag `slot`. Two in a million with the same start in microseconds collide.
struct Point {
    let measurement: String
    /// The tags, sorted by key as InfluxDB prefers. None is empty.
    let tags: [(key: String, value: String)]
    /// Nanoseconds since 1970.
    let nanoseconds: Int64

    /// Creates a point from fields that never change. A device may be renamed, and its points must still be found.
    init(_ sample: Sample) {
        measurement = sample.origin.type.id
        var tags = Self.tags(of: sample.origin)
        if let slot = Self.slot(of: sample) { tags.append(("slot", "\(slot)")) }
        self.tags = tags.sorted { $0.key < $1.key }
        nanoseconds = Self.nanoseconds(of: sample)
    }

    /// The tags that all samples of a series share, sorted.
    static func tags(of origin: Origin) -> [(key: String, value: String)] {
        let tags = [("device", origin.device?.key ?? ""), ("source", origin.source.id), ("subject", origin.person)]
        return tags.map { (key: $0.0, value: tagText($0.1)) }.filter { !$0.value.isEmpty }
    }

    /// Returns the number of the reading in its packet, or `nil` for a single reading.
    static func slot(of sample: Sample) -> UInt64? { sample.group == nil ? nil : sample.identity.low / 1000 % 1000 }

    static func nanoseconds(of sample: Sample) -> Int64 {
        sample.start.microseconds &* 1000 &+ Int64(sample.identity.low % 1000)
    }

    /// Returns a valid tag: one line, without a backslash at the end, which would escape the next character.
    private static func tagText(_ text: String) -> String {
        var text = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        while text.hasSuffix("\\") || text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
