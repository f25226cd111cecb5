import Pipeline

/// Recognises the file that Apple's Health app makes under “Export All Health Data”: `export.xml`, or the ZIP around it.
///
///     if AppleHealthExport.recognises(path: path) { … }
public enum AppleHealthExport {
    /// How many bytes of a file are worth handing to ``recognises(_:)``.
    public static let decidingLength = 64 << 10

    /// Whether the file is an export, or a ZIP archive that may hold one; `false` also for a file that cannot be read.
    public static func recognises(path: String) -> Bool {
        (try? InputFile(path: path)).map(recognises) ?? false
    }

    /// Whether an open file is an export, or a ZIP archive that may hold one.
    public static func recognises(_ file: InputFile) -> Bool {
        let input = FileInput(file)
        return withUnsafeTemporaryAllocation(byteCount: decidingLength, alignment: 16) { buffer in
            guard let count = try? input.fill(buffer) else { return false }
            return recognises(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// Whether a file that begins with these bytes is an export, or a ZIP archive that may hold one.
    ///
    /// An export in UTF-16 is recognised too, so that reading it can say what is wrong.
    public static func recognises(_ beginning: UnsafeRawBufferPointer) -> Bool {
        if isArchive(beginning) { return true }
        switch ExportProlog(beginning) {
        case .found: return true
        case .unfinished(let hasDoctype):
            // The DTD alone is longer than what some callers read; its first words name the root.
            return hasDoctype && String(decoding: beginning.prefix(4096), as: UTF8.self).contains("<!DOCTYPE HealthData")
        case .wideCharacters:
            let narrow = beginning.lazy.filter { $0 != 0 }
            return String(decoding: narrow, as: UTF8.self).contains("<HealthData")
        case .otherEncoding:
            return String(decoding: beginning, as: UTF8.self).contains("<HealthData")
        case .otherRoot, .notXML: return false
        }
    }

    /// The mark of a ZIP archive's first member, or of an empty one.
    static func isArchive(_ beginning: UnsafeRawBufferPointer) -> Bool {
        beginning.starts(with: [0x50, 0x4B, 0x03, 0x04]) || beginning.starts(with: [0x50, 0x4B, 0x05, 0x06])
    }
}
