import HealthModel

/// One sample as a line of NDJSON, the form that commands and exporters share.
///
/// {"uuid":"…","kind":"quantity","type":"bodyTemperature","value":37.0,"unit":"Cel","start":"…Z","end":"…Z","zone":"+01:00","subject":"me",
///     …}
///     {"uuid":"…","kind":"category","type":"sleepAnalysis","value":3,"case":"asleepCore","start":"…Z", …}
///     {"uuid":"…","kind":"workout","type":"workout","activity":"running","duration":1742.5,"events":[…], …,"start":"…Z", …}
///
/// Text that depends only on the series is rendered once, and text shared with the previous sample is reused, so that a line costs little
/// more than its numbers.
package final class SampleLine {
    private let me: String
    private let withContent: Bool
    private var fragments: [ObjectIdentifier: Fragment] = [:]
    private var latest: Fragment?
    private var measured: Measured?
    private var received: (instant: Instant, text: [UInt8])?
    private var lastMetadata: (metadata: Metadata, text: [UInt8])?
    private var day: (number: Int64, text: WallTime.Digits)?

    /// The text that all samples of a series share.
    private final class Fragment {
        /// Retained so that its object identifier stays unique.
        let origin: Origin
        /// `","kind":"…","type":"…"`, then `,"value":` for quantities and categories, and `,"unit":"…"` of the value.
        let type: [UInt8]
        let unit: [UInt8]
        /// `,"person":…,"source":{…},"device":{…},"original":{"value":"`. Kinds other than quantity omit the original value, since it
        /// equals the value.
        let description: [UInt8]
        let kind: SampleKind

        init(origin: Origin, type: [UInt8], unit: [UInt8], description: [UInt8]) {
            (self.origin, self.type, self.unit, self.description) = (origin, type, unit, description)
            kind = origin.kind
        }
    }

    /// `,"unit":"…"},"time":{"origin":"…","received":"` for a received unit.
    private struct Measured {
        var unit: Unit
        var origin: TimeOrigin
        var text: [UInt8]
    }

    /// - Parameters:
    ///   - me: The person that is written as `me`.
    ///   - withContent: Whether a line also contains the packed content of its object, such as points, a resource or a document
    ///     (``ContentFields``), and the parts of its UUID, so that it can be read back (``IdentityFields``).
    package init(me: String, withContent: Bool = false) { (self.me, self.withContent) = (me, withContent) }

    /// Appends the line with its newline.
    ///
    /// - Parameters:
    ///   - ingest, seq: The sample's numbers in ledger and change log, or `nil` for a sample that is not in a store.
    ///   - unit: Another unit for `value`, which is then in this unit.
    package func append(
        _ sample: Sample, ingest: Int64?, seq: Int64?, value: Double? = nil, unit: Unit? = nil, to bytes: inout [UInt8]
    ) {
        let fragment = fragment(for: sample.origin)
        Self.append(45, to: &bytes) { buffer in
            let head = Self.write("{\"uuid\":\"", to: buffer, at: 0)
            return head + sample.identity.write(into: UnsafeMutableBufferPointer(rebasing: buffer[head...]))
        }
        bytes.append(contentsOf: fragment.type)
        switch fragment.kind {
        case .quantity: append(quantity: sample, fragment, value ?? sample.value, unit, to: &bytes)
        case .category: append(category: sample, fragment, to: &bytes)
        default:
            bytes.append(contentsOf: ObjectFields.text(of: sample, withContent: withContent))
            appendTimeAndOrigin(of: sample, fragment, to: &bytes)
        }
        if received?.instant != sample.received { received = (sample.received, Array(sample.received.description.utf8)) }
        if let received { bytes.append(contentsOf: received.text) }
        if let group = sample.group {
            bytes.append(contentsOf: "\"},\"group\":\"\(Sample.groupText(group))\",\"metadata\":".utf8)
        } else {
            bytes.append(contentsOf: "\"},\"group\":null,\"metadata\":".utf8)
        }
        if let metadata = sample.metadata {
            if lastMetadata?.metadata !== metadata {
                var text: [UInt8] = []
                JSONText.append(json: metadata.json.utf8, to: &text)
                lastMetadata = (metadata, text)
            }
            if let lastMetadata { bytes.append(contentsOf: lastMetadata.text) }
        } else {
            bytes.append(contentsOf: "{}".utf8)
        }
        if withContent { IdentityFields.append(sample, to: &bytes) }
        Self.append(64, to: &bytes) { buffer in
            var length = 0
            if let ingest {
                length = Self.write(",\"ingest\":", to: buffer, at: length)
                length = Self.write(ingest, to: buffer, at: length)
            }
            if let seq {
                length = Self.write(",\"seq\":", to: buffer, at: length)
                length = Self.write(seq, to: buffer, at: length)
            }
            return Self.write("}\n", to: buffer, at: length)
        }
    }

    /// The line as a field of another object, without its newline.
    package func field(_ sample: Sample, ingest: Int64? = nil, seq: Int64? = nil) -> RawJSON {
        var bytes: [UInt8] = []
        append(sample, ingest: ingest, seq: seq, to: &bytes)
        bytes.removeLast()
        return RawJSON(bytes)
    }

    private func append(
        quantity sample: Sample, _ fragment: Fragment, _ value: Double, _ unit: Unit?, to bytes: inout [UInt8]
    ) {
        Self.append(value, to: &bytes)
        if let unit {
            bytes.append(contentsOf: ",\"unit\":".utf8)
            JSONText.append(string: unit.code, to: &bytes)
        } else {
            bytes.append(contentsOf: fragment.unit)
        }
        appendTimes(of: sample, to: &bytes)
        bytes.append(contentsOf: fragment.description)
        append(sample.numeral, to: &bytes)
        appendOrigin(of: sample, to: &bytes)
    }

    /// Appends the category's number, with its case name or `null`.
    private func append(category sample: Sample, _ fragment: Fragment, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: (Int(exactly: sample.value).map { "\($0)" } ?? "null").utf8)
        bytes.append(contentsOf: ",\"case\":".utf8)
        Self.append(sample.origin.type.caseName(of: sample.value), to: &bytes)
        appendTimeAndOrigin(of: sample, fragment, to: &bytes)
    }

    private func appendTimeAndOrigin(of sample: Sample, _ fragment: Fragment, to bytes: inout [UInt8]) {
        appendTimes(of: sample, to: &bytes)
        bytes.append(contentsOf: fragment.description)
        bytes.append(contentsOf: ",\"time\":{\"origin\":\"\(sample.timeOrigin.name)\",\"received\":\"".utf8)
    }

    private func appendTimes(of sample: Sample, to bytes: inout [UInt8]) {
        Self.append(128, to: &bytes) { buffer in
            var length = Self.write(",\"start\":\"", to: buffer, at: 0)
            length = write(sample.start, to: buffer, at: length)
            length = Self.write("Z\",\"end\":\"", to: buffer, at: length)
            length = write(sample.end, to: buffer, at: length)
            length = Self.write("Z\",\"zone\":", to: buffer, at: length)
            guard let zone = sample.zone else { return Self.write("null", to: buffer, at: length) }
            guard zone.seconds % 60 == 0, zone.seconds.magnitude < 360_000 else {
                // Historical local mean time with seconds.
                for byte in "\"\(zone)\"".utf8 {
                    buffer[length] = byte
                    length += 1
                }
                return length
            }
            let minutes = Int(zone.seconds.magnitude) / 60
            buffer[length] = UInt8(ascii: "\"")
            buffer[length + 1] = UInt8(ascii: zone.seconds < 0 ? "-" : "+")
            Self.write(two: minutes / 60, to: buffer, at: length + 2)
            buffer[length + 4] = UInt8(ascii: ":")
            Self.write(two: minutes % 60, to: buffer, at: length + 5)
            buffer[length + 7] = UInt8(ascii: "\"")
            return length + 8
        }
    }

    /// Writes the time in UTC, without the `Z`. The date is computed once per day.
    private func write(_ instant: Instant, to buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) -> Int {
        let (number, rest) = instant.microseconds.flooredQuotientAndRemainder(dividingBy: Calendar.day)
        if day?.number != number { day = (number, WallTime.dateDigits(days: Int(number))) }
        if let day { withUnsafeBytes(of: day.text) { for place in 0..<10 { buffer[index + place] = $0[place] } } }
        WallTime.write(timeOfDay: rest, into: buffer, at: index + 10)
        return index + 26
    }

    private func append(_ numeral: Numeral, to bytes: inout [UInt8]) {
        guard numeral.isPlain else {
            bytes.removeLast()
            JSONText.append(string: numeral.text, to: &bytes)
            return
        }
        Self.append(32 + Int(-numeral.exponent), to: &bytes) { buffer in
            let length = numeral.write(plainInto: buffer)
            buffer[length] = UInt8(ascii: "\"")
            return length + 1
        }
    }

    private func appendOrigin(of sample: Sample, to bytes: inout [UInt8]) {
        if let measured, measured.origin == sample.timeOrigin, measured.unit == sample.unit {
            bytes.append(contentsOf: measured.text)
            return
        }
        var text: [UInt8] = Array(",\"unit\":".utf8)
        JSONText.append(string: sample.unit.code, to: &text)
        text.append(contentsOf: "},\"time\":{\"origin\":\"\(sample.timeOrigin.name)\",\"received\":\"".utf8)
        bytes.append(contentsOf: text)
        measured = Measured(unit: sample.unit, origin: sample.timeOrigin, text: text)
    }

    private func fragment(for origin: Origin) -> Fragment {
        if let latest, latest.origin === origin { return latest }
        let identifier = ObjectIdentifier(origin)
        if let known = fragments[identifier] {
            latest = known
            return known
        }
        var type: [UInt8] = Array("\",\"kind\":\"\(origin.kind.name)\",\"type\":".utf8)
        JSONText.append(string: origin.type.id, to: &type)
        if origin.kind == .quantity || origin.kind == .category { type.append(contentsOf: ",\"value\":".utf8) }
        var unit: [UInt8] = Array(",\"unit\":".utf8)
        JSONText.append(string: origin.type.canonicalUnit.code, to: &unit)
        var text: [UInt8] = Array(",\"subject\":".utf8)
        JSONText.append(string: origin.person == me ? "me" : origin.person, to: &text)
        text.append(contentsOf: ",\"source\":{\"id\":".utf8)
        JSONText.append(string: origin.source.id, to: &text)
        text.append(contentsOf: ",\"name\":".utf8)
        JSONText.append(string: origin.source.name, to: &text)
        text.append(contentsOf: ",\"version\":".utf8)
        Self.append(origin.source.version, to: &text)
        text.append(contentsOf: "},\"device\":".utf8)
        Self.append(origin.device, to: &text)
        if origin.kind == .quantity { text.append(contentsOf: ",\"original\":{\"value\":\"".utf8) }
        let fragment = Fragment(origin: origin, type: type, unit: unit, description: text)
        if fragments.count >= 4096 { fragments.removeAll() }
        fragments[identifier] = fragment
        latest = fragment
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
            JSONText.append(string: field.0, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            append(field.1, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(_ text: String?, to bytes: inout [UInt8]) {
        if let text { JSONText.append(string: text, to: &bytes) } else { bytes.append(contentsOf: "null".utf8) }
    }

    /// Appends the shortest text that reads back as the same Double, with `37.0` for a whole number. JSON has no NaN or infinity, and the
    /// gate admits none.
    private static func append(_ number: Double, to bytes: inout [UInt8]) {
        guard number.rounded(.towardZero) == number, number.magnitude < 1e15, number != 0 else {
            bytes.append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
            return
        }
        append(32, to: &bytes) { write(".0", to: $0, at: write(Int64(number), to: $0, at: 0)) }
    }

    /// Writes a text at an index and returns the index after it.
    private static func write(_ text: StaticString, to buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) -> Int {
        text.withUTF8Buffer { text in
            for place in text.indices { buffer[index + place] = text[place] }
            return index + text.count
        }
    }

    private static func write(_ number: Int64, to buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) -> Int {
        index + Numeral(coefficient: number).write(plainInto: UnsafeMutableBufferPointer(rebasing: buffer[index...]))
    }

    private static func write(two number: Int, to buffer: UnsafeMutableBufferPointer<UInt8>, at index: Int) {
        buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10)
        buffer[index + 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10)
    }

    private static func append(_ capacity: Int, to bytes: inout [UInt8], _ write: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<write(buffer)]))
        }
    }
}
