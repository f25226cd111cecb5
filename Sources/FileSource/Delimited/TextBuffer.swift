import Pipeline

/// The part of a text that is in memory, as UTF-8 or another superset of ASCII. It is read from front to back.
///
/// A newline always follows the last byte, so a search for newlines needs no other bound.
final class TextBuffer {
    private(set) var base: UnsafeMutablePointer<UInt8>
    /// The index of the first unread byte.
    var start = 0
    /// The number of lines before the first one with data, which are skipped: blank lines, and `sep=;` for spreadsheets.
    private(set) var skippedLines = 0
    private(set) var end = 0
    /// Whether nothing follows ``end``.
    private(set) var atEnd = false
    /// Whether a byte may be above 0x7F.
    private(set) var mayHaveHighBytes = false
    let encoding: TextEncoding
    private let input: any ByteInput
    private var capacity: Int
    private let maximum: Int
    private var transcoder: UTF16Transcoder?
    private var raw: [UInt8]
    private static let block = 256 * 1024

    /// - Parameter maximum: the maximum length that is kept in memory.
    /// - Throws: ``SourceError`` of kind `malformed` if the file is not a text.
    init(_ input: any ByteInput, maximum: Int) throws(SourceError) {
        self.input = input
        self.maximum = maximum
        raw = []
        capacity = Self.block
        base = .allocate(capacity: capacity + 1)
        var count = 0
        var mark = 0
        var detected = TextEncoding.utf8
        var failure: SourceError?
        do throws(SourceError) {
            // A pipe may return fewer bytes. The first 4 KiB are needed to detect the encoding.
            while count < 4096 {
                let more = try input.read(into: UnsafeMutableRawBufferPointer(start: base + count, count: Self.block - count))
                if more == 0 {
                    atEnd = true
                    break
                }
                count += more
            }
            (detected, mark) = TextEncoding.detect(UnsafeRawBufferPointer(start: base, count: count))
        } catch {
            failure = error
        }
        encoding = detected
        if let failure { throw failure }
        if detected == .utf8 {
            try Self.checkText(UnsafeRawBufferPointer(start: base, count: count))
            start = mark
            end = count
            mayHaveHighBytes = !isASCII(UnsafeRawBufferPointer(start: base + mark, count: count - mark))
        } else {
            transcoder = UTF16Transcoder(bigEndian: detected == .utf16BigEndian)
            mayHaveHighBytes = true
            raw = Array(UnsafeBufferPointer(start: base + mark, count: count - mark))
            grow(to: raw.count / 2 * 3 + Self.block)
            end = transcode(raw.count, at: 0)
            raw = [UInt8](repeating: 0, count: 64 * 1024)
        }
        base[end] = UInt8(ascii: "\n")
        skipPreamble()
    }

    /// Skips lines before the first one with data. It only looks at the bytes that are in memory.
    private func skipPreamble() {
        let isSeparator: (UInt8) -> Bool = { $0 <= 0x20 || DelimiterSniffer.candidates.contains($0) || $0 == UInt8(ascii: "\"") }
        var hasSeparator = false
        while let length = (start..<end).firstIndex(where: { base[$0] == 0x0A || base[$0] == 0x0D }).map({ $0 - start }) {
            let line = UnsafeRawBufferPointer(start: base + start, count: length)
            if !line.allSatisfy(isSeparator) {
                guard !hasSeparator, Self.namesSeparator(line) else { return }
                hasSeparator = true
            }
            let next = start + length + 1
            start = base[next - 1] == 0x0D && next < end && base[next] == 0x0A ? next + 1 : next
            skippedLines += 1
        }
    }

    /// Whether a line names the separator of the others for a spreadsheet, as in `sep=;`.
    private static func namesSeparator(_ line: UnsafeRawBufferPointer) -> Bool {
        let text = String(decoding: line.prefix(16), as: UTF8.self).filter { $0 != "\"" && $0 != " " }.lowercased()
        return line.count <= 16 && text.hasPrefix("sep=") && text.count <= 5
    }

    /// Replaces an XML declaration at the beginning with blanks.
    func skipXMLDeclaration() {
        let text = UnsafeRawBufferPointer(start: base + start, count: min(end - start, 256))
        guard text.starts(with: "<?xml".utf8), let close = text.firstIndex(of: UInt8(ascii: ">")) else { return }
        for index in start...(start + close) where base[index] > 0x20 { base[index] = 0x20 }
    }

    deinit { base.deallocate() }

    /// Skips blanks of JSON.
    ///
    /// - Parameter onBlank: called for each of them.
    /// - Returns: the next byte, or `nil` at the end of the text.
    func nextOfJSON(_ onBlank: () -> Void = {}) throws(SourceError) -> UInt8? {
        while true {
            while start < end {
                let byte = base[start]
                guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
                start += 1
                onBlank()
            }
            guard try refill() else { return nil }
        }
    }

    /// Reads more bytes after the part that begins at ``start``, which moves to the front.
    ///
    /// - Returns: `false` at the end of the text, or if the part has its maximum length.
    func refill() throws(SourceError) -> Bool {
        guard !atEnd, end - start < maximum else { return false }
        if start > 0 {
            base.update(from: base + start, count: end - start)
            end -= start
            start = 0
        }
        if capacity - end < Self.block / 2 { grow(to: min(capacity * 2, maximum + Self.block)) }
        let first = end
        if transcoder != nil {
            let space = min(raw.count, (capacity - end - 4) / 3 * 2)
            var failure: SourceError?
            let count = raw.withUnsafeMutableBytes { buffer -> Int in
                do throws(SourceError) {
                    return try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<space]))
                } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            atEnd = count == 0
            end += transcode(count, at: end)
        } else {
            let count = try input.read(into: UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
            atEnd = count == 0
            end += count
            let added = UnsafeRawBufferPointer(start: base + first, count: end - first)
            mayHaveHighBytes = !isASCII(added) || (mayHaveHighBytes && first > 0)
        }
        base[end] = UInt8(ascii: "\n")
        return true
    }

    private func transcode(_ count: Int, at offset: Int) -> Int {
        raw.withUnsafeBytes { buffer in
            transcoder?.convert(UnsafeRawBufferPointer(rebasing: buffer[..<count]), into: base + offset) ?? 0
        }
    }

    private func grow(to wanted: Int) {
        guard wanted > capacity else { return }
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted + 1)
        larger.update(from: base, count: end)
        base.deallocate()
        base = larger
        capacity = wanted
    }

    /// Rejects data that is clearly not a text, and names its format if its first bytes identify it.
    private static func checkText(_ bytes: UnsafeRawBufferPointer) throws(SourceError) {
        let signatures: [(bytes: [UInt8], name: String)] = [
            (Array("PK\u{3}\u{4}".utf8), "a zip archive or a workbook (.xlsx): save the sheet as CSV"),
            ([0x1F, 0x8B], "gzip data"),
            (Array("SQLite format 3\0".utf8), "an SQLite database"), (Array("%PDF".utf8), "a PDF document"),
            ([0xD0, 0xCF, 0x11, 0xE0], "an old workbook (.xls): save the sheet as CSV"),
        ]
        for signature in signatures where bytes.starts(with: signature.bytes) {
            throw SourceError(.malformed, "not text but \(signature.name)")
        }
        let sample = bytes.prefix(4096)
        let control = sample.count { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        guard control * 10 <= sample.count else { throw SourceError(.malformed, "not text: it contains binary data") }
    }
}
