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

/// A ZIP file, read member by member without unpacking anything to disk.
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
        /// Octets of the directory; of an export with two routes a day for fifty years it has as many.
        var directory: Int64 = 10 << 20
    }

    /// Longest name that is looked at; an export's have less than a hundred bytes.
    static let maximumName = 1024

    private let directory: ZipDirectory
    private let isChecked: Bool
    private let limits: Limits
    private let meter: ReadMeter?
    private let unpacked: UnpackedCount

    private var next = 0
    private var current: Current?
    /// Packed octets of the members before the current one.
    private var passed: Int64 = 0
    /// Members that were looked at, directories and links with them.
    private(set) var memberCount = 0
    private let short = ShortMember()

    /// The member that is read.
    private struct Current {
        var index: Int
        var entry: ZipDirectory.Entry
        var member: (any ZipMember)?
        /// Octets of it that were unpacked.
        var unpacked: UInt64 = 0
    }

    /// Reads from the first member on.
    ///
    /// - Parameters:
    ///   - directory: others may read in it at the same time.
    ///   - isChecked: it was read through once, and found whole.
    ///   - unpacked: shared by those who unpack one file together, whose limits it is then.
    init(
        _ directory: ZipDirectory, limits: Limits = Limits(), meter: ReadMeter? = nil, isChecked: Bool = false,
        unpacked: UnpackedCount = UnpackedCount()
    ) {
        (self.directory, self.limits, self.meter, self.isChecked, self.unpacked) = (directory, limits, meter, isChecked, unpacked)
    }

    /// Goes to the next regular file in the archive; `nil` at the end.
    func nextMember() throws(SourceError) -> Member? {
        leave()
        while next < directory.count {
            let index = next
            next += 1
            memberCount += 1
            guard memberCount <= limits.members else {
                throw SourceError(.malformed, "the ZIP archive holds more than \(limits.members) members")
            }
            guard let entry = try refusing({ () throws(ZipFault) in try directory.entry(index) }) else { continue }
            current = Current(index: index, entry: entry)
            let name = UnsafeRawBufferPointer(rebasing: entry.name.prefix(Self.maximumName))
            let isReadable = String(validating: name, as: UTF8.self) != nil
            return Member(name: Array(name), suffix: isReadable ? Self.suffix(name) : "", isNameReadable: isReadable)
        }
        return nil
    }

    /// Unpacks some of the current member.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        guard let member = try opened() else { return 0 }
        let count = try refusing { () throws(ZipFault) in try member.read(into: buffer) }
        if member is LongMember { try add(Int64(count)) }
        return count
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
        guard try opened() is LongMember else { return }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while try read(into: buffer) > 0 {}
    }

    /// Begins with the current member, where that is still to be done.
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

    /// Ends what is read of the current member.
    private func leave() {
        passed += Int64(clamping: current?.entry.packedSize ?? 0)
        current = nil
    }

    /// Counts what was unpacked.
    private func add(_ count: Int64) throws(SourceError) {
        let unpacked = unpacked.add(count)
        if let meter, let member = current {
            current?.unpacked += UInt64(count)
            let part = Double(member.unpacked + UInt64(count)) / Double(max(member.entry.size, 1))
            meter.bytes = passed + Int64(min(part, 1) * Double(member.entry.packedSize))
        }
        guard unpacked <= limits.total else {
            throw SourceError(.malformed, "the ZIP archive unpacks to more than \(limits.total >> 30) GiB")
        }
        guard unpacked <= limits.free || unpacked / limits.ratio <= directory.fileSize else {
            throw SourceError(
                .malformed, "the ZIP archive unpacks to more than \(limits.ratio) times its size, which no export does")
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
                : "the ZIP archive is damaged: \(fault.reason); nothing of it was taken")
    }

    private static func suffix(_ name: UnsafeRawBufferPointer) -> String {
        guard let point = name.suffix(16).lastIndex(where: { $0 == 0x2E || $0 == 0x2F }), name[point] == 0x2E else { return "" }
        let bytes = name[(point + 1)...]
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
