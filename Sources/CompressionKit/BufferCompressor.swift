import CDeflate
import Synchronization

/// Compresses bytes that are completely in memory, with libdeflate. It takes half the time of zlib for the same format.
///
///     let body = BufferCompressor.compress(lines, .gzip)
package enum BufferCompressor {
    package static func compress(_ bytes: [UInt8], _ format: CompressionFormat, level: CompressionLevel = .standard) -> [UInt8] {
        let compressors = unused.withLock { $0.popLast() } ?? Compressors()
        defer { unused.withLock { $0.append(compressors) } }
        let compressor =
            switch level {
            case .fast: compressors.fast
            case .standard: compressors.standard
            }
        let maximum =
            switch format {
            case .zlib: libdeflate_zlib_compress_bound(compressor, bytes.count)
            case .gzip: libdeflate_gzip_compress_bound(compressor, bytes.count)
            case .raw: libdeflate_deflate_compress_bound(compressor, bytes.count)
            }
        return [UInt8](unsafeUninitializedCapacity: maximum) { room, count in
            count =
                switch format {
                case .zlib: libdeflate_zlib_compress(compressor, bytes, bytes.count, room.baseAddress, room.count)
                case .gzip: libdeflate_gzip_compress(compressor, bytes, bytes.count, room.baseAddress, room.count)
                case .raw: libdeflate_deflate_compress(compressor, bytes, bytes.count, room.baseAddress, room.count)
                }
        }
    }

    /// Compressors to reuse, because each takes up to a megabyte of memory.
    private static let unused = Mutex<[Compressors]>([])

    // Used by one caller at a time.
    private final class Compressors: @unchecked Sendable {
        lazy var fast = Self.make(.fast)
        lazy var standard = Self.make(.standard)

        private static func make(_ level: CompressionLevel) -> OpaquePointer {
            guard let compressor = libdeflate_alloc_compressor(level.number) else { preconditionFailure("out of memory") }
            return compressor
        }
    }
}
