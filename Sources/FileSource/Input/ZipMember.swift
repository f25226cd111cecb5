import CZip

/// Unpacks one member. Its last bytes are only returned if size and checksum match the directory.
protocol ZipMember: AnyObject {
    /// - Returns: the number of bytes read, or 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int
}

/// A member that is unpacked while it is read.
final class LongMember: ZipMember {
    private let packed: ZipDirectory.Packed
    private let entry: ZipDirectory.Entry
    private let inflation: Inflation?
    private var count: UInt64 = 0
    private var checksum: UInt32 = 0

    /// - Throws: ``ZipFault`` if the compression method is not supported.
    init(_ packed: ZipDirectory.Packed, _ entry: ZipDirectory.Entry) throws(ZipFault) {
        (self.packed, self.entry) = (packed, entry)
        switch Int32(entry.method) {
        case ZIP_CM_STORE: inflation = nil
        case ZIP_CM_DEFLATE: inflation = Inflation()
        default: throw ZipFault(reason: "a member is packed by method \(entry.method), which is not read")
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        let part = if let inflation { try inflation.read(packed, into: buffer) } else { try packed.read(into: buffer) }
        count += UInt64(part)
        checksum = libdeflate_crc32(checksum, buffer.baseAddress, part)
        guard part == 0 ? count == entry.size : count <= entry.size else { throw .size }
        guard count < entry.size || checksum == entry.checksum else { throw .checksum }
        return part
    }
}

/// Decompresses a stream with zlib.
private final class Inflation {
    private var stream = z_stream()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let isBegun: Bool
    private var isEnded = false

    init() { isBegun = vitalgate_inflate_begin_bare(&stream) == Z_OK }

    deinit {
        if isBegun { inflateEnd(&stream) }
        input.deallocate()
    }

    func read(_ packed: ZipDirectory.Packed, into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        guard isBegun else { throw ZipFault(reason: "out of memory") }
        let room = min(buffer.count, Int(UInt32.max))
        stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = UInt32(room)
        while stream.avail_out == UInt32(room), !isEnded {
            if stream.avail_in == 0 {
                stream.avail_in = UInt32(try packed.read(into: input))
                stream.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard stream.avail_in > 0 else { throw ZipFault(reason: "a member ends too early") }
            }
            switch inflate(&stream, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: isEnded = true
            default: throw ZipFault(reason: "a member cannot be unpacked")
            }
        }
        return room - Int(stream.avail_out)
    }
}

/// Unpacks small members in memory in one call (libdeflate). The buffers are reused.
final class ShortMember: ZipMember {
    /// The maximum size in bytes, both compressed and unpacked. A route of an hour is smaller.
    static let maximumSize: UInt64 = 1 << 20

    private var packed = Room()
    private var octets = Room()
    private var rest: Range<Int> = 0..<0
    private let decompressor = libdeflate_alloc_decompressor()

    /// A buffer that grows and is not initialized.
    private struct Room {
        var octets = UnsafeMutableRawBufferPointer(start: nil, count: 0)

        mutating func grow(to count: Int) {
            guard octets.count < count else { return }
            octets.deallocate()
            octets = .allocate(byteCount: count, alignment: 16)
        }
    }

    deinit {
        libdeflate_free_decompressor(decompressor)
        packed.octets.deallocate()
        octets.octets.deallocate()
    }

    /// Whether a member is small enough.
    static func takes(_ entry: ZipDirectory.Entry) -> Bool {
        Int32(entry.method) == ZIP_CM_DEFLATE && entry.size <= maximumSize && entry.packedSize <= maximumSize
    }

    /// Unpacks the next member.
    func begin(_ member: ZipDirectory.Packed, _ entry: ZipDirectory.Entry) throws(ZipFault) {
        rest = 0..<0
        let (packedSize, size) = (Int(entry.packedSize), Int(entry.size))
        packed.grow(to: packedSize)
        octets.grow(to: max(size, 1))
        var count = 0
        while count < packedSize {
            let part = try member.read(into: UnsafeMutableRawBufferPointer(rebasing: packed.octets[count..<packedSize]))
            guard part > 0 else { throw ZipFault(reason: "a member ends too early") }
            count += part
        }
        guard let decompressor else { throw ZipFault(reason: "out of memory") }
        let result = libdeflate_deflate_decompress(
            decompressor, packed.octets.baseAddress, packedSize, octets.octets.baseAddress, size, nil)
        guard result != LIBDEFLATE_SHORT_OUTPUT, result != LIBDEFLATE_INSUFFICIENT_SPACE else { throw .size }
        guard result == LIBDEFLATE_SUCCESS else { throw ZipFault(reason: "a member cannot be unpacked") }
        guard libdeflate_crc32(0, octets.octets.baseAddress, size) == entry.checksum else { throw .checksum }
        rest = 0..<size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        let part = rest.prefix(buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: octets.octets[part]))
        rest.removeFirst(part.count)
        return part.count
    }
}
