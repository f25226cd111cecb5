import Glibc
import Pipeline

/// Bytes from outside, in order: an open file, or a member of an archive.
protocol ByteInput: AnyObject {
    /// Fills as much of `buffer` as is at hand and returns how much that is; 0 at the end, never before.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int
}

/// Counts what is read of a file, for progress.
public final class ReadMeter {
    /// Octets of the file itself; of an archive as it is packed.
    public internal(set) var bytes: Int64 = 0
    public init() {}
}

/// An open file, read once from front to back.
final class FileInput: ByteInput {
    private let descriptor: Int32
    private let meter: ReadMeter?

    init(path: String, meter: ReadMeter? = nil) throws(SourceError) {
        self.meter = meter
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SourceError(.noInput, Self.message("cannot open it", errno)) }
        // The kernel reads ahead further; that it may decline costs nothing.
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    deinit { close(descriptor) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 {
                meter?.bytes += Int64(count)
                return count
            }
            guard errno == EINTR else {
                // A directory opens, but does not read.
                throw SourceError(errno == EISDIR ? .noInput : .inputOutput, Self.message("cannot read it", errno))
            }
        }
    }

    static func message(_ what: String, _ code: Int32) -> String {
        guard let text = strerror(code) else { return "\(what): error \(code)" }
        return "\(what): \(String(cString: text))"
    }
}

/// Bytes at hand already.
final class MemoryInput: ByteInput {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        let count = min(buffer.count, bytes.count - offset)
        buffer.copyBytes(from: bytes[offset..<offset + count])
        offset += count
        return count
    }
}

extension ByteInput {
    /// Reads until the buffer is full or the input ends.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
