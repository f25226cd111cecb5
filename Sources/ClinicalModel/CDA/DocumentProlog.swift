import Pipeline

/// What stands before the root element of a document: whether it may be handed to the parser at all.
///
/// No document of a clinic has a document type declaration, and with one come entities that grow without end or read other files: none is
/// parsed. So that none can hide, only encodings are read in which ASCII's characters are ASCII's octets, and UTF-16.
enum DocumentProlog {
    /// Why a document is not parsed, as a sentence.
    static func obstacle(_ octets: UnsafeRawBufferPointer) -> String? {
        let isWide = octets.starts(with: [0xFE, 0xFF]) || octets.starts(with: [0xFF, 0xFE]) || octets.prefix(4).contains(0)
        // Of UTF-16 the ASCII characters are looked at: the others stand for no mark-up.
        var text = isWide ? octets.filter { $0 != 0 } : Array(octets.prefix(maximumLength))
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        if text.starts(with: [0xFE, 0xFF]) || text.starts(with: [0xFF, 0xFE]) { text.removeFirst(2) }
        var index = 0
        while index < text.count {
            let rest = text[index...]
            if rest[index] <= 0x20 {
                index += 1
            } else if rest.starts(with: "<?".utf8) {
                guard let end = find("?>", rest) else { return "it ends in the middle" }
                if rest.starts(with: "<?xml".utf8), let obstacle = encodingObstacle(rest[..<end], isWide) { return obstacle }
                index = end
            } else if rest.starts(with: "<!--".utf8) {
                guard let end = find("-->", rest.dropFirst(4)) else { return "it ends in the middle" }
                index = end
            } else if rest.starts(with: "<!".utf8) {
                return "it has a document type declaration, which no clinical document has; entities are never read"
            } else {
                return rest[index] == UInt8(ascii: "<") ? nil : "it is no XML"
            }
        }
        return octets.count > maximumLength && !isWide
            ? "more than \(maximumLength >> 10) KiB stand before its root element" : "it is empty"
    }

    /// Longer than any comment that a system writes in front.
    private static let maximumLength = 1 << 20

    private static func find(_ mark: String, _ octets: ArraySlice<UInt8>) -> Int? {
        let mark = Array(mark.utf8)
        var index = octets.startIndex
        while index + mark.count <= octets.endIndex {
            if octets[index] == mark[0], octets[index...].starts(with: mark) { return index + mark.count }
            index += 1
        }
        return nil
    }

    private static func encodingObstacle(_ declaration: ArraySlice<UInt8>, _ isWide: Bool) -> String? {
        let text = String(decoding: declaration, as: UTF8.self)
        guard let match = text.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else { return nil }
        let name = match.1.lowercased()
        let isKnown =
            ["utf-8", "utf8", "us-ascii", "ascii"].contains(name) || name.hasPrefix("iso-8859-") || name.hasPrefix("windows-125")
        guard isKnown || isWide && name.hasPrefix("utf-16") else {
            return "its encoding is not read: UTF-8, UTF-16, ISO 8859 and Windows' code pages are"
        }
        return nil
    }
}
