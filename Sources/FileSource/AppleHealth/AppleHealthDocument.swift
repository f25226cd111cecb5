import Pipeline

/// `export_cda.xml`, which the Health app puts beside `export.xml`: a clinical document that tells samples of the export a second time.
public enum AppleHealthDocument {
    /// What a person is told who wants it imported.
    public static let reason =
        "it is the export_cda.xml of an Apple Health export, which tells again what export.xml tells: import export.xml, or the ZIP"

    /// How far a file is looked at.
    private static let decidingLength = 64 << 10

    /// Whether a file is one: a clinical document that has Apple's name, or Apple's id in it.
    ///
    /// - Parameter path: what it is called.
    public static func recognises(_ file: InputFile, path: String) -> Bool {
        let input = PrefixedInput(FileInput(file))
        guard case .found? = try? ExportProlog.read(input, root: "ClinicalDocument") else { return false }
        if path == "export_cda.xml" || path.hasSuffix("/export_cda.xml") { return true }
        let mark = Array("extension=\"Health Export CDA\"".utf8)
        let found = try? input.look(at: decidingLength) { beginning -> Bool in
            beginning.indices.contains { beginning[$0...].starts(with: mark) }
        }
        return found ?? false
    }
}
