import HealthModel
import Pipeline

/// Reads an Apple Health export, `export.xml` or the ZIP archive that contains it, element by element, with the files that belong to it.
///
/// Each `Record`, also inside a `Correlation`, is a frame at `record n`, the n-th in file order. Each other element below the root is a
/// frame at its line. `ExportColumn` and `ExportRow` define the columns, which ``AppleHealthInterpreter`` reads.
///
/// Routes (GPX), electrocardiograms (CSV) and clinical records (FHIR) follow. In a ZIP archive they come after all elements. If the
/// export is a plain file, the files that it names are read from its folder, each after the element that names it.
///
/// Memory does not grow with the file. The source is safe against hostile files: The DOCTYPE is skipped, so no entity is ever declared.
/// Control characters become blanks. Names, attributes, nesting and unpacked sizes have limits. A path never leads out of the export's
/// folder.
///
///     let source = AppleHealthExportSource(InputFile(path: "export.zip"), received: now)
///     try source.forEachFrame { frame in … }
package struct AppleHealthExportSource: FrameSource {
    private let file: InputFile
    /// The folder of the files that a plain export names.
    private let folder: ExportFiles.Folder
    private let received: Instant
    private let limits: ZipArchive.Limits
    private let meter: ReadMeter?

    /// Reads an open file.
    ///
    /// - Parameters:
    ///   - path: the path of the file, which locates the files that it names. `nil` or `-` if it is unknown.
    ///   - received: the time of the import, for all frames.
    ///   - meter: counts the bytes that are read.
    package init(_ file: InputFile, path: String? = nil, received: Instant, meter: ReadMeter? = nil) {
        self.init(file, path: path, received: received, meter: meter, limits: ZipArchive.Limits())
    }

    init(_ file: InputFile, path: String?, received: Instant, meter: ReadMeter? = nil, limits: ZipArchive.Limits) {
        (self.file, self.received, self.meter, self.limits) = (file, received, meter, limits)
        guard let path, path != InputFile.standardInput else {
            folder = .none
            return
        }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        folder = .path(end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    }

    /// Passes each record of the export to `handle`, in file order.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let input = PrefixedInput(FileInput(file, meter: meter))
        if try input.look(at: 4, AppleHealthExport.isArchive) {
            let archive = try ExportArchive(file, limits: limits, meter: meter)
            let index = try archive.check()
            let elements = ExportElementReader(files: ExportFiles(index.files), received: received)
            try archive.readExport { input, offset, line in try elements.read(input, from: offset, line: line, handle) }
            elements.passed = index.passed
            if index.hasOthers { try archive.readOthers(index) { member in try elements.read(member, handle) } }
            try elements.finish(handle)
        } else {
            switch try ExportProlog.read(input) {
            case .found(let offset, let line):
                let elements = ExportElementReader(files: ExportFiles(folder), received: received)
                try elements.read(input, from: offset, line: line, handle)
                try elements.finish(handle)
            case let other: throw SourceError(.malformed, other.reason)
            }
        }
    }
}
