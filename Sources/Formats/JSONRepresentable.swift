import HealthModel

/// A value of a field in a line of NDJSON.
package protocol JSONRepresentable {
    /// Appends the value, with the escapes of a line.
    func append(to bytes: inout [UInt8])
}

extension JSONRepresentable {
    /// The value as the text of a cell, or `nil` if it is left out.
    package var text: String? { self is OmittedValue ? nil : "\(self)" }
}

extension String: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) { JSONText.append(string: self, to: &bytes) }
}

extension Int: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) { JSONText.append(integer: self, to: &bytes) }
}

extension Int64: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) { JSONText.append(integer: self, to: &bytes) }
}

extension Double: JSONRepresentable {
    /// Infinities and NaN become `null`, since JSON does not have them.
    package func append(to bytes: inout [UInt8]) { JSONText.append(number: self, to: &bytes) }
}

extension Bool: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) { JSONText.append(boolean: self, to: &bytes) }
}

extension Instant: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) { JSONText.append(string: description, to: &bytes) }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
    package func append(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            element.append(to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }
}

/// A value that is already JSON, including the stored form.
package struct RawJSON: JSONRepresentable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package init(_ text: String) { bytes = Array(text.utf8) }

    package func append(to bytes: inout [UInt8]) { JSONText.append(json: self.bytes, to: &bytes) }
}

/// The value of a field that is left out.
struct OmittedValue: JSONRepresentable {
    func append(to bytes: inout [UInt8]) {}
}

/// A value whose field is left out if it is `nil`, and not `null`.
package func ifPresent(_ value: (any JSONRepresentable)?) -> any JSONRepresentable { value ?? OmittedValue() }
