import CZip
import Glibc
import Pipeline
import Synchronization

/// The reason why a member of a ZIP file cannot be read.
struct ZipFault: Error {
    var reason: String

    static let checksum = ZipFault(reason: "a member does not match its checksum")
    static let size = ZipFault(reason: "a member does not have the length that the archive lists")
}

/// The members of a ZIP file, shared by several threads. It is in memory only once, with a few hundred bytes for each member.
final class ZipDirectory: @unchecked Sendable {
    struct Entry {
        /// The bytes in the archive.
        var name: UnsafeRawBufferPointer
        var size: UInt64
        var packedSize: UInt64
        var checksum: UInt32
        var method: UInt16
        var isEncrypted: Bool
    }

    // libzip's archive and its streams may be used by one thread at a time.
    private let archive: OpaquePointer
    private let lock = Mutex<Void>(())
    /// The number of members, including directories and links.
    let count: Int
    /// The size of the file in bytes.
    let fileSize: Int64

    /// - Parameter limit: the maximum size of the directory in bytes. With short names it takes seven times as much memory.
    /// - Throws: ``SourceError`` if the file is not a ZIP archive, or its directory is larger.
    init(_ file: InputFile, limit: Int64) throws(SourceError) {
        try ZipDirectorySize.check(file, limit: limit)
        fileSize = file.size
        // A separate position, because others read the file at the same time.
        let descriptor = try file.duplicateDescriptor()
        var code: Int32 = 0
        guard let archive = zip_fdopen(descriptor, ZIP_RDONLY, &code) else {
            close(descriptor)
            throw SourceError(.malformed, "cannot be read as a ZIP archive: \(Self.message(code))")
        }
        self.archive = archive
        count = Int(max(zip_get_num_entries(archive, 0), 0))
    }

    deinit { zip_discard(archive) }

    /// Returns the entry of a member, or `nil` for directories and links.
    func entry(_ index: Int) throws(ZipFault) -> Entry? {
        let (found, isFile) = lock.withLock { _ -> (zip_stat_t?, Bool) in
            var about = zip_stat_t()
            guard zip_stat_index(archive, UInt64(index), UInt32(ZIP_FL_ENC_RAW), &about) == 0 else { return (nil, false) }
            return (about, self.isRegular(index))
        }
        // The name lives as long as the archive.
        guard let about = found, let name = about.name else { throw ZipFault(reason: "its directory cannot be read") }
        let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
        guard isFile, bytes.last != UInt8(ascii: "/") else { return nil }
        return Entry(
            name: bytes, size: about.size, packedSize: about.comp_size, checksum: about.crc, method: about.comp_method,
            isEncrypted: about.encryption_method != UInt16(ZIP_EM_NONE))
    }

    /// Whether a member is a regular file. 0o170000 is S_IFMT, and 0o100000 marks a regular file.
    private func isRegular(_ index: Int) -> Bool {
        var system: UInt8 = 0
        var attributes: UInt32 = 0
        guard zip_file_get_external_attributes(archive, UInt64(index), 0, &system, &attributes) == 0,
            system == UInt8(ZIP_OPSYS_UNIX)
        else { return true }
        let kind = (attributes >> 16) & 0o170000
        return kind == 0o100000 || kind == 0
    }

    /// The compressed bytes of a member.
    final class Packed {
        private let directory: ZipDirectory
        private let stream: OpaquePointer

        init(_ directory: ZipDirectory, _ index: Int) throws(ZipFault) {
            self.directory = directory
            let opened = directory.lock.withLock { _ -> Result<OpaquePointer, ZipFault> in
                guard let stream = zip_fopen_index(directory.archive, UInt64(index), UInt32(ZIP_FL_COMPRESSED)) else {
                    return .failure(ZipFault(reason: String(cString: zip_strerror(directory.archive))))
                }
                return .success(stream)
            }
            stream = try opened.get()
        }

        deinit { directory.lock.withLock { _ in _ = zip_fclose(stream) } }

        /// - Returns: the number of bytes read, or 0 at the end.
        func read(into buffer: UnsafeMutableRawBufferPointer) throws(ZipFault) -> Int {
            guard let room = buffer.baseAddress else { return 0 }
            let read = directory.lock.withLock { _ -> Result<Int, ZipFault> in
                let count = zip_fread(stream, room, UInt64(buffer.count))
                return count >= 0 ? .success(Int(count)) : .failure(ZipFault(reason: String(cString: zip_file_strerror(stream))))
            }
            return try read.get()
        }
    }

    private static func message(_ code: Int32) -> String {
        var error = zip_error_t()
        zip_error_init_with_code(&error, code)
        defer { zip_error_fini(&error) }
        return String(cString: zip_error_strerror(&error))
    }
}
