import ClinicalModel
import FileSource
import HealthModel
import Pipeline
import Profiles

/// A format that no JSON5 profile describes because it is not a table: Apple's export and its parts, routes, resources,
/// documents.
struct KnownFormat {
    /// The id, instead of a profile's.
    let id: String
    let source: any FrameSource
    let interpreter: any FrameInterpreter

    /// Detects the format of a file: the one that the user names, or else the one that the content matches. Returns `nil` if a
    /// profile has to read it.
    ///
    /// - Parameter folders: the profile folders. One of them contains the schema of documents.
    /// - Throws: ``SourceError`` if the file cannot be read.
    init?(
        of file: InputFile, path: String, options: ReadingOptions, folders: [String], registry: OriginRegistry, received: Instant,
        meter: ReadMeter
    ) throws {
        let name = options.profile
        func isSelected(_ id: String, _ recognises: (InputFile) -> Bool) -> Bool { name == nil ? recognises(file) : name == id }
        if isSelected(Self.activityArchive, ActivityArchive.recognises) {
            // Checked before exports of Apple Health because both are ZIP archives.
            id = Self.activityArchive
            source = ActivityArchiveSource(file, received: received, meter: meter)
            interpreter = ActivityArchiveInterpreter(registry: registry)
        } else if name == nil || name == Self.appleHealth, AppleHealthExport.recognises(file) {
            id = Self.appleHealth
            source = AppleHealthExportSource(
                file, path: path == InputFile.standardInput ? nil : path, received: received, meter: meter)
            interpreter = ChannelInterpreter(
                AppleHealthInterpreter(registry: registry), others: [ResourceRow.fhir: ClinicalInterpreter(registry: registry)])
        } else if let app = PhoneApp.all.first(where: { isSelected($0.id, $0.recognises) }) {
            // Checked before lines because they also are objects.
            id = app.id
            let post = app.open(
                file,
                PhoneApp.Circumstances(
                    registry: registry, received: received, grouping: options.grouping, zone: options.zone, meter: meter))
            (source, interpreter) = (post.source, post.interpreter)
        } else if isSelected(Self.lines, LineFile.recognises) {
            // Checked before resources because such a line may name one.
            id = Self.lines
            let (lines, reader) = (LineFileSource(file, received: received, meter: meter), LineInterpreter(registry: registry))
            try reader.survey(lines)
            (source, interpreter) = (lines, reader)
        } else if let release = name.flatMap({ Self.fhirReleases[$0] }) {
            id = name ?? Self.fhir
            source = ResourceFileSource(file, received: received, meter: meter)
            interpreter = ClinicalInterpreter(registry: registry, release: release)
        } else if isSelected(Self.fhir, ResourceFile.recognises) {
            id = Self.fhir
            source = ResourceFileSource(file, received: received, meter: meter)
            interpreter = ClinicalInterpreter(registry: registry)
        } else if let plain = Self.plain.first(where: { isSelected($0.id, $0.recognises) }) {
            id = plain.id
            (source, interpreter) = plain.open(ImportedFile(file, received: received, meter: meter), registry)
        } else if isSelected(Self.cda, DocumentFile.recognises) {
            id = Self.cda
            source = DocumentFile(file, received: received, meter: meter)
            interpreter = DocumentInterpreter(
                registry: registry, schema: DocumentSchema(folders: folders), keepsInvalid: options.keepsInvalidDocuments,
                isOwnExport: path.split(separator: "/").last == "export_cda.xml")
        } else {
            return nil
        }
    }

    /// A format that needs nothing but the file and the registry.
    private struct Plain: Sendable {
        let id: String
        let recognises: @Sendable (InputFile) -> Bool
        let open: @Sendable (ImportedFile, OriginRegistry) -> (any FrameSource, any FrameInterpreter)
    }

    private static let plain = [
        Plain(id: gpx, recognises: GPXFile.recognises) { (GPXFileSource($0), GPXInterpreter(registry: $1)) },
        Plain(id: tcx, recognises: TCXFile.recognises) { (TCXFileSource($0), ActivityInterpreter(registry: $1)) },
        Plain(id: fit, recognises: FITFile.recognises) { (FITFileSource($0), ActivityInterpreter(registry: $1)) },
        Plain(id: electrocardiogram, recognises: ElectrocardiogramFile.recognises) {
            (ElectrocardiogramFileSource($0), ElectrocardiogramInterpreter(registry: $1))
        },
    ]

    /// An export of the Health app, or the ZIP that contains it.
    static let appleHealth = "apple-health-export"
    /// A ZIP archive of activity files.
    static let activityArchive = "activity-archive"
    /// A single electrocardiogram from such an export.
    static let electrocardiogram = "apple-health-electrocardiogram"
    /// Our own lines, as written by `export`.
    static let lines = "vitalgate-lines"
    static let gpx = "gpx"
    /// Activities in the format of Garmin's Training Center.
    static let tcx = "tcx"
    /// Activities in the format of devices from Garmin and others.
    static let fit = "fit"
    static let cda = "cda"
    /// FHIR resources of any release.
    static let fhir = "fhir"
    /// FHIR resources of the release that the user names.
    private static let fhirReleases: [String: FHIRRelease] = ["fhir-r4": .r4, "fhir-dstu2": .dstu2]
}
