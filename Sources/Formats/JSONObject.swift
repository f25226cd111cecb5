import HealthModel

/// Builds one line of NDJSON, field by field.
package struct JSONObject {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    /// An object without fields.
    package init() {}

    /// A text, or `null`.
    package mutating func set(_ name: String, _ value: String?) {
        key(name)
        if let value { JSONText.append(string: value, to: &bytes) } else { bytes += "null".utf8 }
    }

    /// An integer, or `null`.
    package mutating func set(_ name: String, _ value: Int?) {
        key(name)
        if let value { JSONText.append(integer: value, to: &bytes) } else { bytes += "null".utf8 }
    }

    /// A number, or `null`. Infinities also become `null`, since JSON does not have them.
    package mutating func set(_ name: String, _ value: Double?) {
        key(name)
        if let value { JSONText.append(number: value, to: &bytes) } else { bytes += "null".utf8 }
    }

    /// `true` or `false`.
    package mutating func set(_ name: String, _ value: Bool) {
        key(name)
        JSONText.append(boolean: value, to: &bytes)
    }

    /// An object within this one.
    package mutating func set(_ name: String, _ object: JSONObject) { set(name, raw: object.closed) }

    package mutating func set(_ name: String, _ list: [JSONObject]) {
        set(name, raw: [UInt8(ascii: "[")] + list.map(\.closed).joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")])
    }

    /// A list of texts.
    package mutating func set(_ name: String, _ list: [String]) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in list.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(string: text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// A value that is already JSON, including the stored form.
    package mutating func set(_ name: String, raw: [UInt8]) {
        key(name)
        JSONText.append(json: raw, to: &bytes)
    }

    private mutating func key(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(string: name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// The object with the fields set so far.
    package var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// The line with its newline.
    package var line: [UInt8] { bytes + [UInt8(ascii: "}"), UInt8(ascii: "\n")] }
}
