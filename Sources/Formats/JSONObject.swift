import HealthModel

/// A line of NDJSON, or an object within one, with its fields in order.
///
/// ```swift
/// JSONObject(["uuid": uuid.description, "battery": battery, "reason": ifPresent(reason)])
/// ```
package struct JSONObject: JSONRepresentable, ExpressibleByDictionaryLiteral {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// An object without fields.
    package init() {}

    /// An object with fields. `nil` becomes `null`.
    package init(_ fields: KeyValuePairs<String, (any JSONRepresentable)?>...) {
        for list in fields { set(list) }
    }

    package init(dictionaryLiteral fields: (String, (any JSONRepresentable)?)...) {
        for (name, value) in fields { set(name, value) }
    }

    /// Appends a field. `nil` becomes `null`.
    package mutating func set(_ name: String, _ value: (any JSONRepresentable)?) {
        if value is OmittedValue { return }
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(string: name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if let value { value.append(to: &bytes) } else { bytes += "null".utf8 }
    }

    package mutating func set(_ fields: KeyValuePairs<String, (any JSONRepresentable)?>) {
        for (name, value) in fields { set(name, value) }
    }

    /// Appends a field whose value is already JSON, including the stored form.
    package mutating func set(_ name: String, raw: [UInt8]) { set(name, RawJSON(raw)) }

    package func append(to bytes: inout [UInt8]) {
        bytes += self.bytes
        bytes.append(UInt8(ascii: "}"))
    }

    /// The object with the fields set so far.
    package var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// The line with its newline.
    package var line: [UInt8] { bytes + [UInt8(ascii: "}"), UInt8(ascii: "\n")] }
}
