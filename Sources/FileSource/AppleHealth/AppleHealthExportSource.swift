import HealthModel
import Pipeline

/// Delivers an Apple Health export, `export.xml` or the ZIP that holds it, element by element.
///
/// Each `Record`, also inside a `Correlation`, is a frame at `record n`, the n-th in the order of the file; each other element
/// below the root is a frame at its line. The columns are those of `ExportColumn`; ``AppleHealthInterpreter`` knows them.
///
/// Memory does not grow with the file. What a file from outside may do wrong: no entity is ever declared, since the DOCTYPE is
/// stepped over; control characters are blanks; names, attributes, nesting and unpacking have bounds.
///
///     let source = AppleHealthExportSource(path: "export.zip", received: now)
///     try source.forEachFrame { frame in … }
public struct AppleHealthExportSource: FrameSource {
    private enum Origin {
        case path(String)
        case file(InputFile)
    }

    private let origin: Origin
    private let received: Instant
    private let limits: ZipArchive.Limits
    private let meter: ReadMeter?

    /// - Parameters:
    ///   - received: the time of the import, for all frames.
    ///   - meter: counts what is read.
    public init(path: String, received: Instant, meter: ReadMeter? = nil) {
        self.init(.path(path), received, meter, ZipArchive.Limits())
    }

    /// Reads a file that is open.
    public init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        self.init(.file(file), received, meter, ZipArchive.Limits())
    }

    init(path: String, received: Instant, limits: ZipArchive.Limits) {
        self.init(.path(path), received, nil, limits)
    }

    private init(_ origin: Origin, _ received: Instant, _ meter: ReadMeter?, _ limits: ZipArchive.Limits) {
        (self.origin, self.received, self.meter, self.limits) = (origin, received, meter, limits)
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
            try checkArchive(file)
            try readArchive(file, handle)
        } else {
            switch try prolog(of: input) {
            case .found(let offset, let line): try read(input, from: offset, line: line, handle)
            case let other: throw SourceError(.malformed, other.reason)
            }
        }
    }

    /// XML members looked into: an export has two, and the DTD is read of each.
    private static let maximumCandidates = 64

    /// Unpacks the export once without reading it: its checksum stands behind its last octet, and nothing of it is worth anything before
    /// (Decisions/0014).
    private func checkArchive(_ file: InputFile) throws {
        var isChecked = false
        try forEachExport(in: ZipArchive(file, limits: limits)) { archive, _, _, _ in
            if !isChecked { try archive.drain() }
            isChecked = true
        }
    }

    private func readArchive(_ file: InputFile, _ handle: (RawFrame) throws -> Void) throws {
        var isRead = false
        try forEachExport(in: ZipArchive(file, limits: limits, meter: meter, isChecked: true)) { _, input, offset, line in
            guard !isRead else { throw SourceError(.malformed, "the ZIP archive holds a second export, which was not read") }
            isRead = true
            try read(input, from: offset, line: line, handle)
        }
    }

    private func forEachExport(
        in archive: ZipArchive, _ body: (ZipArchive, PrefixedInput, _ offset: Int, _ line: Int) throws -> Void
    ) throws {
        var candidates = 0
        var seen: String?
        var isFound = false
        while let member = try archive.nextMember() {
            // The name of the file differs by the phone's language; what it holds does not.
            guard member.suffix == "xml" || !member.isNameReadable else { continue }
            candidates += 1
            guard candidates <= Self.maximumCandidates else {
                throw SourceError(.malformed, "the ZIP archive holds more than \(Self.maximumCandidates) XML files")
            }
            let input = PrefixedInput(archive)
            let prolog = try prolog(of: input)
            guard case .found(let offset, let line) = prolog else {
                seen = seen ?? prolog.reason
                continue
            }
            isFound = true
            try body(archive, input, offset, line)
        }
        guard !isFound else { return }
        let files = archive.memberCount == 1 ? "1 member" : "\(archive.memberCount) members"
        throw SourceError(
            .malformed,
            "no Apple Health export in the ZIP archive: it has \(files), \(candidates) of them XML"
                + (seen.map { "; of the first: \($0)" } ?? ""))
    }

    private func prolog(of input: PrefixedInput) throws(SourceError) -> ExportProlog {
        var length = 4 << 10
        while true {
            let (prolog, isMore) = try input.look(at: length) { (ExportProlog($0), $0.count == length) }
            guard case .unfinished = prolog, isMore, length < ExportProlog.maximumLength else { return prolog }
            length *= 4
        }
    }

    private func read(
        _ input: PrefixedInput, from offset: Int, line: Int, _ handle: (RawFrame) throws -> Void
    ) throws {
        input.skip(offset)
        let parser = try ExportParser(firstLine: line)
        let row = TextRow()
        var isMore = true
        while isMore {
            var failure: SourceError?
            do throws(SourceError) {
                isMore = try parser.advance(input)
            } catch {
                failure = error
                failure?.place = error.place ?? parser.place
            }
            try parser.forEachRow(in: row) { place in
                try handle(RawFrame(payload: .row(row), place: place, received: received))
            }
            if let failure { throw failure }
        }
    }
}
