import Pipeline
import Synchronization

/// The number of bytes unpacked from a file.
final class UnpackedCount: Sendable {
    private let bytes = Atomic<Int64>(0)

    /// - Returns: the new total. After a cancellation it exceeds every limit.
    func add(_ count: Int64) -> Int64 { bytes.wrappingAdd(count, ordering: .relaxed).newValue }

    /// Makes all threads that unpack the file fail.
    func cancel() { bytes.store(.max / 2, ordering: .relaxed) }
}

/// A ZIP file that is read member by member, without unpacking anything to disk.
///
/// A member's name is never used as a path, so `../` in it has no effect.
final class ZipArchive: ByteInput {
    struct Member: Sendable {
        /// The bytes in the archive, at most ``maximumName``.
        var name: [UInt8]
        /// The part after the last dot in ASCII lower case, at most 16 bytes. It is empty if there is no dot or the name is not UTF-8.
        var suffix: String
        var isNameReadable: Bool
    }

    /// The limits of unpacking. Real exports are compressed 20:1 and contain a few gigabytes.
    struct Limits {
        /// The number of unpacked bytes before the ratio applies.
        var free: Int64 = 100_000_000
        /// The maximum number of unpacked bytes for each byte of the file, after that.
        var ratio: Int64 = 1000
        /// The maximum number of unpacked bytes, whatever the file's size.
        var total: Int64 = 64 << 30
        /// The maximum number of members.
        var members = 1_000_000
        /// The maximum size of the directory in bytes. An export with two routes a day for fifty years needs that much.
        var directory: Int64 = 10 << 20
    }

    /// The maximum length of a name in bytes. Those of an export have less than a hundred.
    static let maximumName = 1024

    private let directory: ZipDirectory
    private let isChecked: Bool
    private let limits: Limits
    private let meter: ReadMeter?
    private let unpacked: UnpackedCount

    private var next = 0
    private var current: Current?
    /// The compressed bytes of the members before the current one.
    private var passed: Int64 = 0
    /// The number of members so far, including directories and links.
    private(set) var memberCount = 0
    private let short = ShortMember()

    /// The member that is being read.
    private struct Current {
        var index: Int
        var entry: ZipDirectory.Entry
        var member: (any ZipMember)?
        /// The number of its unpacked bytes.
        var unpacked: UInt64 = 0
    }

    /// Creates a reader at the first member.
    ///
    /// - Parameters:
    ///   - directory: the directory, which several readers may share.
    ///   - isChecked: whether the archive was read before and is undamaged.
    ///   - unpacked: shared by the threads that unpack one file, so that the limits apply to all of them.
    init(
        _ directory: ZipDirectory, limits: Limits = Limits(), meter: ReadMeter? = nil, isChecked: Bool = false,
        unpacked: UnpackedCount = UnpackedCount()
    ) {
        (self.directory, self.limits, self.meter, self.isChecked, self.unpacked) = (directory, limits, meter, isChecked, unpacked)
    }

    /// Advances to the next regular file in the archive. Returns `nil` at the end.
    func nextMember() throws(SourceError) -> Member? {
        leave()
        while next < directory.count {
            let index = next
            next += 1
            memberCount += 1
            guard memberCount <= limits.members else {
                throw SourceError(.malformed, "the ZIP archive contains more than \(limits.members) members")
            }
            guard let entry = try refusing({ () throws(ZipFault) in try directory.entry(index) }) else { continue }
            current = Current(index: index, entry: entry)
            let name = UnsafeRawBufferPointer(rebasing: entry.name.prefix(Self.maximumName))
            let isReadable = String(validating: name, as: UTF8.self) != nil
            return Member(name: Array(name), suffix: isReadable ? Self.suffix(name) : "", isNameReadable: isReadable)
        }
        return nil
    }

    /// Unpacks a part of the current member.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        guard let member = try opened() else { return 0 }
        let count = try refusing { () throws(ZipFault) in try member.read(into: buffer) }
        if member is LongMember { try add(Int64(count)) }
        return count
    }

    /// Returns the next unpacked bytes of the current member, or none at its end.
    func piece() throws(SourceError) -> [UInt8] {
        var failure: SourceError?
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { buffer, count in
            do throws(SourceError) {
                count = try read(into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private static let pieceLength = 64 << 10

    /// Unpacks the rest of the current member, which verifies its checksum.
    func drain() throws(SourceError) {
        guard try opened() is LongMember else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while try read(into: buffer) > 0 {}
    }

    private func opened() throws(SourceError) -> (any ZipMember)? {
        guard let (index, entry, member) = current.map({ ($0.index, $0.entry, $0.member) }) else { return nil }
        if let member { return member }
        guard !entry.isEncrypted else { throw damage(ZipFault(reason: "a member is encrypted")) }
        let packed = try refusing { () throws(ZipFault) in try ZipDirectory.Packed(directory, index) }
        guard ShortMember.takes(entry) else {
            let long = try refusing { () throws(ZipFault) in try LongMember(packed, entry) }
            current?.member = long
            return long
        }
        try add(Int64(entry.size))
        try refusing { () throws(ZipFault) in try short.begin(packed, entry) }
        current?.member = short
        return short
    }

    private func leave() {
        passed += Int64(clamping: current?.entry.packedSize ?? 0)
        current = nil
    }

    /// Counts unpacked bytes and checks the limits.
    private func add(_ count: Int64) throws(SourceError) {
        let unpacked = unpacked.add(count)
        if let meter, let member = current {
            current?.unpacked += UInt64(count)
            let part = Double(member.unpacked + UInt64(count)) / Double(max(member.entry.size, 1))
            meter.bytes = passed + Int64(min(part, 1) * Double(member.entry.packedSize))
        }
        guard unpacked <= limits.total else {
            throw SourceError(.malformed, "the ZIP archive decompresses to more than \(limits.total >> 30) GiB")
        }
        guard unpacked <= limits.free || unpacked / limits.ratio <= directory.fileSize else {
            throw SourceError(
                .malformed, "the ZIP archive decompresses to more than \(limits.ratio) times its size, so it is not an export")
        }
    }

    private func refusing<Value>(_ body: () throws(ZipFault) -> Value) throws(SourceError) -> Value {
        do throws(ZipFault) {
            return try body()
        } catch {
            throw damage(error)
        }
    }

    private func damage(_ fault: ZipFault) -> SourceError {
        SourceError(
            .malformed,
            isChecked
                ? "the ZIP archive was changed while it was read: \(fault.reason)"
                : "the ZIP archive is damaged: \(fault.reason) (nothing was imported)")
    }

    private static func suffix(_ name: UnsafeRawBufferPointer) -> String {
        guard let point = name.suffix(16).lastIndex(where: { $0 == 0x2E || $0 == 0x2F }), name[point] == 0x2E else { return "" }
        let bytes = name[(point + 1)...]
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
