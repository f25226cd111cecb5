import FileSource
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// The user's options for reading a file.
package struct ReadingOptions: Sendable {
    /// The profile's id, or `nil` to detect it from the file's header.
    package var profile: String?
    /// Facts about the file that it does not contain itself.
    package var interpreter: InterpreterOptions
    /// Whether to keep a document that violates its schema.
    package var keepsInvalidDocuments: Bool
    /// The length of the periods in an export that does not contain it.
    package var grouping: PeriodGrouping?
    /// The person's zone, for the ends of days of which a file contains only the start.
    package var zone: TimeZoneRules?

    /// - Parameter profile: the profile's id, or `nil` to detect it from the file's header.
    package init(
        profile: String? = nil, interpreter: InterpreterOptions = InterpreterOptions(), keepsInvalidDocuments: Bool = false,
        grouping: PeriodGrouping? = nil, zone: TimeZoneRules? = nil
    ) {
        self.profile = profile
        self.interpreter = interpreter
        self.keepsInvalidDocuments = keepsInvalidDocuments
        (self.grouping, self.zone) = (grouping, zone)
    }

    /// Refuses an option that a file cannot use.
    func refuseGrouping(of profile: String) throws(ProfileErrors) {
        guard grouping != nil else { return }
        throw ProfileErrors([
            ProfileProblem("", "--grouping has no effect: \(profile) contains the period of each value, or has no periods")
        ])
    }
}

package struct FileReading {
    package let path: String
    package let profile: String
    package let person: String
    /// Measures how much of the file has been read.
    package let meter = ReadMeter()
    /// The size in bytes of the input, which for a compressed file is its content.
    package let size: Int64
    package let source: any FrameSource
    package let interpreter: any FrameInterpreter
    private let table: ProfileInterpreter?
    private let text: DelimitedFileSource?
    private let sourceNotes: [String]

    package init(
        path: String, profile: String, person: String, source: any FrameSource, interpreter: any FrameInterpreter
    ) {
        (self.path, self.profile, self.person) = (path, profile, person)
        (self.source, self.interpreter) = (source, interpreter)
        size = 0
        (table, text, sourceNotes) = (nil, nil, [])
    }

    /// Detects the format of a file.
    ///
    /// - Throws: ``SourceError`` if it cannot be read, ``ProfileMatchError`` if no profile or more than one reads it.
    package init(
        path: String, options: ReadingOptions, library: ProfileLibrary, registry: OriginRegistry, received: Instant
    ) throws {
        try self.init(
            path: path, file: InputFile(path: path), options: options, library: library, registry: registry, received: received)
    }

    /// Detects the format of an open file that is named by `path`.
    package init(
        path: String, file: InputFile, options: ReadingOptions, library: ProfileLibrary, registry: OriginRegistry,
        received: Instant
    ) throws {
        self.path = path
        person = registry.person
        let file = try file.unpacked().inUTF8()
        size = file.size
        if let format = try KnownFormat(
            of: file, path: path, options: options, folders: library.folders, registry: registry, received: received, meter: meter
        ) {
            try options.interpreter.refuseAll(of: format.id)
            if format.id != PhoneApp.healthAutoExport.id { try options.refuseGrouping(of: format.id) }
            (profile, source, interpreter) = (format.id, format.source, format.interpreter)
            (table, text, sourceNotes) = (nil, nil, [])
            return
        }
        try options.refuseGrouping(of: options.profile ?? "this format")
        if DatabaseFile.recognises(file) {
            let database = try DatabaseFile(file)
            let match = try library.match(profile: options.profile) { match in
                try DatabaseFileSource(database, wanted: match.wanted, received: received).present()
            }
            profile = match.profile.id
            source = DatabaseFileSource(database, wanted: match.wanted, received: received)
            interpreter = try DatabaseInterpreter(match, registry: registry, options: options.interpreter)
            (table, text, sourceNotes) = (nil, nil, database.notes)
            return
        }
        guard !DatabaseFile.recognisesLog(file) else {
            throw SourceError(
                .malformed, "it is the write-ahead log of a database: import the database, and keep the log beside it")
        }
        sourceNotes = []
        let match = try library.match(firstLines: try TextFileHead.read(file).text, profile: options.profile)
        let table = try ProfileInterpreter(match, registry: registry, options: options.interpreter)
        profile = match.profile.id
        interpreter = table
        self.table = table
        switch match.form {
        case .delimited(let delimiter):
            let source = DelimitedFileSource(file, delimiter: delimiter, received: received, meter: meter)
            if table.needsSurvey { try table.survey(source) }
            self.source = source
            text = source
        case .jsonArray(let paths, let rows, let ignored):
            let source = JSONArrayFileSource(
                file, paths: paths, rows: rows, ignored: ignored, received: received, meter: meter)
            if table.needsSurvey { try table.survey(source) }
            self.source = source
            text = nil
        case .database: throw SourceError(.malformed, "it is a text file, but the profile reads databases")
        }
    }

    /// Whether a device profile reads it, so that another profile could be chosen.
    package var isOfProfile: Bool { table != nil || interpreter is DatabaseInterpreter }

    /// Whether it is the database of another program.
    package var isOfDatabase: Bool { interpreter is DatabaseInterpreter }

    /// Parts of the file that are not read. Complete once the file has been read.
    package var unread: Unread {
        var unread = source.unread
        unread.add(interpreter.unread)
        return unread
    }

    /// The assumptions that were made. Complete once the file has been read.
    package var notes: [String] {
        var notes = sourceNotes
        notes += text?.notes ?? []
        notes += table?.notes ?? []
        notes += (interpreter as? LineInterpreter)?.notes ?? []
        notes += (interpreter as? HealthAutoExportInterpreter)?.notes ?? []
        notes += (interpreter as? DatabaseInterpreter)?.notes ?? []
        return notes
    }

    /// Returns a source for text in memory of the given form, as `profile test` needs it.
    package static func source(of bytes: [UInt8], form: ProfileMatch.Form) -> any FrameSource {
        switch form {
        case .delimited(let delimiter): DelimitedFileSource(bytes: bytes, delimiter: delimiter, received: Instant(seconds: 0))
        case .jsonArray(let paths, let rows, let ignored):
            JSONArrayFileSource(bytes: bytes, paths: paths, rows: rows, ignored: ignored, received: Instant(seconds: 0))
        case .database(let wanted): DatabaseFileSource(script: bytes, wanted: wanted, received: Instant(seconds: 0))
        }
    }
}
