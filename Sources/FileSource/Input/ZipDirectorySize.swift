import Glibc
import Pipeline

/// Checks the declared size of an archive's directory before a library reads it into memory (PKWARE's APPNOTE.TXT, sections 4.3.14 to
/// 4.3.16).
enum ZipDirectorySize {
    /// The size of the shortest entry in bytes.
    private static let entry: UInt64 = 46
    /// The number of bytes at the end that contain the end record. Its comment has at most 65,535.
    private static let tail = 65_535 + 22 + 20

    /// Rejects a directory that is larger than `limit` bytes, or too small for its members.
    ///
    /// Every possible end record is checked, because libraries differ in which one they choose.
    static func check(_ file: InputFile, limit: Int64) throws(SourceError) {
        let start = max(0, file.size - Int64(tail))
        let bytes = read(file, at: start, count: Int(file.size - start))
        for index in bytes.indices where bytes[index] == UInt8(ascii: "P") {
            if has([0x50, 0x4B, 5, 6], bytes, at: index), index + 22 <= bytes.count {
                try check(members: number(bytes, index + 10, 2), size: number(bytes, index + 12, 4), limit)
            }
            if has([0x50, 0x4B, 6, 7], bytes, at: index), index + 20 <= bytes.count,
                let place = Int64(exactly: number(bytes, index + 8, 8))
            {
                let record = read(file, at: place, count: 56)
                guard record.count == 56, has([0x50, 0x4B, 6, 6], record, at: 0) else { continue }
                try check(members: number(record, 32, 8), size: number(record, 40, 8), limit)
            }
        }
    }

    private static func check(members: UInt64, size: UInt64, _ limit: Int64) throws(SourceError) {
        // All bits set means that the ZIP64 record has the value.
        guard size != UInt64(UInt32.max) else { return }
        guard size <= UInt64(limit) else {
            throw SourceError(.malformed, "the ZIP archive's directory has more than \(limit >> 20) MiB, so it is not an export")
        }
        guard members == 0xFFFF || members <= size / entry else {
            throw SourceError(.malformed, "the ZIP archive is damaged: its directory is too short (nothing was imported)")
        }
    }

    private static func has(_ mark: [UInt8], _ bytes: [UInt8], at index: Int) -> Bool {
        index + mark.count <= bytes.count && bytes[index..<index + mark.count].elementsEqual(mark)
    }

    private static func number(_ bytes: [UInt8], _ index: Int, _ count: Int) -> UInt64 {
        bytes[index..<index + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns bytes of the file, fewer at its end.
    private static func read(_ file: InputFile, at place: Int64, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            guard let first = buffer.baseAddress, place <= file.size else { return }
            while length < count {
                let part = pread(file.descriptor, first + length, count - length, off_t(place) + off_t(length))
                guard part > 0 else { return }
                length += part
            }
        }
    }
}
