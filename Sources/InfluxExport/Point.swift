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
    init(_ sample: Sample) {
        measurement = sample.origin.type.id
        var tags = Self.tags(of: sample.origin)
        if let slot = Self.slot(of: sample) { tags.append(("slot", "\(slot)")) }
        self.tags = tags.sorted { $0.key < $1.key }
        nanoseconds = Self.nanoseconds(of: sample)
    }

    /// The tags that all samples of a series share, sorted.
    static func tags(of origin: Origin) -> [(key: String, value: String)] {
        let tags = [("device", origin.device?.key ?? ""), ("source", origin.source.id), ("subject", origin.subject)]
        return tags.map { (key: $0.0, value: tagText($0.1)) }.filter { !$0.value.isEmpty }
    }

    /// Which of a packet's readings it is; nothing for a reading that came alone.
    static func slot(of sample: Sample) -> UInt64? { sample.group == nil ? nil : sample.identity.low / 1000 % 1000 }

    static func nanoseconds(of sample: Sample) -> Int64 {
        sample.start.microseconds &* 1000 &+ Int64(sample.identity.low % 1000)
    }

    /// A tag is one line, and its last character no backslash, which would take the next one's meaning.
    private static func tagText(_ text: String) -> String {
        var text = String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        while text.hasSuffix("\\") || text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
