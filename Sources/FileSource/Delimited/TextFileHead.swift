import HealthModel
import Pipeline

/// The beginning of a text file, from which profiles recognize it.
package struct TextFileHead: Sendable {
    /// Up to 64 KiB, converted to UTF-8.
    package var text: String
    package var isWhole: Bool
    package var encoding: TextEncoding

    /// - Throws: ``SourceError`` if the file does not exist or is not a text.
    package static func read(path: String) throws(SourceError) -> TextFileHead { try read(InputFile(path: path)) }

    package static func read(_ file: InputFile) throws(SourceError) -> TextFileHead { try read(FileInput(file)) }

    package static func read(bytes: [UInt8]) throws(SourceError) -> TextFileHead {
        try read(MemoryInput(bytes))
    }

    private static func read(_ input: any ByteInput) throws(SourceError) -> TextFileHead {
        let limit = 64 * 1024
        let buffer = try TextBuffer(input, maximum: limit)
        while buffer.end - buffer.start < limit, try buffer.refill() {}
        let count = min(buffer.end - buffer.start, limit)
        var bytes = UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: count)
        // An incomplete character at the end does not affect the encoding.
        var cut = bytes.count
        while cut > 0, bytes.count - cut < 4, bytes[cut - 1] & 0xC0 == 0x80 { cut -= 1 }
        if cut > 0, bytes[cut - 1] >= 0xC0 { cut -= 1 }
        if count == limit { bytes = UnsafeRawBufferPointer(rebasing: bytes[..<cut]) }
        let text: String
        if isASCII(bytes) || UTF8Text.isValid(bytes) {
            text = String(decoding: bytes, as: UTF8.self)
        } else {
            text = String(unsafeUninitializedCapacity: bytes.count * 3) { target in
                target.baseAddress.map { Windows1252.convert(bytes, into: $0) } ?? 0
            }
        }
        return TextFileHead(text: text, isWhole: buffer.atEnd && count == buffer.end - buffer.start, encoding: buffer.encoding)
    }
}
