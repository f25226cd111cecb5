import CZip
import CompressionKit

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
    private var checksum = CRC32()

    /// - Throws: ``ZipFault`` if the compression method is not supported.
    init(_ packed: ZipDirectory.Packed, _ entry: ZipDirectory.Entry) throws(ZipFault) {
        (self.packed, self.entry) = (packed, entry)
        switch Int32(entry.method) {
        case ZIP_CM_STORE: inflation = nil
        case ZIP_CM_DEFLATE: inflation = try Inflation()
        default: throw ZipFault(reason: "a member is compressed by method \(entry.method), which is not supported")
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        let part = if let inflation { try inflation.read(packed, into: buffer) } else { try packed.read(into: buffer) }
        count += UInt64(part)
        checksum.add(UnsafeRawBufferPointer(rebasing: buffer[..<part]))
        guard part == 0 ? count == entry.size : count <= entry.size else { throw .size }
        guard count < entry.size || checksum.value == entry.checksum else { throw .checksum }
        return part
    }
}

/// Decompresses the bytes of a member.
private final class Inflation {
    private let stream: InflateStream
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The part of the input that is not decompressed yet.
    private var rest = 0..<0
    private var isEnded = false

    init() throws(ZipFault) {
        guard let begun = InflateStream(.raw) else { throw ZipFault(reason: "out of memory") }
        stream = begun
    }

    deinit { input.deallocate() }

    func read(_ packed: ZipDirectory.Packed, into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        var written = 0
        while written == 0, !isEnded {
            if rest.isEmpty {
                rest = 0..<(try packed.read(into: input))
                guard !rest.isEmpty else { throw ZipFault(reason: "a member ends too early") }
            }
            let step = stream.decompress(UnsafeRawBufferPointer(rebasing: input[rest]), into: buffer)
            rest.removeFirst(step.read)
            written = step.written
            switch step.state {
            case .open: break
            case .ended: isEnded = true
            case .damaged: throw ZipFault(reason: "a member cannot be decompressed")
            }
        }
        return written
    }
}

/// Unpacks small members in memory in one call. The buffers are reused.
final class ShortMember: ZipMember {
    /// The maximum size in bytes, both compressed and unpacked. A route of an hour is smaller.
    static let maximumSize: UInt64 = 1 << 20

    private var packed = Room()
    private var bytes = Room()
    private var rest: Range<Int> = 0..<0
    private let decompressor = BufferDecompressor()

    /// A buffer that grows and is not initialized.
    private struct Room {
        var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)

        mutating func grow(to count: Int) {
            guard bytes.count < count else { return }
            bytes.deallocate()
            bytes = .allocate(byteCount: count, alignment: 16)
        }
    }

    deinit {
        packed.bytes.deallocate()
        bytes.bytes.deallocate()
    }

    /// Whether a member is small enough.
    static func takes(_ entry: ZipDirectory.Entry) -> Bool {
        Int32(entry.method) == ZIP_CM_DEFLATE && entry.size <= maximumSize && entry.packedSize <= maximumSize
    }

    func begin(_ member: ZipDirectory.Packed, _ entry: ZipDirectory.Entry) throws(ZipFault) {
        rest = 0..<0
        let (packedSize, size) = (Int(entry.packedSize), Int(entry.size))
        packed.grow(to: packedSize)
        bytes.grow(to: max(size, 1))
        var count = 0
        while count < packedSize {
            let part = try member.read(into: UnsafeMutableRawBufferPointer(rebasing: packed.bytes[count..<packedSize]))
            guard part > 0 else { throw ZipFault(reason: "a member ends too early") }
            count += part
        }
        guard let decompressor else { throw ZipFault(reason: "out of memory") }
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes.bytes[..<size])
        switch decompressor.decompress(raw: UnsafeRawBufferPointer(rebasing: packed.bytes[..<packedSize]), into: room) {
        case .done: break
        case .wrongSize: throw .size
        case .damaged: throw ZipFault(reason: "a member cannot be decompressed")
        }
        var checksum = CRC32()
        checksum.add(UnsafeRawBufferPointer(room))
        guard checksum.value == entry.checksum else { throw .checksum }
        rest = 0..<size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
        let part = rest.prefix(buffer.count)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.bytes[part]))
        rest.removeFirst(part.count)
        return part.count
    }
}
