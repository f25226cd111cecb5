import ClinicalModel
import FileSource
import HealthModel
import Pipeline
import Profiles

/// A format that no JSON5 file describes, since it is no table: Apple's export and what lies in it, routes, resources,
/// documents.
struct KnownFormat {
    /// What stands for the profile's id.
    let id: String
    let source: any FrameSource
    let interpreter: any FrameInterpreter

    /// The format of a file: the one that a person names, else the one that its content shows; `nil` where a profile has to read it.
    ///
    /// - Parameter folders: those of the profiles; the schema of documents lies in one.
    /// - Throws: ``SourceError`` where it cannot be read.
    init?(
        of file: InputFile, path: String, options: ReadingOptions, folders: [String], registry: OriginRegistry, received: Instant,
        meter: ReadMeter
    ) throws {
        let name = options.profile
        func isMeant(_ id: String, _ recognises: (InputFile) -> Bool) -> Bool { name == nil ? recognises(file) : name == id }
        if name == nil || name == Self.appleHealth, AppleHealthExport.recognises(file) {
            id = Self.appleHealth
            source = AppleHealthExportSource(
                file, path: path == InputFile.standardInput ? nil : path, received: received, meter: meter)
            interpreter = ChannelInterpreter(
                AppleHealthInterpreter(registry: registry), others: [ResourceRow.fhir: ClinicalInterpreter(registry: registry)])
        } else if isMeant(Self.lines, LineFile.recognises) {
            // Before resources, which such a line may name.
            id = Self.lines
            let (lines, reader) = (LineFileSource(file, received: received, meter: meter), LineInterpreter(registry: registry))
            try reader.survey(lines)
            (source, interpreter) = (lines, reader)
        } else if let release = name.flatMap({ Self.fhirReleases[$0] }) {
            id = name ?? Self.fhir
            source = ResourceFileSource(file, received: received, meter: meter)
            interpreter = ClinicalInterpreter(registry: registry, release: release)
        } else if isMeant(Self.fhir, ResourceFile.recognises) {
            id = Self.fhir
            source = ResourceFileSource(file, received: received, meter: meter)
            interpreter = ClinicalInterpreter(registry: registry)
        } else if isMeant(Self.gpx, GPXFile.recognises) {
            id = Self.gpx
            source = GPXFileSource(file, received: received, meter: meter)
            interpreter = GPXInterpreter(registry: registry)
        } else if isMeant(Self.tcx, TCXFile.recognises) {
            id = Self.tcx
            source = TCXFileSource(file, received: received, meter: meter)
            interpreter = ActivityInterpreter(registry: registry)
        } else if isMeant(Self.fit, FITFile.recognises) {
            id = Self.fit
            source = FITFileSource(file, received: received, meter: meter)
            interpreter = ActivityInterpreter(registry: registry)
        } else if isMeant(Self.electrocardiogram, ElectrocardiogramFile.recognises) {
            id = Self.electrocardiogram
            source = ElectrocardiogramFileSource(file, received: received, meter: meter)
            interpreter = ElectrocardiogramInterpreter(registry: registry)
        } else if isMeant(Self.cda, DocumentFile.recognises) {
            id = Self.cda
            source = DocumentFile(file, received: received, meter: meter)
            interpreter = DocumentInterpreter(
                registry: registry, schema: DocumentSchema(folders: folders), keepsInvalid: options.keepsInvalidDocuments,
                isOwnExport: path.split(separator: "/").last == "export_cda.xml")
        } else {
            return nil
        }
    }

    /// An export of the Health app, or the ZIP it comes in.
    static let appleHealth = "apple-health-export"
    /// An electrocardiogram of such an export, by itself.
    static let electrocardiogram = "apple-health-electrocardiogram"
    /// Our own lines, as `export` writes them.
    static let lines = "vitalgate-lines"
    /// A route.
    static let gpx = "gpx"
    /// Activities as Garmin's Training Center writes them.
    static let tcx = "tcx"
    /// Activities as Garmin's and others' devices record them.
    static let fit = "fit"
    /// A clinical document.
    static let cda = "cda"
    /// FHIR resources, of whichever release.
    static let fhir = "fhir"
    /// FHIR resources of the release that a person names.
    private static let fhirReleases: [String: FHIRRelease] = ["fhir-r4": .r4, "fhir-dstu2": .dstu2]
}
