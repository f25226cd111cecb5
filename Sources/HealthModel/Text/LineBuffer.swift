/// Splits bytes that arrive in pieces into lines that end with LF.
///
///     var lines = LineBuffer()
///     lines.append(octets)
///     while let line = lines.next() { … }
public struct LineBuffer: Sendable {
    private var bytes: [UInt8] = []
    /// The index of the first byte that was not returned.
    private var start = 0
    /// The index up to which no LF was found.
    private var searched = 0

    public init() {}

    /// The bytes after the last line, once ``next()`` has returned `nil`. The caller limits their number.
    public var rest: ArraySlice<UInt8> { bytes[start...] }

    /// Adds bytes after all others.
    public mutating func append(_ more: ArraySlice<UInt8>) {
        if bytes.capacity > 1 << 20, bytes.count - start < 1 << 20 {
            // Releases the memory of a long line.
            bytes = Array(bytes[start...])
        } else {
            bytes.removeFirst(start)
        }
        (start, searched) = (0, searched - start)
        bytes.append(contentsOf: more)
    }

    /// Returns the next complete line without its LF, or `nil` until more bytes are added.
    public mutating func next() -> ArraySlice<UInt8>? {
        guard let end = bytes[searched...].firstIndex(of: 0x0A) else {
            searched = bytes.count
            return nil
        }
        defer { (start, searched) = (end + 1, end + 1) }
        return bytes[start..<end]
    }
}
