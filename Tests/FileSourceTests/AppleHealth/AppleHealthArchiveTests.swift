import Pipeline
import Testing

@testable import FileSource

@Suite struct AppleHealthArchiveTests {
    static let export = Array("<HealthData>\(record())</HealthData>".utf8)

    @Test(arguments: ["export.xml", "apple_health_export/Export.XML", "../../../etc/cron.d/export.xml", "/export.xml", "导出.xml"])
    func findsExportByRootElement(name: String) {
        let archive = ZipWriter([
            ("apple_health_export/", []), ("a/export_cda.xml", Array("<ClinicalDocument/>".utf8)), ("a/b.gpx", Self.export),
            (name, Self.export),
        ])
        let export = ImportedExport(archive.bytes)
        #expect(export.error == nil)
        #expect(export.readings.count == 1)
    }

    @Test func errorDescribesArchiveContent() {
        let archive = ZipWriter([("a.txt", Self.export), ("export_cda.xml", Array("<ClinicalDocument/>".utf8))])
        #expect(
            ImportedExport(archive.bytes).error?.reason
                == "no Apple Health export in the ZIP archive: it has 2 members, 1 of them XML (the first: it is not an Apple "
                + "Health export: its root element is ClinicalDocument, not HealthData)")
        #expect(ImportedExport(ZipWriter([]).bytes).error?.kind == .malformed)
    }

    @Test func aSecondExportIsNotPassedOver() {
        let export = ImportedExport(ZipWriter([("a.xml", Self.export), ("b.xml", Self.export)]).bytes)
        #expect(export.readings.count == 1)
        #expect(export.error?.reason == "the ZIP archive contains a second export, which was not read")
    }

    @Test func boundsTheMembers() {
        let many = (0..<100).map { ("\($0).xml", Array("<a/>".utf8)) }
        #expect(ImportedExport(ZipWriter(many).bytes).error?.reason == "the ZIP archive contains more than 64 XML files")
        var limits = ZipArchive.Limits()
        limits.members = 10
        let error = ImportedExport(ZipWriter(many).bytes, limits: limits).error
        #expect(error?.reason == "the ZIP archive contains more than 10 members")
    }

    /// A directory is read into memory whole, before any of its members is looked at.
    @Test func boundsTheDirectory() {
        let many = ZipWriter((0..<30_000).map { ("\($0)", []) }).bytes
        var limits = ZipArchive.Limits()
        limits.directory = 1 << 20
        let long = "the ZIP archive's directory has more than 1 MiB, so it is not an export"
        #expect(ImportedExport(many, limits: limits).error?.reason == long)
        // The record that counts may be another one than the last.
        #expect(ImportedExport(many + Array(many.suffix(22)).map { $0 == 0x75 ? 0 : $0 }, limits: limits).error?.reason == long)
        #expect(ImportedExport(many).error?.reason.hasPrefix("no Apple Health export in the ZIP archive") == true)
    }

    /// More members than the directory has room for: a library that believes the number makes room for all of them.
    @Test func refusesInvalidMemberCount() {
        var archive = ZipWriter([("export.xml", Self.export)]).bytes
        let end = archive.count - 22
        archive.replaceSubrange(end + 8..<end + 12, with: [0xFE, 0xFF, 0xFE, 0xFF])
        let reason = "the ZIP archive is damaged: its directory is too short (nothing was imported)"
        #expect(ImportedExport(archive).error?.reason == reason)
    }

    /// 13 bits give 258 bytes, so a file of 130 KB unpacks to 20 MB. The bytes before the blanks are not delivered either.
    @Test func stopsUnpackingABomb() {
        let archive = ZipWriter(deflatedExport: "<HealthData>\(record())", blanks: 20_000_000)
        #expect(archive.bytes.count < 140_000)
        var limits = ZipArchive.Limits()
        #expect(ImportedExport(archive.bytes, limits: limits).error?.kind == .malformed)
        (limits.free, limits.ratio) = (1_000_000, 100)
        let bomb = ImportedExport(archive.bytes, limits: limits)
        #expect(bomb.readings.isEmpty)
        #expect(bomb.error?.reason == "the ZIP archive decompresses to more than 100 times its size, so it is not an export")
        limits = ZipArchive.Limits()
        limits.total = 10_000_000
        #expect(ImportedExport(archive.bytes, limits: limits).error?.reason.contains("decompresses to more than") == true)
    }
}

/// Makes a ZIP archive byte by byte, as a phone or a stranger might (PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16).
struct ZipWriter {
    private(set) var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// Members stored as they are.
    init(_ members: [(name: String, content: [UInt8])]) {
        for member in members {
            add(member.name, member.content, method: 0, size: member.content.count, checksum: Self.checksum(member.content))
        }
        end()
    }

    /// One member, packed: a text and then blanks, in one deflate block of fixed codes (RFC 1951, section 3.2.6).
    init(deflatedExport text: String, blanks: Int) {
        var stream = BitWriter()
        stream.put(1, bits: 1)
        stream.put(1, bits: 2)
        for byte in text.utf8 { stream.putCode(0x30 + UInt32(byte), bits: 8) }
        stream.putCode(0x30 + 0x20, bits: 8)
        // Length 258, distance 1.
        for _ in 0..<blanks / 258 {
            stream.putCode(0xC5, bits: 8)
            stream.putCode(0, bits: 5)
        }
        stream.putCode(0, bits: 7)
        // The checksum is compared at the end only, which no reader of this comes to in good order.
        add("export.xml", stream.bytes, method: 8, size: text.utf8.count + 1 + blanks / 258 * 258, checksum: 0)
        end()
    }

    private mutating func add(_ name: String, _ content: [UInt8], method: Int, size: Int, checksum: UInt32) {
        let name = Array(name.utf8)
        // Version 2.0, names in UTF-8, no time.
        var header = Self.number(20, 2) + Self.number(0x0800, 2) + Self.number(method, 2) + Self.number(0, 4)
        header += Self.number(Int(checksum), 4) + Self.number(content.count, 4) + Self.number(size, 4)
        header += Self.number(name.count, 2) + Self.number(0, 2)
        directory += [0x50, 0x4B, 1, 2] as [UInt8]
        directory += Self.number(20, 2)
        directory += header
        directory += Self.number(0, 10)
        directory += Self.number(bytes.count, 4)
        directory += name
        bytes += [0x50, 0x4B, 3, 4] as [UInt8]
        bytes += header
        bytes += name
        bytes += content
        count += 1
    }

    private mutating func end() {
        let start = bytes.count
        bytes += directory
        bytes += [0x50, 0x4B, 5, 6] as [UInt8]
        bytes += Self.number(0, 4)
        bytes += Self.number(count, 2)
        bytes += Self.number(count, 2)
        bytes += Self.number(directory.count, 4) + Self.number(start, 4) + Self.number(0, 2)
    }

    private static func number(_ number: Int, _ length: Int) -> [UInt8] {
        (0..<length).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> ($0 * 8)) : 0 }
    }

    /// CRC-32, bit by bit.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value ^= UInt32(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
        return ~value
    }

    private struct BitWriter {
        var bytes: [UInt8] = []
        private var filled = 8

        mutating func put(_ value: UInt32, bits: Int) {
            for bit in 0..<bits {
                if filled == 8 {
                    bytes.append(0)
                    filled = 0
                }
                bytes[bytes.count - 1] |= UInt8(value >> UInt32(bit) & 1) << UInt8(filled)
                filled += 1
            }
        }

        /// Huffman codes go highest bit first.
        mutating func putCode(_ code: UInt32, bits: Int) {
            for bit in (0..<bits).reversed() { put(code >> UInt32(bit) & 1, bits: 1) }
        }
    }
}
