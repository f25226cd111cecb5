import CZlib

/// Compresses bytes in pieces, with zlib.
///
///     guard let stream = DeflateStream(.gzip) else { … }   // out of memory
///     piece.withUnsafeBytes { stream.compress($0, to: &output) }
///     stream.finish(to: &output)
///
/// Use ``BufferCompressor`` if all bytes are in memory, which takes half the time.
package final class DeflateStream {
    private var stream = z_stream()

    /// Begins a stream. Returns `nil` if there is not enough memory.
    package init?(_ format: CompressionFormat, level: CompressionLevel = .standard) {
        guard vitalgate_deflate_begin(&stream, level.number, format.window) == Z_OK else { return nil }
    }

    deinit { deflateEnd(&stream) }

    /// Compresses bytes, and appends the compressed bytes that are complete so far.
    ///
    /// - Parameters:
    ///   - bytes: at most 4 GiB.
    ///   - flushing: whether a reader must be able to decompress all bytes so far.
    package func compress(_ bytes: UnsafeRawBufferPointer, flushing: Bool = false, to output: inout [UInt8]) {
        run(bytes, flushing ? Z_SYNC_FLUSH : Z_NO_FLUSH, &output)
    }

    /// Appends the remaining compressed bytes and the end of the stream. Nothing may be compressed afterwards.
    package func finish(to output: inout [UInt8]) { run(UnsafeRawBufferPointer(start: nil, count: 0), Z_FINISH, &output) }

    private func run(_ bytes: UnsafeRawBufferPointer, _ flush: Int32, _ output: inout [UInt8]) {
        // zlib only reads from it.
        stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(bytes.count)
        var isFull = true
        while isFull {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16 << 10) { room in
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                _ = deflate(&stream, flush)
                output.append(contentsOf: room[..<(room.count - Int(stream.avail_out))])
                isFull = stream.avail_out == 0
            }
        }
    }
}
