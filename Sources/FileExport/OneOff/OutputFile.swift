import CArchiveWriter
import Glibc

/// A file that has another name until it is complete and on the disk. It is compressed if its name requires it.
final class OutputFile {
    /// The compression or archive of the text.
    enum Packing {
        case none
        /// One stream, as `zstd` makes it.
        case zstandard
        /// A ZIP archive with the text as a member of this path.
        case zip(member: String)
    }

    private let path: String
    private let partial: String
    private var descriptor: Int32
    private var archive: OpaquePointer?
    private var waiting: [UInt8] = []
    private let time: Int64

    /// - Parameter time: seconds since 1970 of a member of an archive.
    init(path: String, packing: Packing, time: Int64) throws(ExportFileError) {
        (self.path, self.time) = (path, time)
        partial = "\(path).part-\(getpid())"
        guard access(path, F_OK) != 0 else {
            throw ExportFileError("\(path) already exists and is not overwritten: use another name")
        }
        descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw ExportFileError(path, errno) }
        switch packing {
        case .none: break
        case .zstandard:
            try openArchive(member: "data", time) { archive_write_set_format_raw($0) | archive_write_add_filter_zstd($0) }
        case .zip(let member): try openArchive(member: member, time) { archive_write_set_format_zip($0) }
        }
        waiting.reserveCapacity(Self.portion * 2)
    }

    private static let portion = 1 << 18

    private func openArchive(member: String, _ time: Int64, _ choose: (OpaquePointer) -> Int32) throws(ExportFileError) {
        guard let archive = archive_write_new() else { throw ExportFileError(path, ENOMEM) }
        self.archive = archive
        guard choose(archive) == ARCHIVE_OK, archive_write_open_fd(archive, descriptor) == ARCHIVE_OK else {
            throw archiveError()
        }
        try openMember(member, in: archive, time)
    }

    /// Goes on with another member of the archive.
    func begin(member: String) throws(ExportFileError) {
        guard let archive else { throw ExportFileError("\(path): it is not an archive") }
        try flush()
        guard archive_write_finish_entry(archive) == ARCHIVE_OK else { throw archiveError() }
        try openMember(member, in: archive, time)
    }

    private func openMember(_ member: String, in archive: OpaquePointer, _ time: Int64) throws(ExportFileError) {
        guard let entry = archive_entry_new() else { throw archiveError() }
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, member)
        archive_entry_set_filetype(entry, 0o100000)
        archive_entry_set_perm(entry, 0o600)
        archive_entry_set_mtime(entry, time_t(time), 0)
        guard archive_write_header(archive, entry) == ARCHIVE_OK else { throw archiveError() }
    }

    deinit {
        if let archive { archive_write_free(archive) }
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(partial)
    }

    func write(_ body: (inout [UInt8]) -> Void) throws(ExportFileError) {
        body(&waiting)
        if waiting.count >= Self.portion { try flush() }
    }

    /// Writes the text so far if it is large. Called within ``write(_:)``.
    func spill(_ bytes: inout [UInt8]) throws(ExportFileError) {
        if bytes.count >= Self.portion { try flush(&bytes) }
    }

    private func flush() throws(ExportFileError) { try flush(&waiting) }

    private func flush(_ bytes: inout [UInt8]) throws(ExportFileError) {
        defer { bytes.removeAll(keepingCapacity: true) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { bytes in
                if let archive {
                    archive_write_data(archive, bytes.baseAddress, bytes.count)
                } else {
                    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                }
            }
            if count < 0, archive == nil, errno == EINTR { continue }
            guard count > 0 else { throw archive == nil ? ExportFileError(path, errno) : archiveError() }
            written += count
        }
    }

    /// Completes the file, which gets its name once it is on the disk.
    func finish() throws(ExportFileError) {
        try flush()
        if let archive {
            guard archive_write_close(archive) == ARCHIVE_OK else { throw archiveError() }
        }
        guard fsync(descriptor) == 0, link(partial, path) == 0 else { throw ExportFileError(path, errno) }
        unlink(partial)
        close(descriptor)
        descriptor = -1
    }

    private func archiveError() -> ExportFileError {
        let words = archive.flatMap { archive_error_string($0) }.map { String(cString: $0) } ?? "it cannot be compressed"
        return ExportFileError("\(path): \(words)")
    }
}

/// The reason why a file could not be written.
package struct ExportFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path, and the system's words.
    package let description: String
    init(_ description: String) { self.description = description }
    init(_ path: String, _ code: Int32) { description = "\(path): \(String(cString: strerror(code)))" }
}
