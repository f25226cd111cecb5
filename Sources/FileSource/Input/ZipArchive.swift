import CArchive
import Glibc
import Pipeline
import Synchronization

/// How much was unpacked of a file.
final class UnpackedCount: Sendable {
    private let octets = Atomic<Int64>(0)

    /// - Returns: all of it, by now; of what was cancelled more than any limit.
    func add(_ count: Int64) -> Int64 { octets.wrappingAdd(count, ordering: .relaxed).newValue }

    /// Has everybody who unpacks fail.
    func cancel() { octets.store(.max / 2, ordering: .relaxed) }
}

/// A ZIP file, read member by member without unpacking anything to disk (libarchive).
///
/// A member's name is looked at and never used as a path, so `../` in it does nothing.
final class ZipArchive: ByteInput {
    /// What a member's name tells.
    struct Member: Sendable {
        /// As it stands in the archive, at most ``maximumName`` bytes.
        var name: [UInt8]
        /// In ASCII lower case, from the last point on, at most 16 bytes; empty where there is none or the name is not UTF-8.
        var suffix: String
        var isNameReadable: Bool
    }

    /// How far unpacking goes; real exports are packed 20:1 and hold a few gigabytes.
    struct Limits {
        /// Bytes unpacked before the ratio counts.
        var free: Int64 = 100_000_000
        /// Bytes unpacked for each byte of the file, after that.
        var ratio: Int64 = 1000
        /// Bytes unpacked, whatever the file's size.
        var total: Int64 = 64 << 30
        /// Members looked at.
        var members = 1_000_000
    }

    /// Longest name that is looked at; an export's have less than a hundred bytes.
    static let maximumName = 1024

    private let archive: OpaquePointer
    /// Its descriptor is the archive's.
    private let file: InputFile
    private let isChecked: Bool
    private let limits: Limits
    private let meter: ReadMeter?
    private let unpacked: UnpackedCount
    private(set) var memberCount = 0

    /// - Parameters:
    ///   - isChecked: it was read through once, and found whole.
    ///   - unpacked: shared by those who unpack one file together, whose limits it is then.
    init(
        _ file: InputFile, limits: Limits = Limits(), meter: ReadMeter? = nil, isChecked: Bool = false,
        unpacked: UnpackedCount = UnpackedCount()
    ) throws(SourceError) {
        (self.file, self.unpacked) = (file, unpacked)
        self.meter = meter
        self.isChecked = isChecked
        guard let archive = archive_read_new() else { throw SourceError(.inputOutput, "out of memory") }
        self.archive = archive
        self.limits = limits
        // Only ZIP: every further format is code that strangers' bytes could reach.
        archive_read_support_format_zip(archive)
        guard lseek(file.descriptor, 0, SEEK_SET) == 0, archive_read_open_fd(archive, file.descriptor, 128 << 10) == ARCHIVE_OK
        else {
            throw SourceError(.malformed, "cannot be read as a ZIP archive: \(Self.message(archive))")
        }
    }

    deinit { archive_read_free(archive) }

    /// Goes to the next regular file in the archive; `nil` at the end.
    func nextMember() throws(SourceError) -> Member? {
        while true {
            var entry: OpaquePointer?
            let status = archive_read_next_header(archive, &entry)
            if status == ARCHIVE_EOF { return nil }
            if status == ARCHIVE_RETRY { continue }
            // A warning is about the name, which may not fit the locale; the data is whole.
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else {
                throw damage()
            }
            memberCount += 1
            guard memberCount <= limits.members else {
                throw SourceError(.malformed, "the ZIP archive holds more than \(limits.members) members")
            }
            // Directories and links are of no use here. 0o170000 is S_IFMT, 0o100000 a regular file.
            let kind = archive_entry_filetype(entry) & 0o170000
            guard kind == 0o100000 || kind == 0 else { continue }
            let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry)
            // What a name holds that fits no locale is compared as it is.
            let bytes = name ?? archive_entry_pathname(entry)
            let length = bytes.map { min(strlen($0), Self.maximumName) } ?? 0
            return Member(
                name: Array(UnsafeRawBufferPointer(start: bytes, count: length)), suffix: name.map(Self.suffix) ?? "",
                isNameReadable: name != nil)
        }
    }

    /// Unpacks some of the current member.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        while true {
            let count = archive_read_data(archive, buffer.baseAddress, buffer.count)
            if count == Int(ARCHIVE_RETRY) { continue }
            guard count >= 0 else { throw damage() }
            let unpacked = unpacked.add(Int64(count))
            meter?.bytes = archive_filter_bytes(archive, -1)
            guard unpacked <= limits.total else {
                throw SourceError(.malformed, "the ZIP archive unpacks to more than \(limits.total >> 30) GiB")
            }
            guard unpacked <= limits.free || unpacked / limits.ratio <= file.size else {
                throw SourceError(
                    .malformed, "the ZIP archive unpacks to more than \(limits.ratio) times its size, which no export does")
            }
            return count
        }
    }

    /// Unpacks the next octets of the current member; none at its end.
    func piece() throws(SourceError) -> [UInt8] {
        var failure: SourceError?
        let octets = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
            do throws(SourceError) {
                count = try read(into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return octets
    }

    private static let pieceLength = 64 << 10

    /// Unpacks the rest of the current member, by which its checksum is compared.
    func drain() throws(SourceError) {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        var failure: SourceError?
        var count = 0
        repeat {
            count = buffer.withUnsafeMutableBytes { buffer in
                do throws(SourceError) {
                    return try read(into: buffer)
                } catch {
                    failure = error
                    return 0
                }
            }
        } while count > 0
        if let failure { throw failure }
    }

    private func damage() -> SourceError {
        let reason = Self.message(archive)
        return SourceError(
            .malformed,
            isChecked
                ? "the ZIP archive was changed while it was read: \(reason)"
                : "the ZIP archive is damaged: \(reason); nothing of it was taken")
    }

    private static func suffix(_ name: UnsafePointer<CChar>) -> String {
        let length = strlen(name)
        var start = length
        while start > 0, length - start < 16, name[start - 1] != 0x2E, name[start - 1] != 0x2F { start -= 1 }
        guard start > 0, name[start - 1] == 0x2E else { return "" }
        let bytes = UnsafeRawBufferPointer(start: name + start, count: length - start)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func message(_ archive: OpaquePointer) -> String {
        archive_error_string(archive).map { String(cString: $0) } ?? "error \(archive_errno(archive))"
    }
}
