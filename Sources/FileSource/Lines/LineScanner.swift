import HealthModel

/// Reads the JSON of a line. Everything that it skips is well-formed.
typealias LineScanner = JSONReader<LineFault>

extension JSONReader where Failure == LineFault {
    init(_ bytes: UnsafeRawBufferPointer, from index: Int = 0) {
        self.init(bytes, from: index, maximumDepth: LineObject.maximumDepth)
    }

    /// Returns a number with its digits, or `nil` if it is invalid.
    static func number(of bytes: UnsafeRawBufferPointer, _ place: Range<Int>) -> Numeral? {
        let text = UnsafeRawBufferPointer(rebasing: bytes[place])
        guard let first = text.first, first == UInt8(ascii: "-") || first &- 0x30 < 10 else { return nil }
        return try? Numeral(parsing: text)
    }

    /// Returns a string that was skipped, by its range with the quotation marks.
    static func text(of bytes: UnsafeRawBufferPointer, _ place: Range<Int>) throws(LineFault) -> String {
        try text(of: bytes, JSONString(place.lowerBound + 1..<place.upperBound - 1, isEscaped: true))
    }

    static func text(of bytes: UnsafeRawBufferPointer, _ string: JSONString) throws(LineFault) -> String {
        let text =
            string.isEscaped
            ? String(validating: try unescaped(of: bytes, string.range), as: UTF8.self)
            : String(validating: UnsafeRawBufferPointer(rebasing: bytes[string.range]), as: UTF8.self)
        guard let text else { throw LineFault("a text is not UTF-8") }
        return text
    }

    /// Returns the bytes of a string with its escapes resolved.
    ///
    /// - Parameter range: The text between the quotation marks.
    static func unescaped(of bytes: UnsafeRawBufferPointer, _ range: Range<Int>) throws(LineFault) -> [UInt8] {
        let written = UnsafeRawBufferPointer(rebasing: bytes[range])
        var hasHalf = false
        let unescaped = [UInt8](unsafeUninitializedCapacity: written.count) { room, count in
            guard let target = room.baseAddress else { return }
            (count, hasHalf) = JSONString.unescape(written, into: target)
        }
        guard !hasHalf else { throw LineFault("a text has half a character") }
        return unescaped
    }
}
