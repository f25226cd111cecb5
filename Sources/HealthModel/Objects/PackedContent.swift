import CompressionKit

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
        /// Not yet compressed. The store compresses it, possibly on another thread. At most ``ContentWriter/bufferSize`` bytes.
        case plain([UInt8])
    }

    fileprivate init(digest: [UInt8], length: Int, packed: ArraySlice<UInt8>) {
        (self.digest, self.length, form) = (digest, length, .packed(packed))
    }

    fileprivate init(plain bytes: [UInt8]) {
        (digest, length, form) = (Digest.sha256(bytes), bytes.count, .plain(bytes))
    }

    /// Compresses bytes in memory. Short content is compressed when it is stored.
    public init(_ bytes: some Collection<UInt8>) throws(ContentError) {
        guard bytes.count > ContentWriter.bufferSize else {
            self.init(plain: Array(bytes))
            return
        }
        var writer = ContentWriter()
        // In pieces, because a second copy of large content would need too much memory.
        var rest = bytes[...]
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

    func append(to bytes: inout [UInt8]) {
        let (head, packed) = (head, packedBytes)
        bytes.reserveCapacity(bytes.count + head.count + packed.count)
        bytes += head
        bytes += packed
    }

    /// The digest and length in their stored form, which identify the content.
    var head: [UInt8] {
        var bytes = digest
        bytes.append(varint: UInt64(length))
        return bytes
    }

    /// The size in memory, in bytes.
    var size: Int {
        switch form {
        case .packed(let bytes): bytes.count
        case .plain(let bytes): bytes.count
        }
    }

    /// The compressed size, in bytes.
    public var packedLength: Int { packedBytes.count }

    /// Passes the bytes to `body`, at most 64 KiB at a time.
    ///
    /// - Throws: ``ContentError/damaged`` after the last bytes if length or digest do not match, and any error from `body`.
    public func forEachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var reader = try ContentReader(self)
        while let chunk = try reader.next() { try chunk.withUnsafeBytes(body) }
    }

    /// All bytes.
    ///
    /// - Throws: ``ContentError/damaged``.
    public func bytes() throws(ContentError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(length)
        var reader = try ContentReader(self)
        while let chunk = try reader.next() { bytes += chunk }
        return bytes
    }

    fileprivate var packedBytes: ArraySlice<UInt8> {
        switch form {
        case .packed(let bytes): bytes
        // A higher level hardly helps if the content is short.
        case .plain(let bytes):
            BufferCompressor.compress(bytes, .zlib, level: bytes.count <= Self.short ? .fast : .standard)[...]
        }
    }

    private static let short = 4096
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

/// Compresses bytes incrementally. Only compressed bytes are in memory, except for the first ``bufferSize``.
public struct ContentWriter {
    /// Created once there are more than ``bufferSize`` bytes.
    private var stream: DeflateStream?
    private var digest = Digest.Stream()
    /// The compressed bytes if there is a stream, otherwise the original ones.
    private var bytes: [UInt8] = []
    /// The number of bytes so far.
    public private(set) var length = 0

    /// The length up to which content is compressed only when it is stored.
    static let bufferSize = 64 << 10

    /// A writer without bytes.
    public init() {}

    /// Adds bytes.
    ///
    /// - Throws: ``ContentError/tooLong``, after which nothing may be added, or ``ContentError/outOfMemory``.
    public mutating func append(_ more: [UInt8]) throws(ContentError) {
        guard more.count <= PackedContent.maximumLength - length else { throw .tooLong }
        length += more.count
        guard length > Self.bufferSize else {
            bytes += more
            return
        }
        if stream == nil {
            guard let begun = DeflateStream(.zlib) else { throw .outOfMemory }
            stream = begun
            let first = bytes
            bytes = []
            add(first)
        }
        add(more)
    }

    /// Returns the content. Nothing may be added afterwards.
    public mutating func end() throws(ContentError) -> PackedContent {
        guard let stream else { return PackedContent(plain: bytes) }
        stream.finish(to: &bytes)
        return PackedContent(digest: digest.end(), length: length, packed: bytes[...])
    }

    private mutating func add(_ more: [UInt8]) {
        more.withUnsafeBytes {
            digest.add($0)
            stream?.compress($0, to: &bytes)
        }
    }
}

/// Decompresses bytes on demand.
public struct ContentReader {
    private let stream: InflateStream
    private let content: PackedContent
    private let packed: ArraySlice<UInt8>
    private var digest = Digest.Stream()
    private var position: Int
    private var length = 0
    private var isEnded = false

    /// - Throws: ``ContentError/outOfMemory``.
    public init(_ content: PackedContent) throws(ContentError) {
        self.content = content
        packed = content.packedBytes
        position = packed.startIndex
        guard let begun = InflateStream(.zlib) else { throw .outOfMemory }
        stream = begun
    }

    /// The next bytes, at most 64 KiB, or `nil` at the end.
    ///
    /// - Throws: ``ContentError/damaged``, at the latest at the end.
    public mutating func next() throws(ContentError) -> [UInt8]? {
        guard !isEnded else { return nil }
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let step = chunk.withUnsafeMutableBytes { room in
            packed.withUnsafeBytes { bytes in
                stream.decompress(UnsafeRawBufferPointer(rebasing: bytes[(position - packed.startIndex)...]), into: room)
            }
        }
        position += step.read
        length += step.written
        guard step.state != .damaged, length <= content.length, step.written > 0 || step.state == .ended else { throw .damaged }
        chunk.removeSubrange(step.written...)
        chunk.withUnsafeBytes { digest.add($0) }
        if step.state == .ended {
            isEnded = true
            guard length == content.length, digest.end() == content.digest else { throw .damaged }
        }
        return chunk.isEmpty ? nil : chunk
    }
}
