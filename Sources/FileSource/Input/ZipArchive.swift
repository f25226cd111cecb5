import CZip
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

/// A ZIP file, read member by member without unpacking anything to disk (libzip, and libdeflate for members that fit into memory).
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
    private let count: UInt64
    private let fileSize: Int64
    private let isChecked: Bool
    private let limits: Limits
    private let meter: ReadMeter?
    private let unpacked: UnpackedCount
    private let whole = WholeMember()

    private var next: UInt64 = 0
    private var current: Current?
    /// Packed octets of the members before the current one.
    private var passed: Int64 = 0
    private(set) var memberCount = 0

    /// The member that is read.
    private struct Current {
        var index: UInt64
        var size: UInt64
        var packedSize: UInt64
        var checksum: UInt32
        var isDeflated: Bool
        var state = State.untouched
        /// Octets of it that were unpacked.
        var unpacked: UInt64 = 0

        enum State {
            case untouched
            case whole(position: Int)
            case stream(OpaquePointer)
        }
    }

    /// - Parameters:
    ///   - isChecked: it was read through once, and found whole.
    ///   - unpacked: shared by those who unpack one file together, whose limits it is then.
    init(
        _ file: InputFile, limits: Limits = Limits(), meter: ReadMeter? = nil, isChecked: Bool = false,
        unpacked: UnpackedCount = UnpackedCount()
    ) throws(SourceError) {
        self.meter = meter
        self.isChecked = isChecked
        self.limits = limits
        self.unpacked = unpacked
        fileSize = file.size
        // A position of its own: others read the file at the same time.
        let descriptor = try file.descriptorOfItsOwn()
        var code: Int32 = 0
        guard let archive = zip_fdopen(descriptor, ZIP_RDONLY, &code) else {
            close(descriptor)
            throw SourceError(.malformed, "cannot be read as a ZIP archive: \(Self.message(code))")
        }
        self.archive = archive
        count = UInt64(max(zip_get_num_entries(archive, 0), 0))
    }

    deinit {
        leave()
        zip_discard(archive)
    }

    /// Goes to the next regular file in the archive; `nil` at the end.
    func nextMember() throws(SourceError) -> Member? {
        leave()
        while next < count {
            let index = next
            next += 1
            memberCount += 1
            guard memberCount <= limits.members else {
                throw SourceError(.malformed, "the ZIP archive holds more than \(limits.members) members")
            }
            var about = zip_stat_t()
            guard zip_stat_index(archive, index, UInt32(ZIP_FL_ENC_RAW), &about) == 0, let name = about.name else {
                throw damage()
            }
            let bytes = UnsafeRawBufferPointer(start: name, count: min(strlen(name), Self.maximumName))
            guard bytes.last != UInt8(ascii: "/"), isRegular(index) else { continue }
            current = Current(
                index: index, size: about.size, packedSize: about.comp_size, checksum: about.crc,
                isDeflated: about.comp_method == UInt16(ZIP_CM_DEFLATE) && about.encryption_method == UInt16(ZIP_EM_NONE))
            let isReadable = String(validating: bytes, as: UTF8.self) != nil
            return Member(name: Array(bytes), suffix: isReadable ? Self.suffix(bytes) : "", isNameReadable: isReadable)
        }
        return nil
    }

    /// Directories and links are of no use here: 0o170000 is S_IFMT, 0o100000 a regular file.
    private func isRegular(_ index: UInt64) -> Bool {
        var system: UInt8 = 0
        var attributes: UInt32 = 0
        guard zip_file_get_external_attributes(archive, index, 0, &system, &attributes) == 0, system == UInt8(ZIP_OPSYS_UNIX)
        else { return true }
        let kind = (attributes >> 16) & 0o170000
        return kind == 0o100000 || kind == 0
    }

    /// Unpacks some of the current member.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        switch try opened() {
        case .whole(let position):
            let count = whole.copy(from: position, into: buffer)
            current?.state = .whole(position: position + count)
            return count
        case .stream(let stream):
            let count = zip_fread(stream, buffer.baseAddress, UInt64(buffer.count))
            guard count >= 0 else { throw damage(of: stream) }
            try add(Int64(count))
            return Int(count)
        case .untouched: return 0
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
        if case .whole = try opened() { return }
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

    /// Begins with the current member, where that is still to be done.
    private func opened() throws(SourceError) -> Current.State {
        guard let member = current else { return .untouched }
        guard case .untouched = member.state else { return member.state }
        let isWhole =
            member.isDeflated && member.size <= WholeMember.maximumSize && member.packedSize <= WholeMember.maximumSize
        guard let stream = zip_fopen_index(archive, member.index, isWhole ? UInt32(ZIP_FL_COMPRESSED) : 0) else { throw damage() }
        current?.state = .stream(stream)
        guard isWhole else { return .stream(stream) }
        defer { zip_fclose(stream) }
        current?.state = .whole(position: 0)
        try add(Int64(member.size))
        guard whole.read(stream, packedSize: Int(member.packedSize)) else { throw damage(of: stream) }
        guard whole.unpack(size: Int(member.size), checksum: member.checksum) else { throw damage("its checksum is another one") }
        return .whole(position: 0)
    }

    /// Ends what is read of the current member.
    private func leave() {
        guard let member = current else { return }
        if case .stream(let stream) = member.state { zip_fclose(stream) }
        passed += Int64(clamping: member.packedSize)
        current = nil
    }

    /// Counts what was unpacked.
    private func add(_ count: Int64) throws(SourceError) {
        let unpacked = unpacked.add(count)
        if let meter, let member = current {
            current?.unpacked += UInt64(count)
            let part = Double(member.unpacked + UInt64(count)) / Double(max(member.size, 1))
            meter.bytes = passed + Int64(min(part, 1) * Double(member.packedSize))
        }
        guard unpacked <= limits.total else {
            throw SourceError(.malformed, "the ZIP archive unpacks to more than \(limits.total >> 30) GiB")
        }
        guard unpacked <= limits.free || unpacked / limits.ratio <= fileSize else {
            throw SourceError(
                .malformed, "the ZIP archive unpacks to more than \(limits.ratio) times its size, which no export does")
        }
    }

    private func damage(of stream: OpaquePointer) -> SourceError { damage(String(cString: zip_file_strerror(stream))) }

    private func damage() -> SourceError { damage(String(cString: zip_strerror(archive))) }

    private func damage(_ reason: String) -> SourceError {
        SourceError(
            .malformed,
            isChecked
                ? "the ZIP archive was changed while it was read: \(reason)"
                : "the ZIP archive is damaged: \(reason); nothing of it was taken")
    }

    private static func suffix(_ name: UnsafeRawBufferPointer) -> String {
        guard let point = name.suffix(16).lastIndex(where: { $0 == 0x2E || $0 == 0x2F }), name[point] == 0x2E else { return "" }
        let bytes = name[(point + 1)...]
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func message(_ code: Int32) -> String {
        var error = zip_error_t()
        zip_error_init_with_code(&error, code)
        defer { zip_error_fini(&error) }
        return String(cString: zip_error_strerror(&error))
    }
}

/// A member that was unpacked in one go. Its room is used again for the next.
private final class WholeMember {
    /// Octets packed, and octets unpacked. A route of an hour has less.
    static let maximumSize = 1 << 20

    private var packed = Room()
    private var octets = Room()
    private var size = 0
    private let decompressor = libdeflate_alloc_decompressor()

    /// Grows, and is never filled for nothing.
    private struct Room {
        var octets = UnsafeMutableRawBufferPointer(start: nil, count: 0)

        mutating func grow(to count: Int) {
            guard octets.count < count else { return }
            octets.deallocate()
            octets = .allocate(byteCount: count, alignment: 16)
        }
    }

    deinit {
        libdeflate_free_decompressor(decompressor)
        packed.octets.deallocate()
        octets.octets.deallocate()
    }

    /// Reads the packed octets.
    ///
    /// - Returns: whether there were as many as the archive says.
    func read(_ stream: OpaquePointer, packedSize: Int) -> Bool {
        packed.grow(to: packedSize)
        var count = 0
        while count < packedSize {
            let part = zip_fread(stream, packed.octets.baseAddress! + count, UInt64(packedSize - count))
            guard part > 0 else { return false }
            count += Int(part)
        }
        packedCount = count
        return true
    }

    private var packedCount = 0

    /// - Returns: whether it is what the archive says.
    func unpack(size: Int, checksum: UInt32) -> Bool {
        octets.grow(to: max(size, 1))
        self.size = 0
        guard let decompressor,
            libdeflate_deflate_decompress(
                decompressor, packed.octets.baseAddress, packedCount, octets.octets.baseAddress, size, nil) == LIBDEFLATE_SUCCESS,
            libdeflate_crc32(0, octets.octets.baseAddress, size) == checksum
        else { return false }
        self.size = size
        return true
    }

    func copy(from position: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, size - position)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: octets.octets[position..<(position + count)]))
        return count
    }
}
