/// Reads bytes from the start of a frame and tracks its position.
///
///     var reader = ByteReader(bytes)
///     guard let flags = reader.unsigned(1) else { … truncated at reader.offset … }
///
/// Every read returns `nil` if there are too few bytes, and then keeps its position. Valid as long as the bytes are.
package struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    package let end: Int
    @usableFromInline var position: Int

    /// The position of the next read, counted from the frame's first byte.
    @inlinable package var offset: Int { position }

    /// A reader that starts at the first byte.
    @inlinable package init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, from: 0, to: bytes.count)
    }

    /// A window into the frame. Offsets remain relative to the frame.
    @usableFromInline init(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) {
        self.bytes = bytes
        self.position = start
        self.end = end
    }

    /// The number of unread bytes.
    @inlinable package var remaining: Int { end - offset }
    /// Whether every byte was read.
    @inlinable package var isAtEnd: Bool { offset == end }

    /// The next byte, without reading it.
    @inlinable package var next: UInt8? { offset < end ? bytes[offset] : nil }

    /// A reader of the next `count` bytes only, or `nil` if there are fewer.
    @inlinable package func window(_ count: Int) -> ByteReader? {
        count >= 0 && count <= remaining ? ByteReader(bytes, from: offset, to: offset + count) : nil
    }

    /// An unsigned integer of one to eight bytes, least significant byte first by default as everywhere in GATT.
    @inlinable @inline(__always) package mutating func unsigned(_ width: Int, bigEndian: Bool = false) -> UInt64? {
        guard width <= remaining else { return nil }
        var value: UInt64 = 0
        if bigEndian {
            for index in 0..<width { value = value << 8 | UInt64(bytes[offset + index]) }
        } else {
            for index in 0..<width { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
        }
        position += width
        return value
    }

    /// A two's complement integer of one to eight bytes.
    @inlinable @inline(__always) package mutating func signed(_ width: Int, bigEndian: Bool = false) -> Int64? {
        guard let value = unsigned(width, bigEndian: bigEndian) else { return nil }
        let unused = UInt64(64 - 8 * width)
        return Int64(bitPattern: value << unused) >> Int64(unused)
    }

    /// The next bytes, unchanged.
    @inlinable package mutating func readBytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    /// All bytes from `start` up to the current position.
    @inlinable package func readBytes(since start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[min(max(start, 0), offset)..<offset])
    }
}
