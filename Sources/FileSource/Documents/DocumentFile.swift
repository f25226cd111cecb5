import HealthModel
import Pipeline

/// Reads a file that is a single CDA document, and delivers it as a row of ``ResourceRow``.
///
///     if DocumentFile.recognises(file) { … }
///     let source = DocumentFile(file, received: now)
///
/// Reading stops within 256 KiB after ``ResourceRow/maximumLength``. The contents are not examined.
package struct DocumentFile: ImportedFileSource {
    private let imported: ImportedFile

    /// The number of bytes that are examined to recognize a file.
    package static let decidingLength = 64 << 10

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Whether an open file begins as XML with the root ClinicalDocument. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(decidingLength, recognises)
    }

    /// Whether a file that begins with these bytes is a CDA document, in any encoding.
    package static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        let text = beginning.lazy.filter { $0 != 0 }
        guard text.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "<") else { return false }
        return String(decoding: text, as: UTF8.self).firstMatch(of: /<(?:[A-Za-z_][\w.-]*:)?ClinicalDocument[\s>\/]/) != nil
    }

    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        // A text beyond the limit shows the interpreter that the document is too long.
        let bytes = try imported.input.bytes(limit: ResourceRow.maximumLength)
        let row = TextRow()
        try bytes.withUnsafeBytes { bytes in
            row.cells = [bytes]
            try handle(imported.frame(.row(row), at: Place(.line, 1), ResourceRow.cda))
        }
    }
}
