import Pipeline

/// The beginning of a text file, by which a profile recognises it.
public struct TextFileHead: Sendable {
    /// Up to 64 KiB, as UTF-8.
    public var text: String
    /// Nothing follows it.
    public var isWhole: Bool
    /// What the file itself is in.
    public var encoding: TextEncoding

    /// - Throws: ``SourceError`` where there is no such file or it is not text.
    public static func read(path: String) throws(SourceError) -> TextFileHead { try read(InputFile(path: path)) }

    /// The same of a file that is open.
    public static func read(_ file: InputFile) throws(SourceError) -> TextFileHead { try read(FileInput(file)) }

    /// The same of octets that are at hand.
    public static func read(bytes: [UInt8]) throws(SourceError) -> TextFileHead {
        try read(MemoryInput(bytes))
    }

    private static func read(_ input: any ByteInput) throws(SourceError) -> TextFileHead {
        let limit = 64 * 1024
        let buffer = try TextBuffer(input, maximum: limit)
        while buffer.end - buffer.start < limit, try buffer.refill() {}
        let count = min(buffer.end - buffer.start, limit)
        var bytes = UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: count)
        // A character cut in two at the end says nothing about the encoding.
        var cut = bytes.count
        while cut > 0, bytes.count - cut < 4, bytes[cut - 1] & 0xC0 == 0x80 { cut -= 1 }
        if cut > 0, bytes[cut - 1] >= 0xC0 { cut -= 1 }
        if count == limit { bytes = UnsafeRawBufferPointer(rebasing: bytes[..<cut]) }
        let text: String
        if isASCII(bytes) || isUTF8(bytes) {
            text = String(decoding: bytes, as: UTF8.self)
        } else {
            text = String(unsafeUninitializedCapacity: bytes.count * 3) { target in
                target.baseAddress.map { Windows1252.convert(bytes, into: $0) } ?? 0
            }
        }
        return TextFileHead(text: text, isWhole: buffer.atEnd && count == buffer.end - buffer.start, encoding: buffer.encoding)
    }
}
