/// Reads octets from the front of a frame and knows where it is.
///
///     var reader = ByteReader(bytes)
///     guard let flags = reader.unsigned(1) else { … truncated at reader.offset … }
///
/// Every read answers `nil` where the octets do not suffice, and then stays where it was. Valid as long as the bytes are.
public struct ByteReader {
    @usableFromInline let bytes: UnsafeRawBufferPointer
    /// Where the window ends.
    public let end: Int
    @usableFromInline var position: Int

    /// Where the next read begins, counted from the frame's first octet.
    @inlinable public var offset: Int { position }

    /// Begins at the first octet.
    @inlinable public init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, from: 0, to: bytes.count)
    }

    /// A window on the frame; offsets stay those of the frame.
    @usableFromInline init(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) {
        self.bytes = bytes
        self.position = start
        self.end = end
    }

    /// Octets that are not read yet.
    @inlinable public var remaining: Int { end - offset }
    /// Whether every octet was read.
    @inlinable public var isAtEnd: Bool { offset == end }

    /// The next octet, which stays unread.
    @inlinable public var next: UInt8? { offset < end ? bytes[offset] : nil }

    /// A reader of the next octets only; `nil` where there are fewer.
    @inlinable public func window(_ count: Int) -> ByteReader? {
        count >= 0 && count <= remaining ? ByteReader(bytes, from: offset, to: offset + count) : nil
    }

    /// An unsigned integer of one to eight octets, least significant octet first as all of GATT is.
    @inlinable @inline(__always) public mutating func unsigned(_ width: Int, bigEndian: Bool = false) -> UInt64? {
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

    /// A two's complement integer of one to eight octets.
    @inlinable @inline(__always) public mutating func signed(_ width: Int, bigEndian: Bool = false) -> Int64? {
        guard let value = unsigned(width, bigEndian: bigEndian) else { return nil }
        let unused = UInt64(64 - 8 * width)
        return Int64(bitPattern: value << unused) >> Int64(unused)
    }

    /// The next octets as they stand.
    @inlinable public mutating func octets(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    /// Everything from `start` up to where the reader is.
    @inlinable public func octets(since start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[min(max(start, 0), offset)..<offset])
    }
}
