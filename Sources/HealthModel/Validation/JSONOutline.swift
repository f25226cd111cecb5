/// Checks whether bytes are structurally valid JSON, and finds one text of the outermost object.
///
/// Escapes and characters are not checked, because a resource is stored as received, byte for byte.
enum JSONOutline {
    /// Deeper than any resource.
    private static let deepest = 511

    /// The text under a name in the outermost object, or `nil` if the bytes are not an object or do not have it.
    static func text(_ name: String, of bytes: [UInt8]) -> String? {
        bytes.withUnsafeBytes { bytes in
            var reader = JSONReader<JSONFault>(bytes, checks: .structure, maximumDepth: deepest)
            var found: Range<Int>?
            reader.skipBlanks()
            do throws(JSONFault) {
                try reader.forEachMember { member, value in
                    guard bytes[member.range].elementsEqual(name.utf8), bytes[value.lowerBound] == UInt8(ascii: "\"") else {
                        return
                    }
                    found = value.lowerBound + 1..<value.upperBound - 1
                }
            } catch {
                return nil
            }
            reader.skipBlanks()
            return reader.isAtEnd ? found.map { String(decoding: bytes[$0], as: UTF8.self) } : nil
        }
    }
}
