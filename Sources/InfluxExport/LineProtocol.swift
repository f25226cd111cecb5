import HealthModel
import Pipeline

/// Encodes points in line protocol. The parts that depend only on the series are encoded once.
final class LineProtocol {
    /// The part of a line, which decides the characters to escape.
    enum Part {
        case measurement, tag, text

        @inline(__always) func escapes(_ byte: UInt8) -> Bool {
            switch self {
            case .measurement: byte == UInt8(ascii: ",") || byte == UInt8(ascii: " ")
            case .tag: byte == UInt8(ascii: ",") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "=")
            case .text: byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            }
        }
    }

    /// The parts that all samples of a series share. The tag `slot` is between them.
    private struct Series {
        /// Retained so that no other object can get the same identifier.
        let origin: Origin
        /// The measurement and the tags before `slot`.
        let head: [UInt8]
        /// The other tags, up to the value.
        let tags: [UInt8]
        /// The fields after the sample's own.
        let fields: [UInt8]
    }

    private var known: [ObjectIdentifier: Series] = [:]
    private var latest: Series?
    /// The maximum number of series in memory.
    private static let maximum = 4096

    func append(_ sample: Sample, value: Double, unit: Unit, to bytes: inout [UInt8]) {
        let series = series(of: sample)
        bytes += series.head
        if let slot = Point.slot(of: sample) { bytes += ",slot=\(slot)".utf8 }
        bytes += series.tags
        // Always with a decimal point because InfluxDB fixes the type of a field at its first value.
        bytes += " value=".utf8
        bytes += value.description.utf8
        let seconds = Double(sample.end.microseconds &- sample.start.microseconds) / 1_000_000
        if seconds > 0 { bytes += ",duration=\(seconds)".utf8 }
        Self.append(field: "unit", unit.code, to: &bytes)
        bytes += ",uuid=\"".utf8
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleIdentity.textLength) { buffer in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<sample.identity.write(into: buffer)]))
        }
        bytes += "\",numeral=\"".utf8
        Self.append(sample.numeral.text, .text, to: &bytes)
        bytes += "\",numeral_unit=\"".utf8
        Self.append(sample.unit.code, .text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        bytes += series.fields
        bytes.append(UInt8(ascii: " "))
        bytes += Point.nanoseconds(of: sample).description.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    private func series(of sample: Sample) -> Series {
        let origin = sample.origin
        if let latest, latest.origin === origin { return latest }
        let key = ObjectIdentifier(origin)
        let series = known[key] ?? Self.series(origin)
        if known.count >= Self.maximum { known.removeAll() }
        known[key] = series
        latest = series
        return series
    }

    private static func series(_ origin: Origin) -> Series {
        var (head, tags, fields): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        append(origin.type.id, .measurement, to: &head)
        for (key, text) in Point.tags(of: origin) {
            func write(to bytes: inout [UInt8]) {
                bytes += ",\(key)=".utf8
                append(text, .tag, to: &bytes)
            }
            // InfluxDB prefers tags sorted by key.
            if key < "slot" { write(to: &head) } else { write(to: &tags) }
        }
        append(field: "source_name", origin.source.name, to: &fields)
        if let name = origin.device?.name { append(field: "device_name", name, to: &fields) }
        return Series(origin: origin, head: head, tags: tags, fields: fields)
    }

    private static func append(field name: String, _ text: String, to bytes: inout [UInt8]) {
        bytes += ",\(name)=\"".utf8
        append(text, .text, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    static func append(_ text: String, _ part: Part, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { characters in
            guard characters.contains(where: part.escapes) else { return bytes.append(contentsOf: characters) }
            for byte in characters {
                if part.escapes(byte) { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
        }
    }
}
