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
    var told: Set<SampleIdentity> = []
    /// Samples with their own file, in the order of the files.
    var files: [SampleIdentity] = []
    /// The results of the samples that waited.
    var late: [(fate: SampleFate, count: Int)] = []

    init(
        _ context: ExportContext, _ characteristics: [Characteristic], _ member: @escaping SampleFileWriter.Lookup,
        isArchive: Bool
    ) {
        (self.context, self.characteristics, self.member, self.isArchive) = (context, characteristics, member, isArchive)
    }

    func begin(_ octets: inout [UInt8]) {
        octets += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n <ExportDate value=\"".utf8
        octets += Self.time(context.now(), .utc).utf8
        octets += "\"/>\n".utf8
        guard !characteristics.isEmpty else { return }
        Self.element("Me", 1, &octets) { octets in
            for characteristic in characteristics {
                let type = characteristic.type
                let constant = type.values.flatMap { values in values.value(of: characteristic.value).flatMap(values.constant) }
                Self.set(type.healthKitIdentifier, constant ?? characteristic.value, &octets)
            }
        }
    }

    func end(_ octets: inout [UInt8]) {
        octets += "</HealthData>\n".utf8
        settle()
    }

    static let unreadable = SampleFate.leftOut("its stored content cannot be read (see 'vitalgate store check --deep')")
    private static let unnamed = SampleFate.leftOut("HealthKit has no type for it")

    func append(
        _ stored: StoredSample, to octets: inout [UInt8], spill: (inout [UInt8]) throws(ExportFileError) -> Void
    ) throws -> SampleFate {
        let sample = stored.sample
        switch sample.origin.kind {
        case .quantity, .category:
            let beats = try beats(of: sample)
            return record(stored, beats, indent: 1, to: &octets) ? .written : Self.unnamed
        case .correlation: return try correlation(stored, to: &octets)
        case .workout: return try workout(stored, to: &octets, spill: spill)
        case .activitySummary: return summary(sample, to: &octets)
        case .workoutRoute, .heartbeatSeries:
            waiting.insert(stored.uuid)
            return .later
        case .audiogram: return audiogram(stored, to: &octets)
        case .visionPrescription: return prescription(stored, to: &octets)
        case .electrocardiogram: return electrocardiogram(sample)
        case .clinicalRecord: return clinicalRecord(sample, to: &octets)
        case .stateOfMind, .medicationDoseEvent, .scoredAssessment:
            return .leftOut("Apple has not published a format for \(sample.origin.kind.name) in an export")
        case .document: return .leftOut("the format cannot contain documents")
        }
    }

    private func correlation(_ stored: StoredSample, to octets: inout [UInt8]) throws -> SampleFate {
        let sample = stored.sample
        guard let type = sample.origin.type.healthKitIdentifier else { return Self.unnamed }
        guard let correlation = try? sample.body?.decoded(as: Correlation.self) else { return Self.unreadable }
        var records: [StoredSample] = []
        for object in correlation.objects {
            // A deleted sample is no longer a member.
            guard let identity = SampleIdentity(object), let record = try part(identity, of: sample) else { continue }
            records.append(record)
        }
        Self.element("Correlation", 1, &octets) { octets in
            Self.set("type", type, &octets)
            self.header(of: sample, to: &octets)
        } content: { octets in
            self.metadata(of: stored, indent: 2, to: &octets)
            for record in records { _ = self.record(record, nil, indent: 2, to: &octets) }
        }
        return .written
    }

    /// The sample with a UUID that an object contains, or `nil` if the reference leads to none that belongs to the object.
    func part(_ identity: SampleIdentity, of holder: Sample) throws -> StoredSample? {
        guard let stored = try member(identity), ReferenceRule(in: holder).permits(stored.sample) else { return nil }
        return stored
    }

    private func record(_ stored: StoredSample, _ beats: Beats?, indent: Int, to octets: inout [UInt8]) -> Bool {
        let sample = stored.sample
        guard let type = sample.origin.type.healthKitIdentifier, let (value, unit) = Self.value(of: sample) else { return false }
        Self.element("Record", indent, &octets) { octets in
            Self.set("type", type, &octets)
            self.header(of: sample, unit: unit, to: &octets)
            Self.set("value", value, &octets)
        } content: { octets in
            self.metadata(of: stored, indent: indent + 1, to: &octets, without: beats == nil ? nil : "instantaneousBeats")
            if let beats { Self.append(beats, indent + 1, &octets) }
        }
        return true
    }

    /// Writes the source and the times.
    func header(of sample: Sample, unit: String? = nil, to octets: inout [UInt8]) {
        let zone = sample.zone ?? .utc
        Self.set("sourceName", sample.origin.source.name, &octets)
        if let version = sample.origin.source.version { Self.set("sourceVersion", version, &octets) }
        if let device = sample.origin.device { Self.set("device", Self.description(of: device), &octets) }
        if let unit { Self.set("unit", unit, &octets) }
        Self.set("creationDate", Self.time(sample.received, zone), &octets)
        Self.set("startDate", Self.time(sample.start, zone), &octets)
        Self.set("endDate", Self.time(sample.end, zone), &octets)
    }

    func metadata(of stored: StoredSample, indent: Int, to octets: inout [UInt8], without key: String? = nil) {
        Self.append(stored.sample.metadata, indent, &octets, without: key)
        // A record keeps its original number.
        Self.append(key: "HKMetadataKeySyncIdentifier", stored.sample.record?.id ?? stored.uuid.description, indent, &octets)
        Self.append(key: "HKMetadataKeySyncVersion", "\(stored.sample.record?.version ?? 1)", indent, &octets)
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
        let said = parts.compactMap { name, value in value.map { ", \(name):\($0)" } }
        return "<<HKDevice: 0x0>\(said.joined())>"
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

    static func append(key: String, _ value: String, _ indent: Int, _ octets: inout [UInt8]) {
        element("MetadataEntry", indent, &octets) { octets in
            set("key", key, &octets)
            set("value", value, &octets)
        }
    }

    static func append(_ metadata: Metadata?, _ indent: Int, _ octets: inout [UInt8], without left: String? = nil) {
        for (key, value) in metadata?.entries ?? [] where key != left {
            guard let (name, text) = entry(key, value) else { continue }
            append(key: name, text, indent, &octets)
        }
    }

    /// Appends an element, closed at once if it is empty.
    static func element(
        _ name: String, _ indent: Int, _ octets: inout [UInt8], attributes: (inout [UInt8]) -> Void,
        content: ((inout [UInt8]) -> Void)? = nil
    ) {
        open(name, indent, &octets, attributes: attributes)
        guard let content else {
            octets.removeLast(2)
            octets += "/>\n".utf8
            return
        }
        content(&octets)
        close(name, indent, &octets)
    }

    /// Appends the start tag of an element with content.
    static func open(_ name: String, _ indent: Int, _ octets: inout [UInt8], attributes: (inout [UInt8]) -> Void) {
        octets += "\(String(repeating: " ", count: indent))<\(name)".utf8
        attributes(&octets)
        octets += ">\n".utf8
    }

    static func close(_ name: String, _ indent: Int, _ octets: inout [UInt8]) {
        octets += "\(String(repeating: " ", count: indent))</\(name)>\n".utf8
    }

    /// Appends an attribute. Characters that XML does not allow become spaces.
    static func set(_ name: String, _ value: String, _ octets: inout [UInt8]) {
        octets.append(UInt8(ascii: " "))
        octets += name.utf8
        octets += "=\"".utf8
        escape(value, &octets)
        octets.append(UInt8(ascii: "\""))
    }

    /// Appends an element that contains text.
    static func text(_ name: String, _ value: String, _ margin: String, _ octets: inout [UInt8]) {
        octets += "\(margin)<\(name)>".utf8
        escape(value, &octets)
        octets += "</\(name)>\n".utf8
    }

    private static func escape(_ value: String, _ octets: inout [UInt8]) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": octets += "&amp;".utf8
            case "<": octets += "&lt;".utf8
            case ">": octets += "&gt;".utf8
            case "\"": octets += "&quot;".utf8
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || (0xFFFE...0xFFFF).contains(scalar.value):
                octets.append(UInt8(ascii: " "))
            default: octets += String(scalar).utf8
            }
        }
    }
}
