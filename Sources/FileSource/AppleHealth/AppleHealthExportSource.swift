import HealthModel
import Pipeline

/// Delivers an Apple Health export, `export.xml` or the ZIP that holds it, element by element, and the files that belong to it.
///
/// Each `Record`, also inside a `Correlation`, is a frame at `record n`, the n-th in the order of the file; each other element
/// below the root is a frame at its line. The columns are those of `ExportColumn` and `ExportRow`; ``AppleHealthInterpreter`` knows them.
/// Routes (GPX), electrocardiograms (CSV) and clinical records (FHIR) follow: of a ZIP behind all elements, of an export by itself those that
/// it names and that lie beside it, each behind the element that names it.
///
/// Memory does not grow with the file. What a file from outside may do wrong: no entity is ever declared, since the DOCTYPE is
/// stepped over; control characters are blanks; names, attributes, nesting and unpacking have bounds; a path is never followed out of the
/// export's folder.
///
///     let source = AppleHealthExportSource(path: "export.zip", received: now)
///     try source.forEachFrame { frame in … }
public struct AppleHealthExportSource: FrameSource {
    private enum Origin {
        case path(String)
        case file(InputFile)
    }

    private let origin: Origin
    /// Where the files lie that an export by itself names.
    private let folder: ExportFiles.Folder
    private let received: Instant
    private let limits: ZipArchive.Limits
    private let meter: ReadMeter?

    /// - Parameters:
    ///   - received: the time of the import, for all frames.
    ///   - meter: counts what is read.
    public init(path: String, received: Instant, meter: ReadMeter? = nil) {
        self.init(.path(path), path, received, meter, ZipArchive.Limits())
    }

    /// Reads a file that is open.
    ///
    /// - Parameter path: where it lies, and with it what it names; `nil` or `-` where that is not known.
    public init(_ file: InputFile, path: String? = nil, received: Instant, meter: ReadMeter? = nil) {
        self.init(.file(file), path, received, meter, ZipArchive.Limits())
    }

    init(path: String, received: Instant, limits: ZipArchive.Limits) {
        self.init(.path(path), path, received, nil, limits)
    }

    private init(
        _ origin: Origin, _ path: String?, _ received: Instant, _ meter: ReadMeter?, _ limits: ZipArchive.Limits
    ) {
        (self.origin, self.received, self.meter, self.limits) = (origin, received, meter, limits)
        guard let path, path != InputFile.standardInput else {
            folder = .none
            return
        }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        folder = .path(end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    }

    /// Gives each record of the export to `body`, in the order of the file.
    public func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        meter?.bytes = 0
        let file =
            switch origin {
            case .path(let path): try InputFile(path: path)
            case .file(let file): file
            }
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
