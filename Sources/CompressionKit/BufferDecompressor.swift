import CDeflate

/// Decompresses bytes that are completely in memory and whose uncompressed number is known, with libdeflate. One thread at a time may use
/// it.
package final class BufferDecompressor {
    package enum Outcome: Sendable {
        /// The room is filled.
        case done
        /// There are fewer or more bytes than the room.
        case wrongSize
        /// The bytes are not a valid stream.
        case damaged
    }

    private let decompressor: OpaquePointer

    /// Returns `nil` if there is not enough memory.
    package init?() {
        guard let decompressor = libdeflate_alloc_decompressor() else { return nil }
        self.decompressor = decompressor
    }

    deinit { libdeflate_free_decompressor(decompressor) }

    /// Decompresses a raw DEFLATE stream (RFC 1951) that fills the room exactly.
    package func decompress(raw bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Outcome {
        switch libdeflate_deflate_decompress(decompressor, bytes.baseAddress, bytes.count, room.baseAddress, room.count, nil) {
        case LIBDEFLATE_SUCCESS: .done
        case LIBDEFLATE_SHORT_OUTPUT, LIBDEFLATE_INSUFFICIENT_SPACE: .wrongSize
        default: .damaged
        }
    }
}
