import Pipeline

/// Recognizes the file that Apple's Health app creates with “Export All Health Data”: `export.xml`, or the ZIP archive around it.
///
///     if AppleHealthExport.recognises(file) { … }
package enum AppleHealthExport {
    /// The number of bytes to pass to ``recognises(_:)``.
    package static let decidingLength = 64 << 10

    /// Whether an open file is an export, or a ZIP archive that may contain one. A file that cannot be read returns `false`.
    package static func recognises(_ file: InputFile) -> Bool {
        file.begins(decidingLength, recognises)
    }

    /// Whether a file that begins with these bytes is an export, or a ZIP archive that may contain one.
    ///
    /// UTF-16 is recognized too, so that reading the file can report the problem.
    package static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        if isArchive(beginning) { return true }
        switch ExportProlog(beginning) {
        case .found: return true
        case .unfinished(let hasDoctype):
            // The DTD alone can be longer than the given bytes. Its first words name the root.
            return hasDoctype && String(decoding: beginning.prefix(4096), as: UTF8.self).contains("<!DOCTYPE HealthData")
        case .wideCharacters:
            let narrow = beginning.lazy.filter { $0 != 0 }
            return String(decoding: narrow, as: UTF8.self).contains("<HealthData")
        case .otherEncoding:
            return String(decoding: beginning, as: UTF8.self).contains("<HealthData")
        case .otherRoot, .notXML: return false
        }
    }

    /// Whether the bytes begin with the signature of a ZIP archive's first member, or of an empty archive.
    static func isArchive(_ beginning: UnsafeRawBufferPointer) -> Bool {
        beginning.starts(with: [0x50, 0x4B, 0x03, 0x04]) || beginning.starts(with: [0x50, 0x4B, 0x05, 0x06])
    }
}
