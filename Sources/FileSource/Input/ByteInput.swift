import Glibc
import Pipeline

/// A stream of bytes: an open file, or a member of an archive.
protocol ByteInput: AnyObject {
    /// Reads available bytes into `buffer` and returns their number. 0 means the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int
}

/// Counts the bytes read from a file, for progress.
package final class ReadMeter {
    /// The number of bytes of the file itself. For an archive, they are compressed.
    package internal(set) var bytes: Int64 = 0
    /// Creates a meter at 0.
    package init() {}
}

/// An open file that is read once, from front to back.
final class FileInput: ByteInput {
    private let file: InputFile
    private let meter: ReadMeter?
    private var offset: Int64 = 0

    init(_ file: InputFile, meter: ReadMeter? = nil) {
        self.file = file
        self.meter = meter
        meter?.bytes = 0
        // Asks the kernel to read further ahead. Errors can be ignored.
        _ = posix_fadvise(file.descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    convenience init(path: String) throws(SourceError) { self.init(try InputFile(path: path)) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        while true {
            let count = pread(file.descriptor, buffer.baseAddress, buffer.count, Int(offset))
            if count >= 0 {
                offset += Int64(count)
                meter?.bytes += Int64(count)
                return count
            }
            guard errno == EINTR else {
                throw SourceError(.inputOutput, Self.message("cannot read it", errno))
            }
        }
    }

    static func message(_ action: String, _ code: Int32) -> String {
        guard let text = strerror(code) else { return "\(action): error \(code)" }
        return "\(action): \(String(cString: text))"
    }
}

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

extension InputFile {
    /// Whether the first bytes of the file meet a condition. A file that cannot be read does not.
    func begins(_ length: Int, _ condition: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        let input = FileInput(self)
        return withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { buffer in
            guard let count = try? input.fill(buffer) else { return false }
            return condition(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}

extension ByteInput {
    /// Reads the whole input. If it is longer than the limit, the result is too, by less than 256 KiB.
    func bytes(limit: Int) throws(SourceError) -> [UInt8] {
        var bytes: [UInt8] = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while bytes.count <= limit {
            let count = try read(into: buffer)
            guard count > 0 else { break }
            bytes.append(contentsOf: buffer[..<count])
        }
        return bytes
    }

    /// Passes the whole input to `body` in pieces.
    func forEachPiece(of length: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try read(into: buffer)
            guard count > 0 else { return }
            try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Reads until the buffer is full or the input ends. Returns the number of bytes.
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
