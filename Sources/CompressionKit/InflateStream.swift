import CZlib

/// Decompresses bytes in pieces, with zlib.
///
/// Use ``BufferDecompressor`` if all bytes are in memory and their number is known, which takes less than half the time.
package final class InflateStream {
    /// The state of a stream after a step.
    package enum State: Sendable {
        /// It needs more input or more room.
        case open
        case ended
        /// Its bytes are not a valid stream.
        case damaged
    }

    package struct Step: Sendable {
        /// The number of input bytes that were used.
        package let read: Int
        /// The number of output bytes that were written.
        package let written: Int
        /// The state afterwards.
        package let state: State
    }

    private var stream = z_stream()

    /// Begins a stream. Returns `nil` if there is not enough memory.
    package init?(_ format: CompressionFormat) {
        guard vitalgate_inflate_begin(&stream, format.window) == Z_OK else { return nil }
    }

    deinit { inflateEnd(&stream) }

    /// Decompresses until the input is used up or the room is full. Pass the unused input again in the next step.
    package func decompress(_ input: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer) -> Step {
        let (available, free) = (UInt32(clamping: input.count), UInt32(clamping: room.count))
        // zlib only reads from it.
        stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = available
        stream.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = free
        let state: State =
            switch inflate(&stream, Z_NO_FLUSH) {
            // Z_BUF_ERROR: there was nothing to read or no room.
            case Z_OK, Z_BUF_ERROR: .open
            case Z_STREAM_END: .ended
            default: .damaged
            }
        return Step(read: Int(available - stream.avail_in), written: Int(free - stream.avail_out), state: state)
    }
}
