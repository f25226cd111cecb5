import HealthModel
import Pipeline

/// Recognizes files of FHIR resources: one resource, a Bundle, or one resource per line.
///
///     if ResourceFile.recognises(file) { … }
package enum ResourceFile {
    /// The number of bytes that are examined to recognize a file.
    package static let decidingLength = 64 << 10

    /// Whether an open file begins with a JSON object that has a `resourceType`. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(decidingLength, recognises)
    }

    /// Whether a file that begins with these bytes contains FHIR resources.
    package static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        let text = beginning.dropFirst(ByteOrderMark.lengthUTF8(beginning))
        guard let first = text.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") else { return false }
        let name = Array("\"resourceType\"".utf8)
        var start = text.startIndex
        while let quote = text[start...].firstIndex(of: UInt8(ascii: "\"")) {
            if text[quote...].starts(with: name) {
                let following = text[(quote + name.count)...].first { $0 > 0x20 }
                if following == UInt8(ascii: ":") { return true }
            }
            start = quote + 1
        }
        return false
    }
}
