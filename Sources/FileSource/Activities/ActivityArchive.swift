import HealthModel
import Pipeline

/// Recognizes ZIP archives of activity files, such as the archive of an account at Strava (`activities/1234.fit.gz`).
package enum ActivityArchive {
    /// The channel of rows that are not from an activity file: `file, name` before each file, and `skip, name, count`.
    static let channel = "activity-archive"
    static let file: StaticString = "file"

    /// Whether an open file is a ZIP archive with activity files and without an XML file, which every export of Apple Health has.
    package static func recognises(_ file: InputFile) -> Bool {
        guard file.begins(4, AppleHealthExport.isArchive),
            let directory = try? ZipDirectory(file, limit: ZipArchive.Limits().directory)
        else { return false }
        let archive = ZipArchive(directory)
        var isFound = false
        while let member = try? archive.nextMember() {
            if member.suffix == "xml" { return false }
            if isActivity(member) { isFound = true }
        }
        return isFound
    }

    /// Whether a member is an activity file by its name, which may be compressed with gzip.
    static func isActivity(_ member: ZipArchive.Member) -> Bool {
        guard member.isNameReadable else { return false }
        let name = String(decoding: member.name, as: UTF8.self).lowercased()
        return suffixes.contains { name.hasSuffix($0) || name.hasSuffix($0 + ".gz") }
    }

    private static let suffixes = [".fit", ".tcx", ".gpx"]
}

/// Reads the activity files of a ZIP archive one after the other, for ``ActivityArchiveInterpreter``.
///
///     let source = ActivityArchiveSource(try InputFile(path: "export_1234.zip"), received: now)
///
/// The archive is refused as a whole if a checksum is wrong. A file in it that cannot be read is refused alone. Other files are counted by
/// the suffix of their names.
package struct ActivityArchiveSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes the rows of each file to `handle`, in the order of the archive.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let limits = ZipArchive.Limits()
        let directory = try ZipDirectory(imported.file, limit: limits.directory)
        let check = ZipArchive(directory, limits: limits)
        while try check.nextMember() != nil { try check.drain() }
        let archive = ZipArchive(directory, limits: limits, meter: imported.meter, isChecked: true)
        var others = ExportArchive.Index()
        var number = 0
        while let member = try archive.nextMember() {
            guard ActivityArchive.isActivity(member) else {
                others.pass(member)
                continue
            }
            number += 1
            let place = Place(.record, number)
            try give(ActivityArchive.file, [member.name], at: place, handle)
            let failure = try read(archive) { frame in
                do {
                    try handle(frame)
                } catch {
                    throw HandlerFailure(error: error)
                }
            }
            guard let failure else { continue }
            let reason = failure.place.map { "\($0): \(failure.reason)" } ?? failure.reason
            try handle(imported.frame(.malformed(reason), at: place, ActivityArchive.channel))
        }
        for (name, count) in others.passed.sorted(by: { $0.key < $1.key }) {
            let cells = [Array(name.utf8), Array("\(count)".utf8)]
            try give(ActivityRow.skip, cells, at: Place(.record, number), handle)
        }
    }

    /// An error of the function that receives the frames. It ends the reading, unlike an error in a file.
    private struct HandlerFailure: Error {
        var error: any Error
    }

    /// Reads the current member.
    ///
    /// - Returns: the reason why it cannot be read, if any.
    private func read(_ archive: ZipArchive, _ handle: (RawFrame) throws -> Void) throws -> SourceError? {
        do {
            let member = try InputFile(in: imported.file.spoolFolders) { append throws(SourceError) in
                while case let piece = try archive.piece(), !piece.isEmpty {
                    var failure: SourceError?
                    piece.withUnsafeBytes { bytes in
                        do throws(SourceError) { try append(bytes) } catch { failure = error }
                    }
                    if let failure { throw failure }
                }
            }
            let activity = try member.unpacked().inUTF8()
            let formats: [((InputFile) -> Bool, any ImportedFileSource.Type)] = [
                (FITFile.recognises, FITFileSource.self), (TCXFile.recognises, TCXFileSource.self),
                (GPXFile.recognises, GPXFileSource.self),
            ]
            guard let format = formats.first(where: { $0.0(activity) })?.1 else {
                return SourceError(.malformed, "it is not a FIT, TCX or GPX file")
            }
            try format.init(activity, received: imported.received).forEachFrame(handle)
            return nil
        } catch let failure as HandlerFailure {
            throw failure.error
        } catch let error as SourceError where error.kind == .malformed {
            return error
        }
    }

    private func give(
        _ element: StaticString, _ texts: [[UInt8]], at place: Place, _ handle: (RawFrame) throws -> Void
    ) throws {
        var rows = ExportRows()
        defer { rows.deallocate() }
        rows.append(element, texts, at: place)
        let row = TextRow()
        try rows.forEach(in: row) { place in try handle(imported.frame(.row(row), at: place, ActivityArchive.channel)) }
    }
}

/// Interprets the files of an archive of activities. Each file is read as if it were alone, and errors name the file.
package final class ActivityArchiveInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    /// The interpreter of the current file, or `nil` before its first row.
    private var current: (any FrameInterpreter)?
    private var name = ""
    private var place = Place(.record, 0)
    private var names = SkipNames()
    private var leftOut = LeftOut()

    /// - Parameter registry: the registry of the person who did the activities.
    package init(registry: OriginRegistry) { self.registry = registry }

    /// Reads a row of the current file, or begins the next one.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        if frame.channel == ActivityArchive.channel {
            guard case .row(let row) = frame.payload else {
                guard case .malformed(let reason) = frame.payload else { return .notData }
                throw Refusal("\(name): \(reason)", at: frame.place)
            }
            if row[ActivityRow.element].isText(ActivityArchive.file) {
                (name, place) = (ExportText.shown(row[1]), frame.place)
                current = nil
            } else {
                leftOut.skipped[names.kind(row.text(1)), default: 0] += Int(row.text(2)) ?? 1
            }
            return .notData
        }
        let interpreter =
            current
            ?? (frame.channel == GPXRow.channel ? GPXInterpreter(registry: registry) : ActivityInterpreter(registry: registry))
        current = interpreter
        do throws(Refusal) {
            let outcome = try interpreter.interpret(frame, into: &readings)
            if case .skipped(let kind) = outcome { return .skipped(names.kind(kind.name)) }
            return outcome
        } catch {
            throw inFile(error)
        }
    }

    /// Returns the parts of the files that were not stored.
    package func takeLeftOut() -> LeftOut? {
        if let rest = current?.takeLeftOut() {
            leftOut.refusals += rest.refusals.map(inFile)
            for (kind, count) in rest.skipped { leftOut.skipped[names.kind(kind.name), default: 0] += count }
        }
        return leftOut.take()
    }

    private func inFile(_ refusal: Refusal) -> Refusal {
        Refusal("\(name), \(refusal.place): \(refusal.reason)", at: place, readings: refusal.readings)
    }
}
