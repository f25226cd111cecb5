import HealthModel
import Pipeline

/// Recognizes Vitalgate's own NDJSON lines, which `export` and file targets write and people can write by hand.
///
///     if LineFile.recognises(file) { … }
package enum LineFile {
    /// The maximum length of a line. A document of 32 MiB in base64 fits with its metadata.
    static let maximumLine = 48 << 20
    /// The number of bytes that are examined to recognize a file.
    private static let decidingLength = 64 << 10

    /// Whether an open file begins with a line that is a sample or a deletion. A sample has a type, a start and a known kind.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(decidingLength, recognises)
    }

    /// Whether the bytes begin with one of our lines. They may end within the first line.
    static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        let start = ByteOrderMark.lengthUTF8(beginning)
        guard let first = beginning[start...].firstIndex(where: { $0 > 0x20 }), beginning[first] == UInt8(ascii: "{") else {
            return false
        }
        var names: [String: String] = [:]
        // Only complete members count. The text may end within one.
        var scanner = LineScanner(beginning, from: first)
        try? scanner.forEachMember { name, value in
            guard let name = try? LineScanner.text(of: beginning, name), names.count < 64 else { return }
            let isShortText = beginning[value.lowerBound] == UInt8(ascii: "\"") && value.count < 1024
            names[name] = isShortText ? (try? LineScanner.text(of: beginning, value)) ?? "" : ""
        }
        if names["deleted"].flatMap({ SampleIdentity($0) }) != nil { return names["type"] != nil }
        guard let type = names["type"], let kind = names["kind"] else {
            // Lines written by hand may omit the kind.
            return names["start"] != nil && names["type"].flatMap { SampleType($0) } != nil
        }
        // The members after a large object may be outside of the examined bytes.
        return SampleKind(named: kind) != nil && !type.isEmpty
            && (names["start"] != nil || names["uuid"].flatMap { SampleIdentity($0) } != nil)
    }
}

/// Reads our own lines one by one, for ``LineInterpreter``.
package struct LineFileSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes each line to `handle`. A line that is too long becomes a malformed frame.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        var lines = LineBuffer()
        var (number, isTooLong) = (1, false)
        func give(_ line: ArraySlice<UInt8>) throws {
            defer { (number, isTooLong) = (number + 1, false) }
            let place = Place(.line, number)
            guard !isTooLong, line.count <= LineFile.maximumLine else {
                let reason = "the line is longer than \(LineFile.maximumLine >> 20) MiB"
                return try handle(imported.frame(.malformed(reason), at: place, "line"))
            }
            let text = line.dropFirst(number == 1 ? ByteOrderMark.lengthUTF8(line) : 0)
            try text.withUnsafeBytes { try handle(imported.frame(.bytes($0), at: place, "line")) }
        }
        try imported.input.forEachPiece(of: 256 << 10) { piece in
            lines.append(Array(piece)[...])
            while let line = lines.next() { try give(line) }
            if lines.rest.count > LineFile.maximumLine { (lines, isTooLong) = (LineBuffer(), true) }
        }
        if !lines.rest.isEmpty || isTooLong { try give(lines.rest) }
    }
}
