import HealthModel
import Pipeline

/// Checks the prolog of a document before it is parsed.
///
/// Clinical documents have no document type declaration. A declaration could define entities that grow without limit or read other files,
/// so such documents are not parsed. To make sure that none is hidden, only UTF-16 and encodings that extend ASCII are accepted.
enum DocumentProlog {
    /// The reason not to parse a document, as a sentence, or `nil`.
    static func rejectionReason(_ bytes: UnsafeRawBufferPointer) -> String? {
        let mark = ByteOrderMark(bytes)
        let isWide = mark == .utf16LittleEndian || mark == .utf16BigEndian || bytes.prefix(4).contains(0)
        // In UTF-16 only ASCII characters matter, because markup uses no others.
        var text = isWide ? bytes.filter { $0 != 0 } : Array(bytes.prefix(maximumLength))
        if let mark = ByteOrderMark(text) { text.removeFirst(mark.length) }
        var index = 0
        while index < text.count {
            let rest = text[index...]
            if rest[index] <= 0x20 {
                index += 1
            } else if rest.starts(with: "<?".utf8) {
                guard let end = find("?>", rest) else { return "it ends in the middle" }
                if rest.starts(with: "<?xml".utf8), let rejectionReason = encodingRejectionReason(rest[..<end], isWide) {
                    return rejectionReason
                }
                index = end
            } else if rest.starts(with: "<!--".utf8) {
                guard let end = find("-->", rest.dropFirst(4)) else { return "it ends in the middle" }
                index = end
            } else if rest.starts(with: "<!".utf8) {
                return "it has a document type declaration, which clinical documents do not have (entities are never read)"
            } else {
                return rest[index] == UInt8(ascii: "<") ? nil : "it is not XML"
            }
        }
        return bytes.count > maximumLength && !isWide
            ? "more than \(maximumLength >> 10) KiB precede its root element" : "it is empty"
    }

    /// The maximum length of the prolog in bytes, longer than comments of real systems.
    private static let maximumLength = 1 << 20

    private static func find(_ mark: String, _ bytes: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        var index = bytes.startIndex
        while index + mark.count <= bytes.endIndex {
            if bytes[index] == mark[0], bytes[index...].starts(with: mark) { return index + mark.count }
            index += 1
        }
        return nil
    }

    private static func encodingRejectionReason(_ declaration: ArraySlice<UInt8>, _ isWide: Bool) -> String? {
        let text = String(decoding: declaration, as: UTF8.self)
        guard let match = text.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else { return nil }
        let name = match.1.lowercased()
        let isKnown =
            ["utf-8", "utf8", "us-ascii", "ascii"].contains(name) || name.hasPrefix("iso-8859-") || name.hasPrefix("windows-125")
        guard isKnown || isWide && name.hasPrefix("utf-16") else {
            return "its encoding is not supported: use UTF-8, UTF-16, ISO 8859 or a Windows code page"
        }
        return nil
    }
}
