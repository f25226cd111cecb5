import FileSource
import HealthModel
import Pipeline
import Profiles

/// How a person wants a file read.
public struct ReadingOptions: Sendable {
    /// The profile's id, where it is not to be found by the file's header.
    public var profile: String?
    /// What a person says about the file that it does not say itself.
    public var interpreter: InterpreterOptions

    /// - Parameter profile: the profile's id; nil finds it by the file's header.
    public init(profile: String? = nil, interpreter: InterpreterOptions = InterpreterOptions()) {
        self.profile = profile
        self.interpreter = interpreter
    }
}

/// A file, the source that reads it and the interpreter that understands it.
public struct FileReading {
    /// The path that the file was named by.
    public let path: String
    /// The profile's id.
    public let profile: String
    /// How much of the file is read.
    public let meter = ReadMeter()
    /// Cuts the file into frames.
    public let source: any FrameSource
    /// Makes readings of the frames.
    public let interpreter: any FrameInterpreter
    private let table: ProfileInterpreter?
    private let text: DelimitedFileSource?

    /// Finds out what a file is.
    ///
    /// - Throws: ``SourceError`` where it cannot be read, ``ProfileMatchError`` where no profile, or more than one, reads it.
    public init(
        path: String, options: ReadingOptions, library: ProfileLibrary, registry: OriginRegistry, received: Instant
    ) throws {
        try self.init(
            path: path, file: InputFile(path: path), options: options, library: library, registry: registry, received: received)
    }

    /// The same of a file that is open; `path` names it.
    public init(
        path: String, file: InputFile, options: ReadingOptions, library: ProfileLibrary, registry: OriginRegistry,
        received: Instant
    ) throws {
        self.path = path
        if options.profile == nil || options.profile == Self.appleHealth, AppleHealthExport.recognises(file) {
            profile = Self.appleHealth
            try options.interpreter.refuseAll(of: Self.appleHealth)
            source = AppleHealthExportSource(file, path: path, received: received, meter: meter)
            interpreter = AppleHealthInterpreter(registry: registry)
            (table, text) = (nil, nil)
            return
        }
        if options.profile == Self.gpx || (options.profile == nil && GPXFile.recognises(file)) {
            profile = Self.gpx
            try options.interpreter.refuseAll(of: Self.gpx)
            source = GPXFileSource(file, received: received, meter: meter)
            interpreter = GPXInterpreter(registry: registry)
            (table, text) = (nil, nil)
            return
        }
        if options.profile == Self.electrocardiogram || (options.profile == nil && ElectrocardiogramFile.recognises(file)) {
            profile = Self.electrocardiogram
            try options.interpreter.refuseAll(of: Self.electrocardiogram)
            source = ElectrocardiogramFileSource(file, received: received, meter: meter)
            interpreter = ElectrocardiogramInterpreter(registry: registry)
            (table, text) = (nil, nil)
            return
        }
        if let activities = try Self.activities(file, options, received: received, meter: meter) {
            (profile, source) = activities
            interpreter = ActivityInterpreter(registry: registry)
            (table, text) = (nil, nil)
            return
        }
        if options.profile == nil, AppleHealthDocument.recognises(file, path: path) {
            throw SourceError(.malformed, AppleHealthDocument.reason)
        }
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
        case .jsonArray(let paths):
            let source = JSONArrayFileSource(file, paths: paths, received: received, meter: meter)
            if table.needsSurvey { try table.survey(source) }
            self.source = source
            text = nil
        }
    }

    /// Activities of a training watch or program, in the formats that no JSON5 file describes.
    private static func activities(
        _ file: InputFile, _ options: ReadingOptions, received: Instant, meter: ReadMeter
    ) throws -> (profile: String, source: any FrameSource)? {
        if options.profile == tcx || (options.profile == nil && TCXFile.recognises(file)) {
            try options.interpreter.refuseAll(of: tcx)
            return (tcx, TCXFileSource(file, received: received, meter: meter))
        }
        if options.profile == fit || (options.profile == nil && FITFile.recognises(file)) {
            try options.interpreter.refuseAll(of: fit)
            return (fit, FITFileSource(file, received: received, meter: meter))
        }
        return nil
    }

    /// The formats that no JSON5 file describes: an export of the Health app,
    public static let appleHealth = "apple-health-export"
    /// a route by itself,
    public static let gpx = "gpx"
    /// an electrocardiogram of an export by itself.
    public static let electrocardiogram = "apple-health-electrocardiogram"
    /// Activities as Garmin's Training Center writes them.
    public static let tcx = "tcx"
    /// Activities as Garmin's and others' devices record them.
    public static let fit = "fit"

    /// What was assumed; complete once the file is read.
    public var notes: [String] { (text?.notes ?? []) + (table?.notes ?? []) }

    /// Cuts a text from memory as a file of this form would be; what `profile test` needs.
    public static func source(of bytes: [UInt8], form: ProfileMatch.Form) -> any FrameSource {
        switch form {
        case .delimited(let delimiter): DelimitedFileSource(bytes: bytes, delimiter: delimiter, received: Instant(seconds: 0))
        case .jsonArray(let paths): JSONArrayFileSource(bytes: bytes, paths: paths, received: Instant(seconds: 0))
        }
    }
}
