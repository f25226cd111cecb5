/// One sample as a line of NDJSON: the form that commands and exporters share.
///
///     {"uuid":"…","type":"bodyTemperature","value":37.0,"unit":"Cel","start":"…Z","end":"…Z","zone":"+01:00","subject":"me", …}
///
/// What depends on the series alone is rendered once, so that a line costs little more than its numbers.
public final class SampleLine {
    private let me: String
    private var fragments: [ObjectIdentifier: Fragment] = [:]

    private struct Fragment {
        /// Kept so that the identifier stays its.
        var origin: Origin
        /// `"type":"…"` and `"unit":"…"` of the value.
        var type: [UInt8]
        var unit: [UInt8]
        /// `"subject":…,"source":{…},"device":{…}`.
        var description: [UInt8]
    }

    /// - Parameter me: the subject that is written as `me`.
    public init(me: String) { self.me = me }

    /// Appends the line with its newline.
    ///
    /// - Parameters:
    ///   - ingest, seq: the sample's place in ledger and change log; `nil` for a sample that is in no store.
    ///   - unit: another unit for `value`, with the value in it.
    public func append(
        _ sample: QuantitySample, ingest: Int64?, seq: Int64?, value: Double? = nil, unit: Unit? = nil, to bytes: inout [UInt8]
    ) {
        let fragment = fragment(for: sample.origin)
        bytes.append(contentsOf: "{\"uuid\":\"".utf8)
        Self.append(36, to: &bytes) { sample.identity.write(into: $0) }
        bytes.append(contentsOf: "\",".utf8)
        bytes.append(contentsOf: fragment.type)
        bytes.append(contentsOf: ",\"value\":".utf8)
        Self.append(value ?? sample.value, to: &bytes)
        if let unit {
            bytes.append(contentsOf: ",\"unit\":".utf8)
            JSONText.write(unit.code, to: &bytes)
        } else {
            bytes.append(contentsOf: fragment.unit)
        }
        Self.append("start", sample.start, to: &bytes)
        Self.append("end", sample.end, to: &bytes)
        bytes.append(contentsOf: ",\"zone\":".utf8)
        Self.append(sample.zone?.description, to: &bytes)
        bytes.append(contentsOf: fragment.description)
        bytes.append(contentsOf: ",\"original\":{\"value\":".utf8)
        JSONText.write(sample.numeral.text, to: &bytes)
        bytes.append(contentsOf: ",\"unit\":".utf8)
        JSONText.write(sample.unit.code, to: &bytes)
        bytes.append(contentsOf: "},\"time\":{\"origin\":\"".utf8)
        bytes.append(contentsOf: sample.timeOrigin.name.utf8)
        bytes.append(UInt8(ascii: "\""))
        Self.append("received", sample.received, to: &bytes)
        bytes.append(contentsOf: "},\"group\":".utf8)
        Self.append(sample.group.map(Self.groupText), to: &bytes)
        bytes.append(contentsOf: ",\"metadata\":".utf8)
        bytes.append(contentsOf: (sample.metadata?.json ?? "{}").utf8)
        if let ingest { bytes.append(contentsOf: ",\"ingest\":\(ingest)".utf8) }
        if let seq { bytes.append(contentsOf: ",\"seq\":\(seq)".utf8) }
        bytes.append(contentsOf: "}\n".utf8)
    }

    /// A group's number as text, 16 hexadecimal digits.
    public static func groupText(_ group: UInt64) -> String {
        let digits = String(group, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private func fragment(for origin: Origin) -> Fragment {
        let identifier = ObjectIdentifier(origin)
        if let known = fragments[identifier] { return known }
        var type: [UInt8] = Array("\"type\":".utf8)
        JSONText.write(origin.type.id, to: &type)
        var unit: [UInt8] = Array(",\"unit\":".utf8)
        JSONText.write(origin.type.canonicalUnit.code, to: &unit)
        var text: [UInt8] = Array(",\"subject\":".utf8)
        JSONText.write(origin.subject == me ? "me" : origin.subject, to: &text)
        text.append(contentsOf: ",\"source\":{\"id\":".utf8)
        JSONText.write(origin.source.id, to: &text)
        text.append(contentsOf: ",\"name\":".utf8)
        JSONText.write(origin.source.name, to: &text)
        text.append(contentsOf: ",\"version\":".utf8)
        Self.append(origin.source.version, to: &text)
        text.append(contentsOf: "},\"device\":".utf8)
        Self.append(origin.device, to: &text)
        let fragment = Fragment(origin: origin, type: type, unit: unit, description: text)
        if fragments.count >= 4096 { fragments.removeAll() }
        fragments[identifier] = fragment
        return fragment
    }

    private static func append(_ device: Device?, to bytes: inout [UInt8]) {
        guard let device else {
            bytes.append(contentsOf: "null".utf8)
            return
        }
        let fields: [(String, String?)] = [
            ("key", device.key), ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model),
            ("serial", device.serial), ("hardware", device.hardware), ("firmware", device.firmware),
            ("software", device.software),
            ("udi", device.udi),
        ]
        for (index, field) in fields.enumerated() {
            bytes.append(UInt8(ascii: index == 0 ? "{" : ","))
            JSONText.write(field.0, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(field.1, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String?, to bytes: inout [UInt8]) {
        if let text { JSONText.write(text, to: &bytes) } else { bytes.append(contentsOf: "null".utf8) }
    }

    private static func append(_ name: StaticString, _ instant: Instant, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: ",\"".utf8)
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: "\":\"".utf8)
        append(32, to: &bytes) { WallTime(microseconds: instant.microseconds).write(into: $0) }
        bytes.append(contentsOf: "Z\"".utf8)
    }

    /// The shortest text that reads back as the same Double, `37.0` for a whole number; JSON has no other numbers, and the gate
    /// lets none in.
    private static func append(_ number: Double, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
    }

    private static func append(_ capacity: Int, to bytes: inout [UInt8], _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<write(buffer)]))
        }
    }
}
