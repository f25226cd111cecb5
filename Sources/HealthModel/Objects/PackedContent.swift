import CDeflate
import Synchronization

/// The compressed content of a body (zlib, RFC 1950), with its digest and length: points of a series, a resource, a document.
///
///     var writer = ContentWriter()
///     try writer.append(octets)
///     let content = try writer.end()
///     try content.forEachStretch { piece in … }   // never more than 64 KiB at once
///
///     | SHA-256, 32 bytes | length, a varint | zlib stream |
public struct PackedContent: Sendable {
    /// The maximum uncompressed length in bytes. It suffices for a document with pictures or a route of some days.
    public static let maximumLength = 32 << 20

    /// The SHA-256 of the uncompressed bytes.
    public let digest: [UInt8]
    /// The number of uncompressed bytes.
    public let length: Int
    private let form: Form

    private enum Form {
        case packed(ArraySlice<UInt8>)
        /// Not yet compressed. The store compresses it, possibly on another thread. At most ``ContentWriter/held`` bytes.
        case plain([UInt8])
    }

    fileprivate init(digest: [UInt8], length: Int, packed: ArraySlice<UInt8>) {
        (self.digest, self.length, form) = (digest, length, .packed(packed))
    }

    fileprivate init(plain octets: [UInt8]) {
        (digest, length, form) = (Digest.sha256(octets), octets.count, .plain(octets))
    }

    /// Compresses bytes in memory. Short content is compressed when it is stored.
    public init(_ octets: some Collection<UInt8>) throws(ContentError) {
        guard octets.count > ContentWriter.held else {
            self.init(plain: Array(octets))
            return
        }
        var writer = ContentWriter()
        // In pieces, because a second copy of large content would need too much memory.
        var rest = octets[...]
        while !rest.isEmpty {
            let piece = rest.prefix(64 << 10)
            try writer.append(Array(piece))
            rest = rest.dropFirst(piece.count)
        }
        self = try writer.end()
    }

    /// Parses the stored form. Returns `nil` if it is truncated.
    init?(stored: ArraySlice<UInt8>) {
        guard stored.count > 32 else { return nil }
        var reader = VarintReader(stored.dropFirst(32))
        guard let length = reader.next(), length <= UInt64(Self.maximumLength) else { return nil }
        self.init(digest: Array(stored.prefix(32)), length: Int(length), packed: reader.rest)
    }

    /// Appends the stored form.
    func append(to octets: inout [UInt8]) {
        let (head, packed) = (head, packedOctets)
        octets.reserveCapacity(octets.count + head.count + packed.count)
        octets += head
        octets += packed
    }

    /// The digest and length in their stored form, which identify the content.
    var head: [UInt8] {
        var octets = digest
        octets.append(varint: UInt64(length))
        return octets
    }

    /// The size in memory, in bytes.
    var size: Int {
        switch form {
        case .packed(let octets): octets.count
        case .plain(let octets): octets.count
        }
    }

    /// The compressed size, in bytes.
    public var packedLength: Int { packedOctets.count }

    /// Passes the bytes to `body`, at most 64 KiB at a time.
    ///
    /// - Throws: ``ContentError/damaged`` after the last bytes if length or digest do not match, and any error from `body`.
    public func forEachStretch(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var reader = try ContentReader(self)
        while let stretch = try reader.next() { try stretch.withUnsafeBytes(body) }
    }

    /// All bytes.
    ///
    /// - Throws: ``ContentError/damaged``.
    public func octets() throws(ContentError) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(length)
        var reader = try ContentReader(self)
        while let stretch = try reader.next() { octets += stretch }
        return octets
    }

    fileprivate var packedOctets: ArraySlice<UInt8> {
        switch form {
        case .packed(let octets): octets
        case .plain(let octets): Packer.pack(octets)[...]
        }
    }
}

/// The reason why a body's content cannot be compressed or decompressed.
public enum ContentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More than ``PackedContent/maximumLength``.
    case tooLong
    /// The stored data was changed.
    case damaged
    /// The machine has no more memory.
    case outOfMemory

    public var description: String {
        switch self {
        case .tooLong: "it is longer than \(PackedContent.maximumLength >> 20) MiB"
        case .damaged: "its stored content is damaged"
        case .outOfMemory: "out of memory"
        }
    }
}

/// Compresses bytes that are completely in memory. It uses libdeflate, which takes half the time of zlib for the same format. Compressors
/// are kept for reuse.
private final class Packer: @unchecked Sendable {
    private static let unused = Mutex<[Packer]>([])

    // Used by one caller at a time.
    private lazy var fast = Self.compressor(level: 1)
    private lazy var usual = Self.compressor(level: 6)

    private static func compressor(level: Int32) -> OpaquePointer {
        guard let compressor = libdeflate_alloc_compressor(level) else { preconditionFailure("out of memory") }
        return compressor
    }

    /// The length up to which a higher compression level hardly helps.
    private static let few = 4096

    static func pack(_ octets: [UInt8]) -> [UInt8] {
        let packer = unused.withLock { $0.popLast() } ?? Packer()
        defer { unused.withLock { $0.append(packer) } }
        let compressor = octets.count <= few ? packer.fast : packer.usual
        return [UInt8](unsafeUninitializedCapacity: libdeflate_zlib_compress_bound(compressor, octets.count)) { room, count in
            count = libdeflate_zlib_compress(compressor, octets, octets.count, room.baseAddress, room.count)
        }
    }
}

/// A zlib stream that is freed with its last owner.
private final class Stream {
    var state = z_stream()
    let end: (inout z_stream) -> Void

    init(_ begin: (inout z_stream) -> Int32, end: @escaping (inout z_stream) -> Void) throws(ContentError) {
        self.end = end
        guard begin(&state) == Z_OK else { throw .outOfMemory }
    }

    deinit { end(&state) }
}

/// Compresses bytes incrementally. Only compressed bytes are in memory, except for the first ``held``.
public struct ContentWriter {
    /// Created once there are more than ``held`` bytes.
    private var stream: Stream?
    private var digest = Digest.Stream()
    /// The compressed bytes if there is a stream, otherwise the original ones.
    private var octets: [UInt8] = []
    /// The number of bytes so far.
    public private(set) var length = 0

    /// The length up to which content is compressed only when it is stored.
    static let held = 64 << 10

    /// A writer without bytes.
    public init() {}

    /// Adds bytes.
    ///
    /// - Throws: ``ContentError/tooLong``, after which nothing may be added, or ``ContentError/outOfMemory``.
    public mutating func append(_ more: [UInt8]) throws(ContentError) {
        guard more.count <= PackedContent.maximumLength - length else { throw .tooLong }
        length += more.count
        guard length > Self.held else {
            octets += more
            return
        }
        if stream == nil {
            stream = try Stream({ vitalgate_deflate_begin(&$0) }, end: { deflateEnd(&$0) })
            let first = octets
            octets = []
            add(first)
        }
        add(more)
    }

    /// Returns the content. Nothing may be added afterwards.
    public mutating func end() throws(ContentError) -> PackedContent {
        guard stream != nil else { return PackedContent(plain: octets) }
        deflate(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH)
        return PackedContent(digest: digest.end(), length: length, packed: octets[...])
    }

    private mutating func add(_ more: [UInt8]) {
        more.withUnsafeBytes {
            digest.add($0)
            deflate($0, Z_NO_FLUSH)
        }
    }

    private mutating func deflate(_ more: UnsafeRawBufferPointer, _ flush: Int32) {
        guard let stream else { return }
        // zlib only reads from it.
        stream.state.next_in = UnsafeMutablePointer(mutating: more.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.state.avail_in = UInt32(more.count)
        var isFull = true
        while isFull {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 << 10) { room in
                stream.state.next_out = room.baseAddress
                stream.state.avail_out = UInt32(room.count)
                _ = CDeflate.deflate(&stream.state, flush)
                octets.append(contentsOf: room[..<(room.count - Int(stream.state.avail_out))])
                isFull = stream.state.avail_out == 0
            }
        }
    }
}

/// Decompresses bytes on demand.
public struct ContentReader {
    private let stream: Stream
    private let content: PackedContent
    private let packed: ArraySlice<UInt8>
    private var digest = Digest.Stream()
    private var position: Int
    private var length = 0
    private var isEnded = false

    /// - Throws: ``ContentError/outOfMemory``.
    public init(_ content: PackedContent) throws(ContentError) {
        self.content = content
        packed = content.packedOctets
        position = packed.startIndex
        stream = try Stream({ vitalgate_inflate_begin(&$0) }, end: { inflateEnd(&$0) })
    }

    /// The next bytes, at most 64 KiB, or `nil` at the end.
    ///
    /// - Throws: ``ContentError/damaged``, at the latest at the end.
    public mutating func next() throws(ContentError) -> [UInt8]? {
        guard !isEnded else { return nil }
        var stretch = [UInt8](repeating: 0, count: 64 << 10)
        var status = Z_OK
        let count = stretch.withUnsafeMutableBufferPointer { room in
            packed.withUnsafeBufferPointer { octets in
                let offset = position - packed.startIndex
                stream.state.next_in = octets.baseAddress.map { UnsafeMutablePointer(mutating: $0 + offset) }
                stream.state.avail_in = UInt32(octets.count - offset)
                stream.state.next_out = room.baseAddress
                stream.state.avail_out = UInt32(room.count)
                status = inflate(&stream.state, Z_NO_FLUSH)
                position = packed.endIndex - Int(stream.state.avail_in)
                return room.count - Int(stream.state.avail_out)
            }
        }
        length += count
        guard status == Z_OK || status == Z_STREAM_END, length <= content.length, count > 0 || status == Z_STREAM_END else {
            throw .damaged
        }
        stretch.removeSubrange(count...)
        stretch.withUnsafeBytes { digest.add($0) }
        if status == Z_STREAM_END {
            isEnded = true
            guard length == content.length, digest.end() == content.digest else { throw .damaged }
        }
        return stretch.isEmpty ? nil : stretch
    }
}

extension [UInt8] {
    /// Appends a number with seven bits per byte, the lowest first. The highest bit is set if another byte follows.
    mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

/// Reads numbers with seven bits per byte.
struct VarintReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ octets: ArraySlice<UInt8>) { rest = octets }

    /// The next number, or `nil` if it is truncated or larger than 64 bits.
    mutating func next() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let octet = rest.popFirst() else { return nil }
            number |= UInt64(octet & 0x7F) << UInt64(shift)
            if octet < 0x80 { return shift == 63 && octet > 1 ? nil : number }
        }
        return nil
    }
}
