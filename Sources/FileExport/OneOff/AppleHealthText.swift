import HealthModel
import Pipeline

/// The `export.xml` of Apple's Health app, for programs that read such exports. In a ZIP it includes the folders beside it.
///
/// Values have the measured digits and unit if HealthKit can write that unit, and otherwise HealthKit's own unit. Times are in
/// seconds, as in the original. Samples within the same second are distinguished by their UUIDs, which are written as HealthKit's
/// sync identifiers. Each person needs a separate file.
///
///     apple_health_export/export.xml
///     apple_health_export/workout-routes/route_….gpx
///     apple_health_export/electrocardiograms/ecg_….csv
///     apple_health_export/clinical-records/Immunization-….json
///
/// A single `export.xml` contains the locations of routes, as before iOS 12, and omits the samples that have their own file in an
/// archive.
final class AppleHealthText: SampleText {
    /// The prefix of all names in an archive.
    static let folder = "apple_health_export/"

    let context: ExportContext
    private let characteristics: [Characteristic]
    /// Looks up the members of correlations and workouts, and samples with their own file.
    let member: SampleFileWriter.Lookup
    /// Whether files beside `export.xml` can be written.
    let isArchive: Bool
    /// Samples that wait to be written with another sample, and those that were written so.
    var waiting: Set<SampleIdentity> = []
    var reported: Set<SampleIdentity> = []
    /// Samples with their own file, in the order of the files.
    var files: [SampleIdentity] = []
    /// The results of the samples that waited.
    var late: [(outcome: WriteOutcome, count: Int)] = []

    init(
        _ context: ExportContext, _ characteristics: [Characteristic], _ member: @escaping SampleFileWriter.Lookup,
        isArchive: Bool
    ) {
        (self.context, self.characteristics, self.member, self.isArchive) = (context, characteristics, member, isArchive)
    }

    func begin(_ bytes: inout [UInt8]) {
        bytes += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n <ExportDate value=\"".utf8
        bytes += Self.time(context.now(), .utc).utf8
        bytes += "\"/>\n".utf8
        guard !characteristics.isEmpty else { return }
        Self.element("Me", 1, &bytes) { bytes in
            for characteristic in characteristics {
                let type = characteristic.type
                let constant = type.values.flatMap { values in values.value(of: characteristic.value).flatMap(values.constant) }
                Self.set(type.healthKitIdentifier, constant ?? characteristic.value, &bytes)
            }
        }
    }

    func end(_ bytes: inout [UInt8]) {
        bytes += "</HealthData>\n".utf8
        finishOrphans()
    }

    static let unreadable = WriteOutcome.leftOut("its stored content cannot be read (see 'vitalgate store check --deep')")
    private static let unnamed = WriteOutcome.leftOut("HealthKit has no type for it")

    func append(
        _ stored: StoredSample, to bytes: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws -> WriteOutcome {
        let sample = stored.sample
        switch sample.origin.kind {
        case .quantity, .category:
            let beats = try beats(of: sample)
            return record(stored, beats, indent: 1, to: &bytes) ? .written : Self.unnamed
        case .correlation: return try correlation(stored, to: &bytes)
        case .workout: return try workout(stored, to: &bytes, spill: spill)
        case .activitySummary: return summary(sample, to: &bytes)
        case .workoutRoute, .heartbeatSeries:
            waiting.insert(stored.uuid)
            return .later
        case .audiogram: return audiogram(stored, to: &bytes)
        case .visionPrescription: return prescription(stored, to: &bytes)
        case .electrocardiogram: return electrocardiogram(sample)
        case .clinicalRecord: return clinicalRecord(sample, to: &bytes)
        case .stateOfMind, .medicationDoseEvent, .scoredAssessment:
            return .leftOut("Apple has not published a format for \(sample.origin.kind.name) in an export")
        case .document: return .leftOut("the format cannot contain documents")
        }
    }

    private func correlation(_ stored: StoredSample, to bytes: inout [UInt8]) throws -> WriteOutcome {
        let sample = stored.sample
        guard let type = sample.origin.type.healthKitIdentifier else { return Self.unnamed }
        guard let correlation = try? sample.body?.decoded(as: Correlation.self) else { return Self.unreadable }
        var records: [StoredSample] = []
        for object in correlation.objects {
            // A deleted sample is no longer a member.
            guard let identity = SampleIdentity(object), let record = try part(identity, of: sample) else { continue }
            records.append(record)
        }
        Self.element("Correlation", 1, &bytes) { bytes in
            Self.set("type", type, &bytes)
            self.header(of: sample, to: &bytes)
        } content: { bytes in
            self.metadata(of: stored, indent: 2, to: &bytes)
            for record in records { _ = self.record(record, nil, indent: 2, to: &bytes) }
        }
        return .written
    }

    /// The sample with a UUID that an object contains, or `nil` if the reference leads to none that belongs to the object.
    func part(_ identity: SampleIdentity, of holder: Sample) throws -> StoredSample? {
        guard let stored = try member(identity), ReferenceRule(in: holder).permits(stored.sample) else { return nil }
        return stored
    }

    private func record(_ stored: StoredSample, _ beats: Beats?, indent: Int, to bytes: inout [UInt8]) -> Bool {
        let sample = stored.sample
        guard let type = sample.origin.type.healthKitIdentifier, let (value, unit) = Self.value(of: sample) else { return false }
        Self.element("Record", indent, &bytes) { bytes in
            Self.set("type", type, &bytes)
            self.header(of: sample, unit: unit, to: &bytes)
            Self.set("value", value, &bytes)
        } content: { bytes in
            self.metadata(of: stored, indent: indent + 1, to: &bytes, without: beats == nil ? nil : "instantaneousBeats")
            if let beats { Self.append(beats, indent + 1, &bytes) }
        }
        return true
    }

    /// Writes the source and the times.
    func header(of sample: Sample, unit: String? = nil, to bytes: inout [UInt8]) {
        let zone = sample.zone ?? .utc
        Self.set("sourceName", sample.origin.source.name, &bytes)
        if let version = sample.origin.source.version { Self.set("sourceVersion", version, &bytes) }
        if let device = sample.origin.device { Self.set("device", Self.description(of: device), &bytes) }
        if let unit { Self.set("unit", unit, &bytes) }
        Self.set("creationDate", Self.time(sample.received, zone), &bytes)
        Self.set("startDate", Self.time(sample.start, zone), &bytes)
        Self.set("endDate", Self.time(sample.end, zone), &bytes)
    }

    func metadata(of stored: StoredSample, indent: Int, to bytes: inout [UInt8], without key: String? = nil) {
        Self.append(stored.sample.metadata, indent, &bytes, without: key)
        // A record keeps its original number.
        Self.append(key: "HKMetadataKeySyncIdentifier", stored.sample.record?.id ?? stored.uuid.description, indent, &bytes)
        Self.append(key: "HKMetadataKeySyncVersion", "\(stored.sample.record?.version ?? 1)", indent, &bytes)
    }

    /// Returns the constant of a category's case. For a type that this version does not know it is the number, which can be read
    /// back too.
    private static func value(of sample: Sample) -> (value: String, unit: String?)? {
        switch sample.origin.kind {
        case .quantity: quantity(of: sample).map { ($0.value, $0.unit) }
        case .category:
            Int(exactly: sample.value).map { number in
                (sample.origin.type.categoryValues?.constant(of: number) ?? "\(number)", nil)
            }
        default: nil
        }
    }

    /// Returns the measured value if HealthKit knows its unit for the type, or else the value in HealthKit's unit.
    private static func quantity(of sample: Sample) -> (value: String, unit: String)? {
        let type = sample.origin.type
        if var unit = sample.unit.healthKitString, (try? Unit(healthKit: unit)) != nil {
            // HealthKit needs the molar mass to identify the substance.
            if let molarMass = type.molarMass, !unit.contains("<") { unit = unit.replacing("mol", with: "mol<\(molarMass)>") }
            return (sample.numeral.text, unit)
        }
        guard let unit = type.healthKitUnit, let own = try? Unit(healthKit: unit),
            let conversion = try? type.canonicalUnit.conversion(to: own, molarMass: type.molarMass)
        else { return nil }
        return (conversion(sample.value).description, unit)
    }

    /// Returns a time such as `2026-11-20 06:31:00 +0100`.
    static func time(_ instant: Instant, _ zone: ZoneOffset) -> String {
        let text = instant.wallTime(at: zone).description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) \(zone.description.filter { $0 != ":" })"
    }

    private static func description(of device: Device) -> String {
        let parts = [
            ("name", device.name), ("manufacturer", device.manufacturer), ("model", device.model), ("hardware", device.hardware),
            ("firmware", device.firmware), ("software", device.software), ("localIdentifier", device.key),
            ("UDIDeviceIdentifier", device.udi),
        ]
        let written = parts.compactMap { name, value in value.map { ", \(name):\($0)" } }
        return "<<HKDevice: 0x0>\(written.joined())>"
    }

    /// Returns HealthKit's key and text for a metadata entry.
    private static func entry(_ key: String, _ value: MetadataValue) -> (key: String, text: String)? {
        let known = MetadataKey(named: key)
        let name = known?.rawKey ?? key
        switch value {
        case .string(let text):
            guard case .enumeration(let names) = known?.kind, let number = names.first(where: { $0.value == text })?.key else {
                return (name, text)
            }
            return (name, "\(number)")
        case .number(let numeral): return (name, numeral.text)
        case .boolean(let flag): return (name, flag ? "1" : "0")
        case .quantity(let numeral, let unit): return unit.healthKitString.map { (name, "\(numeral.text) \($0)") }
        }
    }

    static func append(key: String, _ value: String, _ indent: Int, _ bytes: inout [UInt8]) {
        element("MetadataEntry", indent, &bytes) { bytes in
            set("key", key, &bytes)
            set("value", value, &bytes)
        }
    }

    static func append(_ metadata: Metadata?, _ indent: Int, _ bytes: inout [UInt8], without left: String? = nil) {
        for (key, value) in metadata?.entries ?? [] where key != left {
            guard let (name, text) = entry(key, value) else { continue }
            append(key: name, text, indent, &bytes)
        }
    }

    /// Appends an element, closed at once if it is empty.
    static func element(
        _ name: String, _ indent: Int, _ bytes: inout [UInt8], attributes: (inout [UInt8]) -> Void,
        content: ((inout [UInt8]) -> Void)? = nil
    ) {
        open(name, indent, &bytes, attributes: attributes)
        guard let content else {
            bytes.removeLast(2)
            bytes += "/>\n".utf8
            return
        }
        content(&bytes)
        close(name, indent, &bytes)
    }

    /// Appends the start tag of an element with content.
    static func open(_ name: String, _ indent: Int, _ bytes: inout [UInt8], attributes: (inout [UInt8]) -> Void) {
        bytes += "\(String(repeating: " ", count: indent))<\(name)".utf8
        attributes(&bytes)
        bytes += ">\n".utf8
    }

    static func close(_ name: String, _ indent: Int, _ bytes: inout [UInt8]) {
        bytes += "\(String(repeating: " ", count: indent))</\(name)>\n".utf8
    }

    /// Appends an attribute. Characters that XML does not allow become spaces.
    static func set(_ name: String, _ value: String, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: " "))
        bytes += name.utf8
        bytes += "=\"".utf8
        escape(value, &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends an element that contains text.
    static func text(_ name: String, _ value: String, _ margin: String, _ bytes: inout [UInt8]) {
        bytes += "\(margin)<\(name)>".utf8
        escape(value, &bytes)
        bytes += "</\(name)>\n".utf8
    }

    private static func escape(_ value: String, _ bytes: inout [UInt8]) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": bytes += "&amp;".utf8
            case "<": bytes += "&lt;".utf8
            case ">": bytes += "&gt;".utf8
            case "\"": bytes += "&quot;".utf8
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || (0xFFFE...0xFFFF).contains(scalar.value):
                bytes.append(UInt8(ascii: " "))
            default: bytes += String(scalar).utf8
            }
        }
    }
}
